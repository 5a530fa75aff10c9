import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AudienceClient } from '../../../src/index.ts';
import { createSandbox } from '../../../src/sandbox/index.ts';
import { credentials } from '../../support/sandbox.ts';

/** Runs a test file with vitest, as a user of the built package does. */
async function runVitest(source: string): Promise<{ readonly code: number; readonly output: string }> {
  // Within the repository, so that the package and vitest are found by their names.
  const folder = await mkdtemp(join('test', 'recorded-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'session.test.ts'), source);
  await writeFile(join(folder, 'vitest.config.mjs'), 'export default {};\n');
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ['node_modules/vitest/vitest.mjs', 'run', '--root', folder],
      (_, stdout, stderr) => resolve({ code: child.exitCode ?? 1, output: stdout + stderr }),
    );
  });
}

/** Clients that send each request once, and immediately. */
const options = { rateLimits: false, maxRetries: 0, maxRetryWait: 0 } as const;

/** A session with everything that a recording can hold; returns its test. */
async function recordSession(): Promise<string> {
  const receiver = createServer((request, response) => {
    request.resume();
    response.writeHead(request.url === '/down' ? 500 : 204).end();
  });
  await new Promise<void>((resolve) => void receiver.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void receiver.close());
  const receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  const sandbox = createSandbox({
    seed: 3,
    clock: { speed: 20 },
    jobs: { duration: 30_000, devices: 5_000 },
    limits: { write: { limit: 12, interval: 60_000 } },
  });
  onTestFinished(() => sandbox.close());
  const account = sandbox.accounts.create(credentials);
  sandbox.webhooks.create({ url: `${receiverUrl}/down`, name: "It's down" });
  const { url, consoleUrl = '' } = await sandbox.listen({ console: true });
  const console = new URL(consoleUrl);
  const act = async (path: string, body: object) => {
    const headers = {
      authorization: `Bearer ${console.searchParams.get('token')}`,
      'content-type': 'application/json',
    };
    const response = await fetch(`${console.origin}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    expect(response.status).toBe(200);
    return response.json();
  };
  const client = new AudienceClient({ baseUrl: url, token: account.token('api'), ...options });
  onTestFinished(() => client.close());
  const { token } = await client.auth.login(credentials);
  const other = new AudienceClient({ baseUrl: url, token, ...options });
  onTestFinished(() => other.close());

  const { id: audience_id } = await client.audiences.create(
    { name: "Bo's \u2028 <visitors>" },
    { idempotencyKey: 'a' },
  );
  await client.audiences.create({ name: 'other' }, { idempotencyKey: 'a' }).catch(() => {});
  await other.activations.create({ audience_id }).catch(() => {});
  await act('/api/jobs/finish', { kind: 'audience', id: audience_id, status: 104 });
  const activation = await other.activations.create({ audience_id, description: 'Now' });
  await act('/api/clock/mode', { speed: 40 });
  await act('/api/clock/advance', { ms: 40_000 });
  const { datastreams } = await client.activations.get(activation.id);
  await fetch(datastreams[0]?.results.uri ?? '', { headers: { range: 'bytes=5-' } });
  const data = new Blob(['email\na@example.com\n']);
  const { reference } = await client.uploads.upload({ kind: 'cohort', data });
  await client.cohorts.create({ name: 'Customers', upload_reference: reference });
  await act('/api/faults', { on: 'usage.get', cut: 'before', times: 1 });
  await act('/api/faults', { on: 'usage.get', rate: 0.5, status: 503 });
  for (let count = 0; count < 12; count++) await client.usage.get().catch(() => {});
  await act('/api/webhooks', { url: `${receiverUrl}/up`, account: credentials.email });
  const failed = sandbox.webhooks.deliveries[0]?.eventId;
  await act('/api/webhooks/redeliver', { event: failed });
  const { token: mcp } = await act('/api/tokens', { kind: 'mcp' });
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'audiences_list', arguments: {} } };
  const headers = {
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
    authorization: `Bearer ${mcp}`,
  };
  await fetch(`${url}/api/v2/mcp`, { method: 'POST', headers, body: JSON.stringify(message) });
  for (let count = 0; count < 12; count++) await client.projects.create({ name: `P${count}` }).catch(() => {});
  await act('/api/password', { password: 'another' });
  await client.audiences.list().catch(() => {});
  await client.auth.login(credentials).catch(() => {});
  const authorization = { authorization: `Bearer ${console.searchParams.get('token')}` };
  const statuses = new Set(sandbox.log.map(({ status }) => status));
  expect([...statuses].sort((a, b) => a - b)).toEqual([0, 200, 206, 401, 409, 422, 429, 503]);
  return (await fetch(`${console.origin}/recording.test.ts`, { headers: authorization })).text();
}

describe('a session exported as a test', () => {
  it('runs green under vitest, and red if the sandbox responds with another status', async () => {
    const source = await recordSession();
    const green = await runVitest(source);
    expect(green).toMatchObject({ code: 0, output: expect.stringContaining('1 passed') });
    const red = await runVitest(source.replace('toBe(409)', 'toBe(200)'));
    expect(red).toMatchObject({ code: 1, output: expect.stringContaining('expected 409 to be 200') });
  });
});
