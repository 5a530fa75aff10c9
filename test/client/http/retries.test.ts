import { describe, expect, it } from 'vitest';
import { quickly } from '../../support/quickly.ts';
import { clientOf, failureOf, startServer } from '../../support/server.ts';
import { wireAudience } from '../../support/wire-audience.ts';

const credentials = { email: 'me@example.com', password: 'pass-word' };

describe('a call that is safe to retry', () => {
  it('is retried after a 503, and not after a 501', async () => {
    const server = await startServer([{ status: 503 }, { data: [wireAudience()] }, { status: 501 }]);
    const { attempts } = await clientOf(server).audiences.get(42).withResponse();
    expect(attempts).toBe(2);
    await failureOf(clientOf(server).audiences.get(42));
    expect(await server.seen()).toHaveLength(3);
  });

  it('gives up after `maxRetries`, which may be 0', async () => {
    const server = await startServer([{ status: 503 }]);
    const client = clientOf(server, { maxRetries: 2 });
    expect(await failureOf(client.webhooks.list())).toMatchObject({ status: 503, attempts: 3 });
    expect(await failureOf(client.webhooks.list({ maxRetries: 0 }))).toMatchObject({ attempts: 1 });
    expect(await server.seen()).toHaveLength(4);
  });
});

describe('a create', () => {
  it('is retried after each 409 when an earlier attempt may have arrived, beyond `maxRetries`', async () => {
    const conflicts = Array.from({ length: 6 }, () => ({ status: 409 }));
    const server = await startServer([{ fault: 'cut' }, ...conflicts, { data: [wireAudience()] }]);
    const { attempts } = await clientOf(server, { maxRetries: 1 }).audiences.create({ name: 'A' }).withResponse();
    expect(attempts).toBe(8);
  });

  it.each([undefined, 'order-1'])(
    'a lost create under the key %o waits for the replay, although a 409 names another body',
    async (idempotencyKey) => {
      const named = { status: 409, message: 'The key was used with a different body.' };
      const server = await startServer([{ fault: 'cut' }, named, named, { data: [wireAudience()] }]);
      const { attempts } = await clientOf(server).audiences.create({ name: 'A' }, { idempotencyKey }).withResponse();
      expect(attempts).toBe(4);
    },
  );

  it('a create under a generated key waits for the replay when the first response is 409', async () => {
    const server = await startServer([{ status: 409 }, { data: [wireAudience()] }]);
    const { attempts } = await clientOf(server).audiences.create({ name: 'A' }).withResponse();
    expect(attempts).toBe(2);
  });

  it('a create under a generated key that does not wait after a 409 has an unknown outcome', async () => {
    const server = await startServer([{ status: 409, message: 'The key was used with a different body.' }]);
    const error = await failureOf(clientOf(server).audiences.create({ name: 'A' }, { onConflict: 'throw' }));
    expect(error).toMatchObject({ name: 'ConflictError', outcome: 'unknown', attempts: 1 });
    expect(String(error)).toContain(`repeat the request with the idempotency key "${Object(error).idempotencyKey}"`);
  });

  it('a create refuses an `onConflict` that is neither "wait" nor "throw"', async () => {
    const server = await startServer([]);
    const options = { onConflict: 'maybe' } as unknown as { onConflict: 'wait' };
    const error = await failureOf(clientOf(server).audiences.create({ name: 'A' }, options));
    expect(error).toMatchObject({ code: 'configuration-invalid', message: expect.stringContaining('`onConflict`') });
    expect(await server.seen()).toEqual([]);
  });

  it("a create under the caller's key is retried after a 409 until the response is replayed", async () => {
    const server = await startServer([{ status: 409 }, { status: 409 }, { data: [wireAudience()] }]);
    const { attempts } = await clientOf(server).audiences.create({ name: 'A' }, { idempotencyKey: 'k' }).withResponse();
    expect(attempts).toBe(3);
  });

  it.each([{ onConflict: 'throw' }, { maxRetries: 0 }] as const)(
    "a create under the caller's key ends at the first 409 with an unknown outcome with %o",
    async (options) => {
      const server = await startServer([{ status: 409 }]);
      const error = await failureOf(
        clientOf(server).audiences.create({ name: 'A' }, { idempotencyKey: 'k', ...options }),
      );
      expect(error).toMatchObject({ name: 'ConflictError', idempotencyKey: 'k', outcome: 'unknown', attempts: 1 });
    },
  );
});

