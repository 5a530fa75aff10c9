import { describe, expect, it, onTestFinished } from 'vitest';
import { type ClientOptions, ConfigurationError, type RateLimiter, type TokenSource } from '../../../src/index.ts';
import { quickly } from '../../support/quickly.ts';
import { clientOf, failureOf, startServer, type TestServer } from '../../support/server.ts';
import { wireAudience } from '../../support/wire-audience.ts';

const never = (): Promise<never> => new Promise(() => {});
const silent: TokenSource = { get: never };
const stuck: RateLimiter = { acquire: never, pause() {} };

describe('a token source or limiter that never settles', () => {
  it.each([
    ['source', { token: silent }],
    ['limiter', { limiter: stuck }],
  ] as const)('does not hold up deadline, abort, close or a wait’s timeout: %s', async (_, options) => {
    const server = await startServer([{ data: [wireAudience()] }]);
    const client = clientOf(server, options);
    expect(await failureOf(client.audiences.create({ name: 'A' }, { deadline: 5 }))).toMatchObject({
      code: 'deadline-exceeded',
      outcome: 'not-sent',
    });
    expect(await failureOf(client.audiences.get(1, { signal: AbortSignal.timeout(5) }))).toMatchObject({
      name: 'TimeoutError',
    });
    expect(await failureOf(client.audiences.wait(1, { timeout: 5 }))).toMatchObject({ code: 'wait-timeout' });
    const pending = failureOf(client.audiences.get(1));
    await client.close();
    expect(await pending).toMatchObject({ code: 'client-closed' });
  });
});

describe('a token source that rejects with its own error after an abort', () => {
  it('does not hide the caller’s reason, nor the deadline', async () => {
    const server = await startServer([{ data: [wireAudience()] }]);
    const get: TokenSource['get'] = ({ signal }) =>
      new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('cancelled by me'))));
    const client = clientOf(server, { token: { get } });
    const reason = new ConfigurationError('mine');
    const controller = new AbortController();
    const call = failureOf(client.audiences.create({ name: 'A' }, { signal: controller.signal }));
    controller.abort(reason);
    expect(await call).toBe(reason);
    expect(await failureOf(client.audiences.create({ name: 'A' }, { deadline: 20 }))).toMatchObject({
      code: 'deadline-exceeded',
    });
  });
});

describe('an abort whose reason is an error of this package', () => {
  it('the call rejects with the reason of the signal itself', async () => {
    const server = await startServer([{ fault: 'stall' }]);
    const controller = new AbortController();
    const reason = new ConfigurationError('the first call has failed');
    const call = failureOf(clientOf(server).audiences.create({ name: 'A' }, { signal: controller.signal }));
    await expect.poll(async () => (await server.seen()).length).toBe(1);
    controller.abort(reason);
    expect(await call).toBe(reason);
  });
});

describe('an async callback that rejects', () => {
  it('is logged and harms nothing', async () => {
    const server = await startServer([
      { status: 503 },
      { status: 429, headers: { 'retry-after': '0' } },
      { data: [wireAudience()] },
    ]);
    const lines: string[] = [];
    const logger = {
      error: (line: string) => lines.push(line),
      warn: (line: string) => lines.push(line),
      info() {},
      debug() {},
    };
    const broken = async () => {
      throw new Error('metrics are down');
    };
    const limiter = { acquire: async () => {}, pause: broken };
    const client = clientOf(server, {
      logger,
      logLevel: 'warn',
      onRequest: broken,
      onResponse: broken,
      onRetry: broken,
      limiter,
    });
    const options = { onCreated: broken, wait: { onUpdate: broken } };
    expect(await client.audiences.createAndWait({ name: 'A' }, options)).toMatchObject({ id: 42 });
    expect(lines.filter((line) => line.includes('metrics are down')).length).toBeGreaterThanOrEqual(8);
  });
});

describe('an async callback whose rejection nobody awaits', () => {
  const broken = async (): Promise<never> => {
    throw new Error('broken');
  };

  it.each<[string, (server: TestServer) => Promise<unknown>]>([
    [
      'a method of `logger`',
      (server) => {
        const logger = { error: broken, warn: broken, info: broken, debug: broken };
        return clientOf(server, { logger, logLevel: 'debug' }).webhooks.list();
      },
    ],
    [
      '`wrapFetch`, which must not be async',
      (server) => {
        const around: ClientOptions['around'] = (_, next) => next({ wrapFetch: broken as never });
        return clientOf(server, { around }).webhooks.list();
      },
    ],
    ['`shouldRetry`', (server) => clientOf(server, { shouldRetry: broken }).webhooks.list()],
  ])('does not end the process: %s', async (_, call) => {
    const unhandled = trackUnhandled();
    const server = await startServer([{ status: 503 }, { data: [] }]);
    expect(await call(server)).toEqual([]);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(unhandled).toEqual([]);
  });
});

/** Collects the unhandled rejections of the running test. */
function trackUnhandled(): unknown[] {
  const unhandled: unknown[] = [];
  const onUnhandled = (reason: unknown): void => {
    unhandled.push(reason);
  };
  process.on('unhandledRejection', onUnhandled);
  onTestFinished(() => void process.off('unhandledRejection', onUnhandled));
  return unhandled;
}

describe('an async `shouldRetry`', () => {
  it('is awaited', async () => {
    const server = await startServer([{ status: 503 }, { data: [] }]);
    const refusing = clientOf(server, { shouldRetry: async () => false });
    expect(await failureOf(refusing.webhooks.list())).toMatchObject({ status: 503, attempts: 1 });
    expect(await clientOf(server, { shouldRetry: async () => true }).webhooks.list()).toEqual([]);
  });

  it('is awaited until the call ends, and has no effect afterwards', () =>
    quickly(async () => {
      const server = await startServer([{ status: 503 }]);
      const answer = Promise.withResolvers<boolean>();
      const events: string[] = [];
      const client = clientOf(server, {
        shouldRetry: () => answer.promise,
        onRetry: () => events.push('retry'),
        onEnd: ({ outcome }) => events.push(outcome),
      });
      const options = { deadline: 100, idempotencyKey: 'k' };
      expect(await failureOf(client.audiences.create({ name: 'A' }, options))).toMatchObject({
        code: 'deadline-exceeded',
      });
      const controller = new AbortController();
      setTimeout(() => controller.abort('enough'), 100);
      expect(await failureOf(client.webhooks.list({ signal: controller.signal }))).toBe('enough');
      answer.resolve(true);
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(events).toEqual(['failure', 'aborted']);
    }));
});

describe('a process', () => {
  it('sees no unhandled rejection of a call that is awaited by another way only', async () => {
    const unhandled = trackUnhandled();
    const server = await startServer([{ status: 404 }]);
    const client = clientOf(server);
    await failureOf(client.audiences.get(1).withResponse());
    await failureOf(client.audiences.get(1).asResponse());
    await failureOf(client.audiences.list()[Symbol.asyncIterator]().next());
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(unhandled).toEqual([]);
  });
});
