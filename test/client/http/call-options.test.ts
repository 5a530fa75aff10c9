import { inspect } from 'node:util';
import { Agent, interceptors, fetch as undiciFetch } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AudienceClient, RateLimitError, ServerError, type ValidationError } from '../../../src/index.ts';
import { createSandbox } from '../../../src/sandbox/index.ts';
import { quickly } from '../../support/quickly.ts';
import { startBench } from '../../support/sandbox.ts';
import { clientOf, failureOf, quick, startServer } from '../../support/server.ts';
import { wireActivation } from '../../support/storage.ts';
import { wireAudience } from '../../support/wire-audience.ts';

describe('`token` of a call', () => {
  it('is sent in place of the client’s, for this call only', async () => {
    const server = await startServer([{ data: [wireAudience()] }]);
    const client = clientOf(server);
    await client.audiences.get(42, { token: 'other-token' });
    await client.audiences.get(42);
    const sent = (await server.seen()).map(({ headers }) => headers.authorization);
    expect(sent).toEqual(['Bearer other-token', 'Bearer test-token']);
  });

  it('needs no token of the client', async () => {
    const server = await startServer([{ data: [wireAudience()] }]);
    const token = async (): Promise<string> => {
      throw new Error('The client has no token.');
    };
    await expect(clientOf(server, { token }).audiences.get(42, { token: 'other-token' })).resolves.toBeDefined();
  });

  it('is not renewed after a 401, and is in no error', async () => {
    const server = await startServer([{ status: 401, text: '{"message":"bad other-token"}' }]);
    const tokens = ['first', 'second'];
    const client = clientOf(server, { token: { get: async () => tokens.shift() ?? 'third' } });
    const error = await failureOf(client.audiences.get(42, { token: 'other-token' }));
    expect(error).toMatchObject({ code: 'authentication-failed', attempts: 1 });
    expect(inspect(error, { depth: 9 }) + JSON.stringify(error)).not.toContain('other-token');
    expect(tokens).toHaveLength(2);
  });

  it('is counted in other rate buckets', async () => {
    const bench = await startBench({}, { rateLimits: { read: { limit: 1, interval: 60_000 } } });
    const other = bench.sandbox.accounts.create({ email: 'bob@example.com', password: 'correct horse' });
    await bench.client.audiences.list();
    const token = other.token('api');
    await expect(bench.client.audiences.list({}, { token, deadline: 5_000 })).resolves.toBeDefined();
    await expect(bench.client.audiences.list({}, { token, deadline: 50 })).rejects.toThrow('`deadline`');
  });

  it('creates, waits, imports and downloads in the name of its account', () =>
    quickly(async () => {
      const bench = await startBench({ clock: { speed: 600 } });
      const other = bench.sandbox.accounts.create({ email: 'bob@example.com', password: 'correct horse' });
      const token = other.token('api');
      const audience = await bench.client.audiences.createAndWait({ name: 'hers' }, { token });
      await expect(bench.client.audiences.get(audience.id)).rejects.toMatchObject({ code: 'not-found' });
      const cohort = await bench.client.cohorts.import(new Blob(['eid\n1\n2\n']), { name: 'hers' }, { token });
      expect(cohort.total_eids).toBe(2);
      expect((await bench.client.cohorts.list({}, { token })).items).toHaveLength(1);
      expect((await bench.client.cohorts.list()).items).toHaveLength(0);
      const body = { audience_id: audience.id, credentials: 'x' };
      const activation = await bench.client.activations.createAndWait(body, { token });
      const names: string[] = [];
      for await (const { name } of bench.client.activations.download(activation.id, { token })) names.push(name);
      expect(names).toHaveLength(1);
      await expect(bench.client.activations.wait(activation, { request: { token } })).resolves.toBeDefined();
    }));

  it('neither holds back the creates of the client, nor is held back by them, when a build budget is used up', async () => {
    const refused = { status: 429, headers: { 'retry-after': '600' } };
    const server = await startServer({
      'POST /api/v2/audiences/create': [refused, { data: [wireAudience()] }, refused, { data: [wireAudience()] }],
      '*': [{ status: 503 }],
    });
    const client = clientOf(server);
    const own = { token: 'other-token' };
    expect(await failureOf(client.audiences.create({ name: 'A' }, own))).toMatchObject({
      code: 'build-budget-exhausted',
    });
    await client.audiences.create({ name: 'A' });
    expect(await failureOf(client.audiences.create({ name: 'A' }))).toMatchObject({ code: 'build-budget-exhausted' });
    await client.audiences.create({ name: 'A' }, own);
    expect((await server.seen()).filter(({ method }) => method === 'POST')).toHaveLength(4);
  });

  it('does not read the usage report of the client’s organization', async () => {
    const server = await startServer({
      'POST /api/v2/audiences/create': [{ status: 429, headers: { 'retry-after': '30' } }],
      '*': [{ data: {} }],
    });
    const error = await failureOf(
      clientOf(server).audiences.create({ name: 'A' }, { token: 'other-token', maxRetryWait: 10 }),
    );
    expect(RateLimitError.isInstance(error) && error.code).toBe('rate-limited');
    expect(await server.seen()).toHaveLength(1);
  });

  it.each([
    [{ token: 'two words' }, 'token'],
    [{ token: '' }, 'token'],
  ])('is refused if a header cannot carry it: %j', async (options, field) => {
    const server = await startServer([{ data: [] }]);
    const error = await failureOf(clientOf(server).webhooks.list(options));
    expect((error as ValidationError).errors).toHaveProperty(field);
    expect(await server.seen()).toEqual([]);
  });

  it('is refused by the credential exchange, which sends none', async () => {
    const bench = await startBench();
    const login = bench.client.auth.login({ email: 'ada@example.com', password: 'x' }, { token: 'other-token' });
    expect(await failureOf(login)).toMatchObject({ code: 'validation-failed', local: true });
  });
});