describe('a call that is not safe to retry', () => {
  it('is sent once when the response is 503', async () => {
    const server = await startServer([{ status: 503 }]);
    await failureOf(clientOf(server).audiences.delete(42));
    expect(await server.seen()).toHaveLength(1);
  });

  it('is sent once when the response is lost', async () => {
    const server = await startServer([{ fault: 'cut' }]);
    const error = await failureOf(clientOf(server).auth.createApiToken(credentials));
    expect(error).toMatchObject({ name: 'ConnectionError', attempts: 1 });
  });

  it('is retried after a 429, by which the service refused it', async () => {
    const server = await startServer([{ status: 429, headers: { 'retry-after': '0' } }, { data: [] }]);
    await clientOf(server).audiences.delete(42);
    expect(await server.seen()).toHaveLength(2);
  });
});

describe('Retry-After', () => {
  it('is obeyed in seconds', () =>
    quickly(async () => {
      const server = await startServer([{ status: 503, headers: { 'retry-after': '1' } }, { data: [] }]);
      await clientOf(server).webhooks.list();
      const [first, second] = await server.seen();
      expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(990);
    }));

  it('the client retries immediately after a `Retry-After` of 0', async () => {
    const server = await startServer([{ status: 503, headers: { 'retry-after': '0' } }, { data: [] }]);
    const waits: number[] = [];
    const onRetry = ({ wait }: { wait: number }): void => void waits.push(wait);
    await clientOf(server, { backoff: { min: 20_000, max: 30_000 }, onRetry }).webhooks.list();
    expect(waits).toEqual([0]);
  });

  it('a `Retry-After` that does not fit the deadline fails the call immediately, too', async () => {
    const server = await startServer([{ status: 503, headers: { 'retry-after': '60' } }]);
    // The deadline is later than the end of a test that waits for it.
    const error = await failureOf(clientOf(server).webhooks.list({ deadline: 50_000 }));
    expect(error).toMatchObject({ name: 'ServerError', retryAfter: 60, attempts: 1 });
  });

  it('longer than `maxRetryWait` fails immediately with the time', async () => {
    const server = await startServer([{ status: 429, headers: { 'retry-after': '3600' } }]);
    const error = await failureOf(clientOf(server).audiences.get(1));
    expect(error).toMatchObject({ name: 'RateLimitError', retryAfter: 3600, bucket: 'read', attempts: 1 });
    expect(error).toSatisfy(
      (it: { retryAt: Date }) => Math.abs(it.retryAt.getTime() - Date.now() - 3_600_000) < 60_000,
    );
  });
});

describe('a 429', () => {
  it('does not pause other buckets', async () => {
    const server = await startServer({
      'GET /api/v2/webhooks/index': [{ status: 429, headers: { 'retry-after': '60' } }],
      '*': [{ data: [wireAudience()] }],
    });
    const paused = Promise.withResolvers<unknown>();
    const client = clientOf(server, { onRetry: paused.resolve });
    const held = failureOf(client.webhooks.list());
    await paused.promise;
    const read = failureOf(client.audiences.get(1));
    await client.audiences.delete(2);
    expect((await server.seen()).map(({ url }) => url)).toEqual([
      '/api/v2/webhooks/index',
      expect.stringMatching('/audiences/2/delete$'),
    ]);
    await client.close();
    for (const error of [await held, await read]) expect(error).toMatchObject({ code: 'client-closed' });
  });

  it('pauses the bucket with `rateLimits: false`, too, and a call that may not wait so long fails immediately', async () => {
    const server = await startServer([{ status: 429, headers: { 'retry-after': '30' } }, { data: [wireAudience()] }]);
    const client = clientOf(server, { rateLimits: false, maxRetryWait: 1_000 });
    await failureOf(client.audiences.get(1));
    const error = await failureOf(client.audiences.get(2));
    expect(error).toMatchObject({ name: 'RateLimitError', attempts: 0, bucket: 'read', status: 429 });
    expect(await server.seen()).toHaveLength(1);
  });

  it('a 429 of a create with a short wait is distinguished from the budget by one usage read for all', () =>
    quickly(async () => {
      const budget = { hour: { limit: 60, used: 60 }, day: { limit: 300, used: 60 }, retry_after_seconds: 2400 };
      const server = await startServer({
        'POST /api/v2/audiences/create': [{ status: 429, delay: 30 }],
        'GET /api/v2/usage': [{ data: { build_budget: budget }, delay: 1_000 }],
      });
      const client = clientOf(server);
      const errors = await Promise.all([1, 2, 3].map(() => failureOf(client.audiences.create({ name: 'A' }))));
      for (const error of errors) expect(error).toMatchObject({ name: 'BuildBudgetError', retryAfter: 2400, budget });
      expect((await server.seen()).filter(({ url }) => url.startsWith('/api/v2/usage'))).toHaveLength(1);
    }));
});
