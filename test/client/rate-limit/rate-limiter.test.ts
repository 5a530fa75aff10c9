import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { PermitLog, RateLimiter } from '../../../src/client/rate-limit/permits.ts';
import {
  createRateLimiter,
  memoryLimiter,
  RateLimitBucket,
  withMargin,
} from '../../../src/client/rate-limit/rate-limiter.ts';
import { AudienceClient } from '../../../src/index.ts';
import { RATE_LIMITS } from '../../../src/spec/limits.ts';

const limits = { ...RATE_LIMITS, read: { limit: 5, interval: 1_000 }, write: { limit: 2, interval: 1_000 } };
const span = withMargin(1_000);

let granted: { name: string; at: number }[];
let started: number;

beforeEach(() => {
  vi.useFakeTimers();
  granted = [];
  started = performance.now();
});
afterEach(async () => {
  // The end of the turn in which the last slots were granted.
  await vi.advanceTimersByTimeAsync(0);
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

type Extra = { priority?: 'foreground' | 'background'; signal?: AbortSignal; maxWait?: number; scope?: string };

function ask(limiter: RateLimiter, name: string, { priority = 'foreground', scope = 's', ...rest }: Extra = {}) {
  return limiter.acquire('read', { scope, priority, ...rest }).then(() => {
    granted.push({ name, at: performance.now() - started });
  });
}

describe('a bucket', () => {
  it('is kept separately for each scope', async () => {
    const limiter = createRateLimiter(limits);
    const all = ['a', 'b'].flatMap((scope) => [...Array(5)].map((_, at) => ask(limiter, `${scope}${at}`, { scope })));
    await vi.advanceTimersByTimeAsync(0);
    await Promise.all(all);
    expect(granted.every(({ at }) => at < 10)).toBe(true);
  });

  it('passes the permits of 200 aborted calls to the next call', async () => {
    const limiter = createRateLimiter(limits);
    await Promise.all([...Array(5)].map((_, at) => ask(limiter, String(at))));
    const controller = new AbortController();
    const aborted = [...Array(200)].map((_, at) =>
      ask(limiter, `x${at}`, { signal: controller.signal }).catch((reason) => reason),
    );
    const next = ask(limiter, 'next');
    controller.abort('gone');
    expect(new Set(await Promise.all(aborted))).toEqual(new Set(['gone']));
    await vi.runAllTimersAsync();
    await next;
    expect(granted.at(-1)?.at).toBeLessThan(span + 5);
  });

  it('leaves no timer when the last waiting call has aborted', async () => {
    const limiter = createRateLimiter(limits);
    await Promise.all([...Array(5)].map((_, at) => ask(limiter, String(at))));
    await vi.advanceTimersByTimeAsync(0);
    const controller = new AbortController();
    const gone = ask(limiter, 'x', { signal: controller.signal }).catch((reason) => reason);
    expect(vi.getTimerCount()).toBe(1);
    controller.abort('gone');
    expect(await gone).toBe('gone');
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('memoryLimiter', () => {
  it('has one bucket for all clients that share it', async () => {
    const limiter = memoryLimiter({ read: { limit: 2, interval: 1_000 } });
    const fetch = (): Promise<Response> => {
      granted.push({ name: 'sent', at: performance.now() - started });
      return Promise.resolve(Response.json({ status: 'success', code: 200, message: '', data: [] }));
    };
    const clients = [1, 2].map(
      () => new AudienceClient({ baseUrl: 'https://api.example.com', token: 'shared', limiter, fetch }),
    );
    const all = clients.flatMap((client) => [client.webhooks.list(), client.webhooks.list()]);
    await vi.runAllTimersAsync();
    await Promise.all(all);
    expect(granted).toHaveLength(4);
    expect(granted[2]?.at).toBeGreaterThan(1_000);
  });

  it('reports which bucket is invalid', () => {
    expect(() => memoryLimiter({ read: { limit: 0, interval: 1 } })).toThrow('`rateLimits.read`');
  });
});

describe('a pause', () => {
  it('holds the bucket for its time', async () => {
    const limiter = createRateLimiter(limits);
    limiter.pause('read', 's', 5_000);
    const held = ask(limiter, 'held');
    await vi.runAllTimersAsync();
    await held;
    expect(granted[0]?.at).toBeGreaterThanOrEqual(5_000);
  });

  it('holds a bucket without a limit, too', async () => {
    const limiter = createRateLimiter(false);
    limiter.pause('read', 's', 5_000);
    const held = ask(limiter, 'held');
    await vi.advanceTimersByTimeAsync(4_900);
    expect(granted).toEqual([]);
    await vi.runAllTimersAsync();
    await held;
  });

  it('immediately refuses calls that may not wait so long, in the queue, too', async () => {
    const limiter = createRateLimiter({ ...limits, read: { limit: 1, interval: 60_000 } });
    await ask(limiter, 'first');
    const queued = ask(limiter, 'queued', { maxWait: 1_000 }).catch((error) => error);
    const patient = ask(limiter, 'patient', { maxWait: 120_000 });
    limiter.pause('read', 's', 90_000);
    expect(await queued).toMatchObject({ retryAt: expect.any(Date) });
    expect(await ask(limiter, 'late', { maxWait: 1_000 }).catch((error) => error)).toMatchObject({
      retryAt: new Date(Date.now() + 90_000),
    });
    await vi.runAllTimersAsync();
    await patient;
  });
});

describe('a bucket whose permits are acquired asynchronously', () => {
  it('discards permits acquired before a pause, and acquires others after it', async () => {
    const replies: ((permits: number) => void)[] = [];
    const log: PermitLog = {
      wait: () => 0,
      take: () => new Promise((resolve) => replies.push(resolve)),
      isEmpty: () => true,
    };
    const bucket = new RateLimitBucket(log);
    let isGranted = false;
    const waiting = bucket.acquire({ priority: 'foreground' }).then(() => {
      isGranted = true;
    });
    await vi.advanceTimersByTimeAsync(0);
    bucket.pause(5_000);
    replies.shift()?.(1);
    await vi.advanceTimersByTimeAsync(4_999);
    expect([isGranted, replies.length]).toEqual([false, 0]);
    await vi.advanceTimersByTimeAsync(1);
    expect([isGranted, replies.length]).toEqual([false, 1]);
    replies.shift()?.(1);
    await waiting;
  });
});
