import { getEventListeners } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type Fault, startFaultProxy } from '../support/fault-proxy.ts';
import { expectNoTimer } from '../support/nothing-left.ts';
import { startBench } from '../support/sandbox.ts';
import { failureOf } from '../support/server.ts';
import { settlesNow } from '../support/settles-now.ts';
import { runs } from '../support/volume.ts';

const CALLS = runs(100, 1_000, 10_000);
const limits = { read: { limit: 1e9, interval: 60_000 }, write: { limit: 1e9, interval: 60_000 } };

async function startProxied(fault: Fault | undefined, more: { readonly fetch?: typeof fetch } = {}) {
  const bench = await startBench({ limits });
  const proxy = await startFaultProxy(bench.url, () => fault);
  const options = { baseUrl: proxy.url, rateLimits: false, timeout: 60_000, maxRetries: 1, ...more } as const;
  return { ...bench, proxy, client: bench.connect({ ...options, token: bench.account.token('api') }) };
}

describe('nothing is left', () => {
  it(`${CALLS} calls under one signal leave nothing, and have no more than one listener while they run`, async () => {
    const { client } = await startProxied(undefined);
    const { signal } = new AbortController();
    let most = 0;
    for (let at = 0; at < CALLS; at += 100) {
      const calls = Array.from({ length: 100 }, () => client.webhooks.list({ signal }));
      most = Math.max(most, getEventListeners(signal, 'abort').length);
      await Promise.all(calls);
    }
    expect(most).toBe(1);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it.each([
    ['a response', undefined],
    ['a cut', { kind: 'cut-after' }],
    ['a failing server', { kind: 'answer', status: 503 }],
  ] satisfies [string, Fault | undefined][])('a call that ends by %s leaves nothing', async (_, fault) => {
    const { client } = await startProxied(fault);
    const { signal } = new AbortController();
    await client.audiences.create({ name: 'x' }, { signal }).catch(() => {});
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    await expectNoTimer();
  });

  it.each([
    ['a stalled call', { kind: 'stall-headers' }],
    ['a stalled body', { kind: 'stall-body' }],
    ['a back-off of a minute', { kind: 'answer', status: 503, headers: { 'retry-after': '60' } }],
  ] satisfies [string, Fault][])('%s that is aborted rejects immediately and leaves nothing', async (_, fault) => {
    const { client, proxy } = await startProxied(fault);
    const controller = new AbortController();
    const calling = failureOf(client.webhooks.list({ signal: controller.signal }));
    await eventually(() => expect(proxy.passed).toHaveLength(1));
    controller.abort('enough');
    expect(await settlesNow(calling)).toBe(true);
    expect(await calling).toBe('enough');
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    await expectNoTimer();
    // A response that never ends closes its connection; a complete one leaves it for the next call.
    if (fault.kind !== 'answer') await eventually(() => expect(proxy.open()).toBe(0));
  });

  it.each([
    ['never responds', () => new Promise<Response>(() => {})],
    ['never ends its response', () => Promise.resolve(new Response(new ReadableStream()))],
  ])('an aborted call whose `fetch` ignores the signal and %s leaves nothing', async (_, fetch) => {
    const called = vi.fn(fetch);
    const { client } = await startProxied(undefined, { fetch: called });
    const controller = new AbortController();
    const calling = failureOf(client.webhooks.list({ signal: controller.signal }));
    await eventually(() => expect(called).toHaveBeenCalledOnce());
    controller.abort('enough');
    expect(await calling).toBe('enough');
    await expectNoTimer();
  });

  it('a token source and a limiter that listen to their signals leave nothing on the client', async () => {
    const { client: plain, connect, account } = await startProxied(undefined);
    const signals: (AbortSignal | undefined)[] = [];
    const listen = (signal: AbortSignal | undefined): void => {
      signals.push(signal);
      signal?.addEventListener('abort', () => {});
    };
    const client = connect({
      token: {
        get: async ({ signal }) => {
          listen(signal);
          return account.token('api');
        },
      },
      limiter: {
        acquire: async (_, { signal }) => listen(signal),
        pause: () => {},
      },
    });
    await Promise.all([client.webhooks.list(), client.webhooks.list(), plain.webhooks.list()]);
    expect(signals).not.toContain(undefined);
    expect(new Set(signals).size).toBe(4);
  });

  it('a closed client ends calls, back-offs, queues and waits with one reason, and leaves nothing', async () => {
    const { client, connect, account, url } = await startProxied({ kind: 'stall-headers' });
    const queued = connect({
      baseUrl: url,
      token: account.token('api'),
      rateLimits: { read: { limit: 1, interval: 60_000 } },
    });
    await queued.webhooks.list();
    const pending = [client.webhooks.list(), client.audiences.wait(1), queued.webhooks.list()].map((call) =>
      failureOf(call),
    );
    await new Promise((resolve) => setTimeout(resolve, 50));
    await Promise.all([client.close(), queued.close()]);
    for (const error of await Promise.all(pending)) expect(error).toMatchObject({ code: 'client-closed' });
    await expectNoTimer();
    expect(await failureOf(client.webhooks.list())).toMatchObject({ code: 'client-closed' });
  });
});
