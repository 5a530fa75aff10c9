import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, it, vi } from 'vitest';
import type { ClientOptions, EndEvent, RequestEvent } from '../../../src/index.ts';
import { quickly } from '../../support/quickly.ts';
import type { Script } from '../../support/script.ts';
import { clientOf, failureOf, startServer } from '../../support/server.ts';
import { wireAudience } from '../../support/wire-audience.ts';

describe('hooks', () => {
  it('receive each request, response and retry', async () => {
    const server = await startServer([{ status: 503 }, { data: [wireAudience()], headers: { 'x-request-id': 'r2' } }]);
    const events: unknown[] = [];
    const client = clientOf(server, {
      onRequest: (event) => events.push(['request', event]),
      onResponse: ({ duration, ...event }) => events.push(['response', event, duration >= 0]),
      onRetry: ({ error, wait, ...event }) => events.push(['retry', event, error.name, wait >= 0]),
    });
    await client.audiences.create({ name: 'A' }, { idempotencyKey: 'k' });
    const of = (attempt: number) => ({
      callId: expect.stringMatching(/^call_\d+$/),
      operation: 'audiences.create',
      method: 'POST',
      baseUrl: server.url,
      path: '/api/v2/audiences/create',
      pathTemplate: '/api/v2/audiences/create',
      bucket: 'write',
      rateLimit: { limit: 30, interval: 60_000 },
      isPoll: false,
      attempt,
      idempotencyKey: 'k',
    });
    expect(events).toEqual([
      ['request', of(1)],
      ['response', { ...of(1), status: 503 }, true],
      ['retry', { ...of(1), reason: 'transient' }, 'ServerError', true],
      ['request', of(2)],
      ['response', { ...of(2), status: 200, requestId: 'r2' }, true],
    ]);
  });

  it('hooks that throw are logged and harm no call', async () => {
    const server = await startServer([{ data: [] }]);
    const lines: string[] = [];
    const logger = { error: (line: string) => lines.push(line), warn() {}, info() {}, debug() {} };
    const broken = () => {
      throw new Error('broken hook');
    };
    const client = clientOf(server, { logger, logLevel: 'error', onRequest: broken, onResponse: broken });
    expect(await client.webhooks.list()).toEqual([]);
    expect(lines).toEqual(['`onRequest` threw: broken hook', '`onResponse` threw: broken hook']);
  });
});

describe('onEnd', () => {
  /** Collects the ends of the calls of a client. */
  async function collect(script: Script, options: ClientOptions = {}) {
    const server = await startServer(script);
    const ends: EndEvent[] = [];
    return { ends, client: clientOf(server, { onEnd: (event) => ends.push(event), ...options }) };
  }

  it('reports a success once, with the status, the attempts and the times', async () => {
    const script = [
      { status: 503, delay: 50 },
      { data: [], headers: { 'x-request-id': 'r2' }, delay: 50 },
    ];
    const { ends, client } = await collect(script, { backoff: { min: 20, max: 20 } });
    await client.webhooks.list();
    expect(ends).toMatchObject([
      {
        operation: 'webhooks.list',
        path: '/api/v2/webhooks/index',
        attempt: 2,
        outcome: 'success',
        status: 200,
        requestId: 'r2',
      },
    ]);
    const [{ duration = 0, queued = -1, backoff = 0 } = {}] = ends;
    expect(backoff).toBeGreaterThanOrEqual(19);
    expect(queued).toBeGreaterThanOrEqual(0);
    // What remains is the time of the two requests.
    expect(duration - queued - backoff).toBeGreaterThanOrEqual(95);
  });

  it.each([
    ['an error response', [{ status: 404 }], { outcome: 'failure', status: 404, attempt: 1 }, 'NotFoundError'],
    ['a lost connection', [{ fault: 'cut' }], { outcome: 'failure', attempt: 1 }, 'ConnectionError'],
  ] as const)('reports %s once, with the error of the call', async (_, script, expected, name) => {
    const { ends, client } = await collect(script, { maxRetries: 0 });
    const error = await failureOf(client.webhooks.list());
    expect(ends).toMatchObject([expected]);
    expect(ends[0]?.error).toBe(error);
    expect(error).toMatchObject({ name });
  });

  it('reports a call that is not sent, and one that the caller aborts', async () => {
    const { ends, client } = await collect([{ fault: 'stall' }]);
    await failureOf(client.lookalikes.create({ source_audience_id: 1, config: { target_size: 0 } }));
    const controller = new AbortController();
    const aborted = failureOf(client.webhooks.list({ signal: controller.signal }));
    setTimeout(() => controller.abort(), 20);
    await aborted;
    expect(ends).toMatchObject([
      { operation: 'lookalikes.create', outcome: 'failure', attempt: 0, idempotencyKey: expect.any(String) },
      { operation: 'webhooks.list', outcome: 'aborted', attempt: 1, error: controller.signal.reason },
    ]);
  });

  it('counts only the time that has been waited when a call is aborted', () =>
    quickly(async () => {
      const controller = new AbortController();
      const { ends, client } = await collect([{ status: 503, headers: { 'retry-after': '60' } }], {
        rateLimits: { write: { limit: 1, interval: 60_000 } },
        around: (_, next) => next(),
        onRetry: () => void setTimeout(() => controller.abort(), 100),
      });
      await failureOf(client.webhooks.list({ signal: controller.signal }));
      await failureOf(client.request('POST', '/api/v2/first', { deadline: 50 }));
      const second = new AbortController();
      setTimeout(() => second.abort(), 100);
      await failureOf(client.request('POST', '/api/v2/second', { signal: second.signal }));
      const [retried, , queued] = ends;
      expect(retried).toMatchObject({ backoff: 100, duration: 100 });
      expect(queued).toMatchObject({ queued: 100, duration: 100 });
    }));

  it('every event of a call has its id; calls at the same time have different ones', async () => {
    const ids: Record<string, string[]> = {};
    const note = ({ callId, operation }: RequestEvent): void => {
      ids[callId] = [...(ids[callId] ?? []), operation];
    };
    const { client } = await collect([{ status: 503 }, { data: [] }, { data: [] }], {
      onRequest: note,
      onResponse: note,
      onRetry: note,
      onEnd: note,
    });
    await Promise.all([client.webhooks.list(), client.webhooks.list()]);
    expect(
      Object.values(ids)
        .map(({ length }) => length)
        .sort(),
    ).toEqual([3, 6]);
  });
});

