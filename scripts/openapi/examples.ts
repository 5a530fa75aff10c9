import { AudienceClient } from '../../src/index.ts';
import { createSandbox } from '../../src/sandbox/index.ts';
import { isOperationName, type OperationName } from '../../src/spec/operations.ts';
import type { JsonObject } from '../../src/util/json.ts';

/** A request and its response, as the sandbox has exchanged them. */
export interface Exchange {
  readonly body?: unknown;
  readonly response: unknown;
}

const DAY = 86_400_000;
const START = Date.UTC(2026, 10, 22, 9);

/** Makes one call of each operation to a sandbox; the seed and the clock make the responses the same in every run. */
export async function exchangeExamples(): Promise<ReadonlyMap<OperationName, Exchange>> {
  const sandbox = createSandbox({ seed: 1, clock: 'manual', start: START, deliver: async () => new Response() });
  const account = sandbox.accounts.create({ email: 'ada@example.com', password: 'secret' });
  sandbox.webhooks.create({
    account,
    name: 'Production',
    url: 'https://example.com/webhooks',
    events: ['audience.completed'],
  });
  const examples = new Map<OperationName, Exchange>();
  let operation = '';
  const client = new AudienceClient({
    baseUrl: 'https://api.example.com',
    token: account.token('api'),
    mcpToken: account.token('mcp'),
    onRequest: (event) => {
      operation = event.operation;
    },
    fetch: async (url, init) => {
      const request = new Request(url, init);
      const text = await request.clone().text();
      const response = await sandbox.fetch(request);
      if (isOperationName(operation) && !examples.has(operation)) {
        const body: unknown = text === '' ? undefined : withoutSecrets(JSON.parse(text));
        examples.set(operation, {
          ...(body !== undefined && { body }),
          response: withoutSecrets(await readJson(response.clone())),
        });
      }
      return response;
    },
  });
  await makeCalls(client, (ms) => sandbox.advance(ms));
  await client.close();
  return examples;
}

/** Reads JSON, also if it is the data of an event. */
async function readJson(response: Response): Promise<unknown> {
  const text = await response.text();
  return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text);
}

async function makeCalls(client: AudienceClient, advance: (ms: number) => Promise<unknown>): Promise<void> {
  const credentials = { email: 'ada@example.com', password: 'secret' };
  const day = (ago: number): string => new Date(START - ago * DAY).toISOString().slice(0, 10);
  const dataset = [{ analysis_type: 'WebDomain', start_date: day(30), end_date: day(1) }];
  const built = (): Promise<unknown> => advance(3_600_000);
  await client.auth.createApiToken(credentials);
  await client.auth.createMcpToken(credentials);
  await client.auth.login(credentials);
  const project = await client.projects.create({ name: 'Autumn' });
  const { id } = await client.audiences.create({ name: 'Visitors', project_id: project.id, dataset });
  await built();
  const lookalike = await client.lookalikes.create({
    name: 'Similar visitors',
    source_audience_id: id,
    config: { target_size: 50_000 },
  });
  await client.lookalikes.cancel(lookalike.id);
  await built();
  await client.audiences.get(id);
  await client.lookalikes.get(lookalike.id);
  await client.audiences.list({ per_page: 2 });
  const estimate = await client.estimates.create({ name: 'How many?', dataset });
  await built();
  await client.estimates.get(estimate.id);
  const activation = await client.activations.create({
    audience_id: id,
    description: 'Delivery',
    credentials: { account: '<account of the partner>' },
  });
  await built();
  await client.activations.get(activation.id);
  await client.activations.list({ per_page: 2 });
  const { reference } = await client.uploads.upload({ kind: 'cohort', data: new Blob(['eid\n1\n2\n3\n']) });
  const cohort = await client.cohorts.create({ name: 'Customers', upload_reference: reference });
  await built();
  await client.cohorts.get(cohort.id);
  await client.cohorts.list({ per_page: 2 });
  const schedule = await client.schedules.create({ name: 'Every week', audience_id: id, interval_hours: 168 });
  await client.schedules.get(schedule.id);
  await client.schedules.list({ per_page: 2 });
  await client.projects.get(project.id);
  await client.projects.list({ per_page: 2 });
  await client.reference.list('web', 'domains', { per_page: 2 });
  await client.usage.get({ yearmonth: '2026-11' });
  await client.webhooks.list();
  await client.mcp.send({ jsonrpc: '2.0', id: 1, method: 'ping' });
  await client.activations.delete(activation.id);
  await client.cohorts.delete(cohort.id);
  await client.schedules.delete(schedule.id);
  await client.audiences.delete(lookalike.id);
  await client.projects.delete(project.id);
  await client.auth.revokeMcpTokens(credentials);
  await client.auth.revokeApiTokens(credentials);
}

/** Fields that contain secrets: of an example, too, nobody should think that they can be published. */
const SECRETS: Readonly<Record<string, string>> = {
  token: '<token>',
  password: '<password>',
  url: 'https://storage.example.com/uploads/presigned',
  uri: 'https://storage.example.com/results/presigned',
  upload_reference: '<reference>',
  reference: '<reference>',
};

function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value as JsonObject).map(([name, field]) => {
    const isSecret = name in SECRETS && typeof field === 'string' && !/^$|\/webhooks$/.test(field);
    return [name, isSecret ? SECRETS[name] : withoutSecrets(field)];
  });
  return Object.fromEntries(fields);
}
