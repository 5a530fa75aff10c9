import { afterEach, describe, expect, it, vi } from 'vitest';
import { clientOf, failureOf, startServer } from '../../support/server.ts';

describe('a custom `fetch`', () => {
  it('receives an address and plain options, which any `fetch` accepts', async () => {
    const server = await startServer([{ data: [] }]);
    const seen: unknown[] = [];
    const client = clientOf(server, {
      fetch: (input, init) => {
        seen.push(input, init);
        return globalThis.fetch(input, init);
      },
    });
    await client.webhooks.list();
    expect(seen).toEqual([
      `${server.url}/api/v2/webhooks/index`,
      expect.objectContaining({
        method: 'GET',
        redirect: 'manual',
        headers: expect.objectContaining({
          accept: 'application/json',
          authorization: expect.stringMatching(/^Bearer /),
        }),
        signal: expect.any(AbortSignal),
      }),
    ]);
    await client.close();
  });
});

describe('a `fetch` that fails', () => {
  it('a `fetch` that fails with a cause that leads in a circle may have sent something', async () => {
    const round = new Error('round');
    round.cause = new AggregateError([round], 'and round', { cause: round });
    const client = clientOf({ url: 'http://127.0.0.1:1' }, { fetch: () => Promise.reject(round), maxRetries: 0 });
    const error = await failureOf(client.audiences.create({ name: 'A' }));
    expect(error).toMatchObject({ name: 'ConnectionError', outcome: 'unknown' });
    await client.close();
  });
});

describe('a `fetch` of the platform that was replaced, and ignores its signal', () => {
  afterEach(() => vi.unstubAllGlobals());

  it.each([
    ['never responds', () => new Promise<Response>(() => {})],
    ['never ends its response', () => Promise.resolve(new Response(new ReadableStream()))],
  ])(
    'a replaced `fetch` that ignores its signal and %s holds up no timeout, deadline, abort or close',
    async (_, fetch) => {
      vi.stubGlobal('fetch', fetch);
      const client = clientOf({ url: 'http://127.0.0.1:1' }, { maxRetries: 0 });
      expect(await failureOf(client.audiences.get(1, { timeout: 30 }))).toMatchObject({ code: 'attempt-timeout' });
      expect(await failureOf(client.audiences.get(1, { deadline: 30 }))).toMatchObject({ code: 'deadline-exceeded' });
      const signal = AbortSignal.timeout(30);
      expect(await failureOf(client.audiences.get(1, { signal }))).toBe(signal.reason);
      const pending = failureOf(client.audiences.get(1));
      await client.close();
      expect(await pending).toMatchObject({ code: 'client-closed' });
    },
  );
});