describe('around', () => {
  it('a call runs in the context of `next`, through queueing, retries and Promise.all', async () => {
    const server = await startServer([{ status: 503 }, { data: [] }, { data: [] }, { data: [] }]);
    const context = new AsyncLocalStorage<string>();
    const seen = new Map<string, Set<string | undefined>>();
    const note = ({ callId }: RequestEvent): void => {
      seen.set(callId, (seen.get(callId) ?? new Set()).add(context.getStore()));
    };
    const client = clientOf(server, {
      around: ({ callId }, next) => context.run(callId, next),
      fetch: async (...request) => {
        await new Promise(setImmediate);
        return fetch(...request);
      },
      onRequest: note,
      onResponse: note,
      onRetry: note,
      rateLimits: { read: { limit: 1, interval: 10 } },
    });
    await Promise.all([client.webhooks.list(), client.webhooks.list(), client.webhooks.list()]);
    expect([...seen].map(([id, stores]) => [id, [...stores]])).toEqual([...seen.keys()].map((id) => [id, [id]]));
    expect(seen.size).toBe(3);
  });

  it('adds headers to the requests of a call', async () => {
    const server = await startServer([{ data: [] }]);
    await clientOf(server, { around: (_, next) => next({ headers: { traceparent: '00-1-2-01' } }) }).webhooks.list();
    expect((await server.seen())[0]?.headers).toMatchObject({ traceparent: '00-1-2-01' });
    const refused = clientOf(server, { around: (_, next) => next({ headers: { Authorization: 'x' } }) });
    expect(await failureOf(refused.webhooks.list())).toMatchObject({ code: 'configuration-invalid' });
  });

  it('wraps the function that sends each request', async () => {
    const server = await startServer([{ status: 503 }, { data: [] }]);
    const sent: string[] = [];
    const client = clientOf(server, {
      around: (_, next) =>
        next({
          wrapFetch: (inner) => (url, init) => {
            sent.push(String(url));
            return inner(url, { ...init, headers: { ...init?.headers, 'x-sent': String(sent.length) } });
          },
        }),
    });
    await client.webhooks.list();
    expect(sent).toEqual(Array(2).fill(`${server.url}/api/v2/webhooks/index`));
    expect((await server.seen()).map(({ headers }) => headers['x-sent'])).toEqual(['1', '2']);
  });

  it('sends without the function that wraps, if that throws or returns none', async () => {
    const server = await startServer([{ data: [] }, { data: [] }]);
    const lines: string[] = [];
    const logger = { error: (line: string) => lines.push(line), warn() {}, info() {}, debug() {} };
    const broken = () => {
      throw new Error('broken');
    };
    for (const wrapFetch of [broken, () => 3 as never]) {
      const client = clientOf(server, { around: (_, next) => next({ wrapFetch }), logger, logLevel: 'error' });
      expect(await client.webhooks.list()).toEqual([]);
    }
    expect(lines).toEqual(['`wrapFetch` threw: broken']);
  });

  it('runs until its end in the context of `next`, with `onEnd`', async () => {
    const server = await startServer([{ data: [] }, { status: 404 }]);
    const context = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    const client = clientOf(server, {
      around: ({ callId }, next) => context.run(callId, next),
      onEnd: ({ callId, outcome }) => seen.push([outcome, context.getStore() === callId]),
    });
    await client.webhooks.list();
    await failureOf(client.webhooks.list());
    expect(seen).toEqual([
      ['success', true],
      ['failure', true],
    ]);
  });

  it('an `around` hook that waits indefinitely outlasts neither the deadline of a call nor the client', async () => {
    const server = await startServer([]);
    const ends: EndEvent[] = [];
    const client = clientOf(server, { around: () => new Promise(() => {}), onEnd: (event) => ends.push(event) });
    expect(
      await failureOf(client.audiences.create({ name: 'A' }, { deadline: 20, idempotencyKey: 'k' })),
    ).toMatchObject({
      code: 'deadline-exceeded',
      outcome: 'not-sent',
      idempotencyKey: 'k',
    });
    const failing = failureOf(client.webhooks.list());
    await client.close();
    expect(await failing).toMatchObject({ code: 'client-closed' });
    expect(ends.map(({ outcome }) => outcome)).toEqual(['failure', 'failure']);
  });

  it.each<[string, NonNullable<ClientOptions['around']>, number]>([
    [
      'throws before',
      () => {
        throw new Error('broken');
      },
      1,
    ],
    [
      'rejects after',
      async (_, next) => {
        await next();
        throw new Error('broken');
      },
      1,
    ],
    ['does not call `next`', () => undefined, 0],
    [
      'calls `next` twice',
      async (_, next) => {
        await next();
        await next();
      },
      0,
    ],
    [
      'never ends after `next`',
      async (_, next) => {
        await next();
        await new Promise(() => {});
      },
      0,
    ],
    [
      'calls `next` late',
      async (_, next) => {
        await new Promise(setImmediate);
        await next();
      },
      0,
    ],
  ])('a hook that %s harms no call', async (_, around, logged) => {
    const server = await startServer([{ data: [] }]);
    const lines: string[] = [];
    const logger = { error: (line: string) => lines.push(line), warn() {}, info() {}, debug() {} };
    expect(await clientOf(server, { around, logger, logLevel: 'error' }).webhooks.list()).toEqual([]);
    await expect.poll(() => lines).toHaveLength(logged);
    expect(await server.seen()).toHaveLength(1);
  });

  it.each<[string, NonNullable<ClientOptions['around']>]>([
    ['ignores the promise of `next`', (_, next) => void next()],
    [
      'awaits the promise of `next` late',
      async (_, next) => {
        const end = next();
        await new Promise((resolve) => setTimeout(resolve, 20));
        await end;
      },
    ],
  ])('a hook that %s leaves no rejection unhandled', async (_, around) => {
    const server = await startServer([{ status: 404 }]);
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    process.on('unhandledRejection', note);
    await failureOf(clientOf(server, { around }).webhooks.list());
    await new Promise((resolve) => setTimeout(resolve, 50));
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
  });

  it('a call that is aborted before `next` sends nothing when `next` is called', async () => {
    const server = await startServer([]);
    const controller = new AbortController();
    const called = Promise.withResolvers<unknown>();
    const around: ClientOptions['around'] = async (_, next) => {
      controller.abort();
      await new Promise(setImmediate);
      called.resolve(failureOf(next()));
    };
    const failure = await failureOf(clientOf(server, { around }).webhooks.list({ signal: controller.signal }));
    expect(failure).toBe(controller.signal.reason);
    expect(await called.promise).toBe(controller.signal.reason);
    expect(await server.seen()).toEqual([]);
  });

  it('the error of a call passes through, and is not logged', async () => {
    const server = await startServer([{ status: 404 }]);
    const lines: string[] = [];
    const logger = { error: (line: string) => lines.push(line), warn() {}, info() {}, debug() {} };
    const client = clientOf(server, { around: (_, next) => next(), logger, logLevel: 'error' });
    expect(await failureOf(client.webhooks.list())).toMatchObject({ status: 404 });
    expect(lines).toEqual([]);
  });
});