describe('`query` of a call', () => {
  it('is added to what the method sends itself, which takes precedence', async () => {
    const server = await startServer([{ data: [] }]);
    const client = clientOf(server);
    await client.audiences.list({ per_page: 3 }, { query: { include: ['a', 'b'], per_page: 9, left: undefined } });
    await client.audiences.delete(42, { query: { force: true } });
    expect((await server.seen()).map(({ url }) => url)).toEqual([
      '/api/v2/audiences/index?include=a&include=b&per_page=3&page=1',
      '/api/v2/audiences/42/delete?force=true',
    ]);
  });

  it('is passed to the override of an operation', async () => {
    const server = await startServer([{ data: [wireAudience()] }]);
    const operations = { 'audiences.get': { query: (query: object) => ({ ...query, more: 1 }) } };
    await clientOf(server, { operations }).audiences.get(42, { query: { include: 'a' } });
    expect((await server.seen())[0]?.url).toBe('/api/v2/audiences/42?include=a&more=1');
  });
});

describe('`fetchOptions` of a call', () => {
  it('are added to the `fetchOptions` of the client', async () => {
    const seen: unknown[] = [];
    const fetch = async (_: unknown, init?: RequestInit): Promise<Response> => {
      seen.push([init?.cache, init?.mode, init?.method]);
      return Response.json({ status: 'success', code: 200, message: '', data: [] });
    };
    const client = new AudienceClient({
      baseUrl: 'https://api.example',
      token: 't',
      ...quick,
      fetch,
      fetchOptions: { cache: 'reload' },
    });
    await client.webhooks.list({ fetchOptions: { mode: 'cors' } });
    await client.webhooks.list({ fetchOptions: { cache: 'no-store' } });
    expect(seen).toEqual([
      ['reload', 'cors', 'GET'],
      ['no-store', undefined, 'GET'],
    ]);
    const own = JSON.parse('{"fetchOptions":{"body":"x"}}');
    expect(await failureOf(client.webhooks.list(own))).toMatchObject({
      local: true,
      errors: { fetchOptions: ['must not set `body`.'] },
    });
    expect(seen).toHaveLength(2);
  });
});

