import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { AudienceClient } from '../../src/index.ts';
import type { Step } from './report.ts';
import { OPENAPI_TOOLS } from './versions.ts';

/** A mock server of a document. */
interface Mock {
  readonly cwd: string;
  /** Path of the executable of Prism. */
  readonly prism: string;
  /** Path of the document. */
  readonly document: string;
}

/** Steps that use the client of the package with a mock of the document, which validates the requests. */
export const mockSteps = (open: () => Promise<Mock>): Step[] => [
  {
    name: `Prism ${OPENAPI_TOOLS['@stoplight/prism-cli']}: the client of the package works with a mock of the OpenAPI document`,
    async work() {
      const { cwd, prism, document } = await open();
      const port = await freePort();
      const server = spawn(prism, ['mock', '-p', String(port), '--errors', document], { cwd });
      try {
        await new Promise<void>((resolve, reject) => {
          let output = '';
          server.stdout.on('data', (chunk) => {
            output += chunk;
            if (output.includes('Prism is listening')) resolve();
          });
          server.once('exit', () => reject(new Error(`Prism ended: ${output}`)));
          server.once('error', reject);
        });
        await useEveryOperation(`http://127.0.0.1:${port}`);
      } finally {
        server.kill();
      }
    },
  },
];

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  return address.port;
}

/** Makes a call of every operation; throws for the first response that is not as documented. */
async function useEveryOperation(baseUrl: string): Promise<void> {
  const options = { baseUrl, token: 'token', mcpToken: 'token', rateLimits: false, maxRetries: 0 } as const;
  await using client = new AudienceClient({ ...options, validation: 'strict' });
  const credentials = { email: 'ada@example.com', password: 'correct horse' };
  const today = new Date().toISOString().slice(0, 10);
  const dataset = [{ analysis_type: 'WebDomain', start_date: today, end_date: today }];
  await client.auth.login(credentials);
  await client.auth.createApiToken(credentials);
  await client.auth.revokeApiTokens(credentials);
  await client.auth.createMcpToken(credentials);
  await client.auth.revokeMcpTokens(credentials);
  await client.audiences.create({ name: 'Visitors', dataset });
  await client.lookalikes.create({ source_audience_id: 1, config: { target_size: 5_000 } });
  await client.lookalikes.get(1);
  await client.lookalikes.cancel(1);
  await client.estimates.create({ dataset });
  await client.estimates.get(1);
  await client.activations.create({ audience_id: 1, identifier: 'EID', credentials: { account: 'x' } });
  await client.cohorts.create({ name: 'Customers' });
  await client.projects.create({ name: 'Autumn' });
  await client.schedules.create({ name: 'Every week' });
  for (const resource of [client.audiences, client.activations, client.cohorts, client.projects, client.schedules]) {
    await resource.get(1);
    await resource.list({ per_page: 2 });
    await resource.delete(1);
  }
  await client.uploads.reserve({ kind: 'cohort', size: 10 });
  await client.webhooks.list();
  await client.usage.get({ yearmonth: today.slice(0, 7) });
  await client.usage.buildBudget();
  await client.reference.list('web', 'domains', { per_page: 2 });
  await client.mcp.send({ jsonrpc: '2.0', id: 1, method: 'ping' });
  await client.audiences.wait(1, { timeout: 30_000 });
}
