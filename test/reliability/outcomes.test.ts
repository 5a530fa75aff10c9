import '../support/nothing-left.ts';
import { createServer } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { AudienceClient, AudienceError, RateLimitError } from '../../src/index.ts';
import { createSandbox } from '../../src/sandbox/index.ts';
import { eventually } from '../support/eventually.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { credentials, startBench } from '../support/sandbox.ts';
import { failureOf } from '../support/server.ts';

/** Returns the error of a create, which must have the outcome. */
async function errorWith(outcome: string, creating: PromiseLike<unknown>): Promise<AudienceError> {
  const error = await failureOf(creating);
  if (!AudienceError.isInstance(error)) throw error;
  expect(error.outcome).toBe(outcome);
  return error;
}

/** Returns a port on which nothing listens. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

const once = { maxRetries: 0 };

describe('a create with the outcome `not-sent`', () => {
  it('happens once when it is repeated', async () => {
    const { sandbox, account, connect } = await startBench();
    const port = await freePort();
    const client = connect({ baseUrl: `http://127.0.0.1:${port}`, token: account.token('api') });
    const create = () => client.projects.create({ name: 'One' }, once);
    await errorWith('not-sent', create());
    const { close } = await sandbox.listen({ port });
    onTestFinished(close);
    const { id } = await create();
    expect(await client.projects.list().toArray()).toMatchObject([{ id }]);
  });
});

describe('a create with the outcome `refused`', () => {
  it('a create that got a 422 created nothing, and succeeds under a new key after the named field is corrected', async () => {
    const { client } = await startBench();
    const error = await errorWith('refused', client.audiences.create({ name: 'One', project_id: 999 }));
    expect(error).toMatchObject({ errors: { project_id: [expect.any(String)] } });
    expect(await client.audiences.list().toArray()).toEqual([]);
    const created = client.audiences.create({ name: 'One' });
    expect(created.idempotencyKey).not.toBe(error.idempotencyKey);
    const { id } = await created;
    expect(await client.audiences.list().toArray()).toMatchObject([{ id }]);
  });

  it.each([
    ['the rate limit', { write: { limit: 1, interval: 60_000 } }],
    ['the build budget', { buildsPerHour: 1 }],
  ])(
    'a create after a 429 of %s happens once when it is repeated with the same key at `retryAt`',
    async (_, limits) => {
      vi.useFakeTimers();
      onTestFinished(() => void vi.useRealTimers());
      const sandbox = createSandbox({ limits });
      const token = sandbox.accounts.create(credentials).token('api');
      const options = {
        baseUrl: 'http://localhost',
        fetch: sandbox.fetch,
        rateLimits: false,
        logLevel: 'off',
      } as const;
      const client = new AudienceClient({ ...options, token });
      onTestFinished(() => client.close());
      await client.audiences.create({ name: 'Before' });
      const error = await errorWith('refused', client.audiences.create({ name: 'One' }, once));
      if (!RateLimitError.isInstance(error) || !error.idempotencyKey || !error.retryAt) throw error;
      expect(error.advice).toContain(`Repeat the request with the idempotency key "${error.idempotencyKey}".`);
      await vi.advanceTimersByTimeAsync(error.retryAt.getTime() - Date.now());
      const { id } = await client.audiences.create({ name: 'One' }, { idempotencyKey: error.idempotencyKey });
      expect(await client.audiences.list().toArray()).toMatchObject([{ id }, { name: 'Before' }]);
    },
  );
});

describe('a create with the outcome `unknown`', () => {
  it.each(['before', 'after'] as const)(
    'happens once when it is repeated with the key that the error names: cut %s the service acted',
    async (cut) => {
      const { sandbox, client } = await startBench();
      sandbox.faults.add({ on: 'audiences.create', cut, times: 1 });
      const body = { name: 'One' };
      const error = await errorWith('unknown', client.audiences.create(body, once));
      const [, idempotencyKey] = /the idempotency key "([^"]+)" and the same body/.exec(String(error)) ?? [];
      expect(idempotencyKey).toBe(error.idempotencyKey);
      const { id } = await client.audiences.create(body, { idempotencyKey });
      expect(await client.audiences.list().toArray()).toMatchObject([{ id }]);
    },
  );

  it('is `unknown` for the promise after an abort, and happens once when it is repeated with the key of the promise', async () => {
    const { sandbox, url, client, connect, account } = await startBench();
    const proxy = await startFaultProxy(url, () => ({ kind: 'stall-headers' }));
    const controller = new AbortController();
    const stalled = connect({ baseUrl: proxy.url, token: account.token('api') });
    const creating = stalled.audiences.create({ name: 'One' }, { signal: controller.signal });
    const aborted = failureOf(creating);
    await eventually(() => expect(sandbox.log).toHaveLength(1));
    controller.abort('enough');
    expect([await aborted, creating.outcome]).toEqual(['enough', 'unknown']);
    const { idempotencyKey } = creating;
    const { id } = await client.audiences.create({ name: 'One' }, { idempotencyKey });
    expect(await client.audiences.list().toArray()).toMatchObject([{ id }]);
  });
});

describe('a create with the outcome `done`', () => {
  it('a create whose response cannot be read shows it in `error.body`, and is not repeated', async () => {
    const { url, client, connect, account } = await startBench();
    const body = JSON.stringify({ status: 'success', code: 200, message: 'Created as number 1.', data: 'odd' });
    const proxy = await startFaultProxy(url, () => ({ kind: 'answer', acted: true, status: 200, body }));
    const through = connect({ baseUrl: proxy.url, token: account.token('api') });
    const error = await errorWith('done', through.audiences.create({ name: 'One' }));
    expect(error).toMatchObject({ body: expect.stringContaining('Created as number 1.') });
    expect(proxy.passed).toHaveLength(1);
    expect(await client.audiences.list().toArray()).toMatchObject([{ name: 'One' }]);
  });
});