describe('shouldRetry', () => {
  it('ends a call before a retry that it refuses, with the error of the attempt', async () => {
    const server = await startServer([{ status: 503 }]);
    const asked: unknown[] = [];
    const client = clientOf(server, {
      shouldRetry: ({ reason, attempt, operation, error }) => {
        asked.push([reason, attempt, operation, error.name]);
        return attempt < 2;
      },
    });
    const error = await failureOf(client.audiences.create({ name: 'A' }));
    expect(asked).toEqual([
      ['transient', 1, 'audiences.create', 'ServerError'],
      ['transient', 2, 'audiences.create', 'ServerError'],
    ]);
    expect(error).toBeInstanceOf(ServerError);
    expect(error).toMatchObject({ attempts: 2, outcome: 'unknown' });
    expect(String(error)).toContain('The `shouldRetry` hook prevented a retry.');
  });

  it('is asked before onRetry, of each set of hooks; one that throws is logged and allows the retry', async () => {
    const server = await startServer([{ status: 503 }, { data: [] }]);
    const events: string[] = [];
    const logger = { error: (line: string) => events.push(line), warn() {}, info() {}, debug() {} };
    const client = clientOf(server, {
      logger,
      logLevel: 'error',
      telemetry: { shouldRetry: () => events.push('telemetry') > 0 },
      shouldRetry() {
        throw new Error('broken hook');
      },
      onRetry: () => events.push('onRetry'),
    });
    await client.webhooks.list();
    expect(events).toEqual(['telemetry', '`shouldRetry` threw: broken hook', 'onRetry']);
  });

  it('also decides about renewed tokens and the attempts of transfers', async () => {
    const server = await startServer({ 'GET /file': [{ status: 503 }], '*': [{ status: 401 }] });
    const reasons: string[] = [];
    const shouldRetry = ({ reason }: { reason: string }) => reasons.push(reason) === 0;
    const client = clientOf(server, { token: { get: async () => 'renewed' }, shouldRetry });
    await expect(client.webhooks.list()).rejects.toMatchObject({ attempts: 1 });
    const activation = { ...wireActivation(`${server.url}/file`), id: 42, status: { id: 104, name: 'Completed' } };
    for await (const { open } of client.activations.download(activation)) await expect(open()).rejects.toThrow('503');
    expect(reasons).toEqual(['token', 'transient']);
  });
});

const CACHED = { fetchOptions: { cache: 'default' } } as const;

/** Starts a service whose responses a cache keeps, and reads an audience through the cache. */
async function startWithCache() {
  const sandbox = createSandbox({ clock: 'manual', faults: [{ on: 'audiences.get', maxAge: 3_600 }] });
  const account = sandbox.accounts.create({ email: 'me@example.com', password: 'a password' });
  const service = await sandbox.listen();
  onTestFinished(() => service.close());
  const dispatcher = new Agent().compose(interceptors.cache({ type: 'private' }));
  const fetch = (input: unknown, init: unknown) =>
    Reflect.apply(undiciFetch, undefined, [input, Object.assign({}, init, { dispatcher })]);
  const client = new AudienceClient({ baseUrl: service.url, token: account.token('api'), fetch });
  onTestFinished(() => client.close());
  const { id } = await client.audiences.create({ name: 'Visitors' });
  await client.audiences.get(id, CACHED);
  return { sandbox, client, id };
}

it('reads the state of a job from the service, although a cache on the way may keep responses for an hour', async () => {
  const { sandbox, client, id } = await startWithCache();
  sandbox.jobs.finish('audience', id, 104);
  expect(await client.audiences.wait(id)).toMatchObject({ status: { id: 104 } });
});

it('reads from a cache if the call asks for it', async () => {
  const { sandbox, client, id } = await startWithCache();
  sandbox.jobs.finish('audience', id, 104);
  const cached = await client.audiences.get(id, CACHED);
  expect(cached.status.id).not.toBe(104);
});