describe('telemetry', () => {
  it('is another set of hooks, called first and outermost', async () => {
    const server = await startServer([{ data: [] }]);
    const calls: string[] = [];
    const hooks = (owner: string): ClientOptions => ({
      onRequest: () => calls.push(`${owner} request`),
      onResponse: () => calls.push(`${owner} response`),
      onEnd: () => calls.push(`${owner} end`),
      around: async (_, next) => {
        calls.push(`${owner} around`);
        await next({ headers: { [`x-${owner}`]: '1', 'x-owner': owner } });
      },
    });
    const client = clientOf(server, { ...hooks('own'), telemetry: hooks('telemetry') });
    await client.webhooks.list();
    const each = (hook: string) => [`telemetry ${hook}`, `own ${hook}`];
    expect(calls).toEqual([...each('around'), ...each('request'), ...each('response'), ...each('end')]);
    const [{ headers } = { headers: {} }] = await server.seen();
    expect(headers).toMatchObject({ 'x-telemetry': '1', 'x-own': '1', 'x-owner': 'own' });
  });

  it.each(['otel', null, [], () => ({}), { onEnd: 3 }])('must be an object of functions, not %j', (telemetry) => {
    const options: object = { telemetry };
    expect(() => clientOf({ url: 'http://127.0.0.1:1' }, options)).toThrow('`telemetry` must be `openTelemetry()`');
  });
});

