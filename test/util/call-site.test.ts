import { expect, it, onTestFinished } from 'vitest';
import { type AudienceClient, AudienceError } from '../../src/index.ts';
import { startBench } from '../support/sandbox.ts';
import { failureOf } from '../support/server.ts';

async function walk(rows: AsyncIterable<unknown>): Promise<void> {
  for await (const row of rows) expect(row).toBeDefined();
}

/** The promise is handed on without being awaited here, as by `Promise.all` or `then`. */
const CALLS: Readonly<Record<string, (client: AudienceClient, failed: number) => PromiseLike<unknown>>> = {
  get: (client) => client.audiences.get(404),
  'a create': (client) => client.audiences.create({ name: 'A', project_id: 404 }),
  'a local validation': (client) => client.usage.get({ yearmonth: '1999-01' }),
  list: (client) => client.audiences.list({ per_page: 1_000 }),
  'a list that is walked': async (client) => {
    await walk(client.audiences.list({ per_page: 1_000 }));
  },
  delete: (client) => client.audiences.delete(404),
  request: (client) => client.request('GET', '/api/v2/nowhere'),
  'a failed check of the data': (client) =>
    client.withOptions({ operations: { 'webhooks.list': 'GET /api/v2/usage' } }).webhooks.list(),
  wait: (client) => client.audiences.wait(404),
  'wait with a timeout': (client) => client.audiences.wait(1, { timeout: 0 }),
  'wait for a job that fails': (client, failed) => client.audiences.wait(failed),
  'a wait by kind and id': (client) => client.waits.wait({ kind: 'cohort', id: 404 }),
  watch: async (client) => {
    await walk(client.audiences.watch(404));
  },
  'createAndWait that is refused': (client) => client.audiences.createAndWait({ name: 'A', project_id: 404 }),
  'createAndWait whose wait fails': (client) => client.audiences.createAndWait({ name: 'x' }, { wait: { timeout: 0 } }),
  'uploads.upload': (client) => client.uploads.upload({ kind: 'cohort', data: new Blob(['x']), size: 7 }),
  'uploads.send': (client) => client.uploads.send({ reference: '', url: '', expires_at: '' }, new Blob(['x'])),
  'cohorts.import': (client) => client.cohorts.import(new ReadableStream(), {}, { size: 2 ** 31 }),
  'activations.results': (client) => client.activations.results(404),
  'activations.download': async (client) => {
    await walk(client.activations.download(404));
  },
  'auth.login': (client) => client.auth.login({ email: 'nobody@example.com', password: 'wrong' }),
  'mcp.send': (client) => client.mcp.send({ jsonrpc: '2.0', id: 1, method: 'ping' }),
};

it.each(Object.keys(CALLS))('an error of %s shows the line that called', async (name) => {
  const { client, sandbox } = await startBench();
  const { id } = await client.audiences.create({ name: 'x' });
  sandbox.jobs.finish('audience', id, 422);
  const error = await failureOf(calledBy(() => CALLS[name]?.(client, id) ?? Promise.resolve()));
  const { name: kind, stack = '' }: { name?: string; stack?: string } = Object(error);
  expect(kind).toMatch(/Error$/);
  expect(stack.startsWith(`${error}\n`)).toBe(true);
  expect(stack).toContain('call-site.test.ts');
  expect(stack).toContain('calledBy');
});

function calledBy<T>(work: () => PromiseLike<T>): PromiseLike<T> {
  return work();
}

it('an error that two waits share shows each wait its own line', async () => {
  const { client } = await startBench();
  const one = (): Promise<unknown> => client.audiences.wait(404);
  const other = (): Promise<unknown> => client.audiences.wait(404);
  const [first, second] = await Promise.all([failureOf(one()), failureOf(other())]);
  expect(Object(first).stack).toContain('at one ');
  expect(Object(second).stack).toContain('at other ');
});

it('an abort reason of the caller stays the same object', async () => {
  const { client } = await startBench();
  const cause = await failureOf(client.audiences.get(404));
  for (const call of [
    (signal: AbortSignal) => client.audiences.get(1, { signal }),
    (signal: AbortSignal) => client.audiences.wait(1, { signal }),
    (signal: AbortSignal) => client.audiences.createAndWait({ name: 'x' }, { signal }),
    (signal: AbortSignal) => client.uploads.upload({ kind: 'cohort', data: new Blob(['x']) }, { signal }),
    (signal: AbortSignal) => client.activations.results(1, { signal }),
  ]) {
    expect(await failureOf(call(AbortSignal.abort(cause)))).toBe(cause);
  }
});

it('an error keeps its own stack where there is no other', async () => {
  const { client } = await startBench();
  const { stackTraceLimit, prepareStackTrace } = Error;
  onTestFinished(() => void Object.assign(Error, { stackTraceLimit, prepareStackTrace }));
  for (const settings of [{ stackTraceLimit: 0 }, { stackTraceLimit, prepareStackTrace: () => ['frames'] }]) {
    Object.assign(Error, settings);
    const error = await failureOf(client.audiences.get(404));
    expect(error).toMatchObject({ name: 'NotFoundError', message: expect.stringContaining('404') });
  }
  Object.assign(Error, { stackTraceLimit: 0, prepareStackTrace });
  expect(Object(await failureOf(client.audiences.get(404))).stack).toMatch(/^NotFoundError: /);
});

it('an error of a custom class keeps its class', async () => {
  class VaultError extends AudienceError {
    constructor({ path }: { readonly path: string }) {
      super(`No token in ${path}`, { code: 'token-unavailable' });
    }
  }
  const { connect } = await startBench();
  const client = connect({ token: () => Promise.reject(new VaultError({ path: '/x' })) });
  expect(await failureOf(client.audiences.get(1))).toBeInstanceOf(VaultError);
  const error = await failureOf(client.audiences.create({ name: 'x' }));
  expect(error).toMatchObject({ code: 'token-unavailable', outcome: 'not-sent' });
  expect(String(error)).toContain('No token in /x');
});