describe('onBuildBudget', () => {
  it('is called with the budget that a usage report shows', async () => {
    const budget = { hour: { limit: 10, used: 3 }, day: { limit: 50, used: 7 }, retry_after_seconds: null };
    const server = await startServer([{ data: { build_budget: budget } }, { data: { build_budget: 'none' } }]);
    const budgets: unknown[] = [];
    const client = clientOf(server, { onBuildBudget: (event) => budgets.push(event) });
    await client.usage.get();
    await client.usage.get();
    expect(budgets).toEqual([budget]);
  });
});

describe('a logger', () => {
  it('receives what its level allows, and may fail', async () => {
    const server = await startServer([{ status: 503 }, { data: [] }]);
    const lines: string[] = [];
    const at = (level: string) => (message: string) => lines.push(`${level} ${message}`);
    const logger = { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug') };
    await clientOf(server, { logger, logLevel: 'info' }).webhooks.list();
    expect(lines).toEqual([expect.stringMatching(/^info The client retries webhooks.list in \d+ ms: /)]);
    const failing = () => {
      throw new Error('full disk');
    };
    const broken = { error: failing, warn: failing, info: failing, debug: failing };
    expect(await clientOf(server, { logger: broken, logLevel: 'debug' }).webhooks.list()).toEqual([]);
  });
});

describe('AUDIENCE_LOG', () => {
  it('sets the level where no option does; another value has no effect', async () => {
    const server = await startServer([{ data: [] }, { data: [] }, { data: [] }]);
    const lines: string[] = [];
    const at = (message: string) => void lines.push(message);
    const logger = { error: at, warn: at, info: at, debug: at };
    vi.stubEnv('AUDIENCE_LOG', 'debug');
    await clientOf(server, { logger, logLevel: undefined }).webhooks.list();
    expect(lines).toEqual(['GET /api/v2/webhooks/index → 200']);
    await clientOf(server, { logger, logLevel: 'warn' }).webhooks.list();
    vi.stubEnv('AUDIENCE_LOG', 'verbose');
    await clientOf(server, { logger, logLevel: undefined }).webhooks.list();
    expect(lines).toHaveLength(1);
    vi.unstubAllEnvs();
  });
});

describe('appInfo', () => {
  it('is part of the User-Agent', async () => {
    const server = await startServer([{ data: [] }]);
    const appInfo = { name: 'nightly-report', version: '1.2.0', url: 'https://example.com/report' };
    await clientOf(server, { appInfo }).webhooks.list();
    const [{ headers } = { headers: {} }] = await server.seen();
    expect(headers).toMatchObject({
      'user-agent': expect.stringMatching(
        /^audience-activation\/\S+ node\/\S+ nightly-report\/1\.2\.0 \(https:\/\/example\.com\/report\)$/,
      ),
    });
    expect(() => clientOf(server, { appInfo: { name: 'x\r\ny: z' } })).toThrow('user-agent');
  });
});

describe('withOptions', () => {
  it('changes options for the derived client only, on the same token', async () => {
    const server = await startServer([{ status: 503 }]);
    const client = clientOf(server, { maxRetries: 2 });
    const derived = client.withOptions({ maxRetries: 0, headers: { 'x-extra': '1' } });
    await failureOf(derived.webhooks.list());
    expect(await server.seen()).toHaveLength(1);
    await failureOf(client.webhooks.list());
    const seen = await server.seen();
    expect(seen).toHaveLength(4);
    expect(seen.map(({ headers }) => headers['x-extra'])).toEqual(['1', undefined, undefined, undefined]);
    expect(seen.every(({ headers }) => headers.authorization === 'Bearer test-token')).toBe(true);
  });

  it('refuses options that cannot change during the life of a client', () => {
    const client = clientOf({ url: 'http://127.0.0.1:1' });
    const other: object = { token: 'other' };
    expect(() => client.withOptions(other)).toThrow(/`withOptions` cannot change `token`/);
  });
});
