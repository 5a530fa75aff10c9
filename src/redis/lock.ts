import { AudienceError } from '../errors/audience-error.ts';
import { sleep, withTimeout } from '../util/abort.ts';
import { createMutex } from '../util/concurrency.ts';
import { backoffDelay } from '../util/retry.ts';
import type { RunScript, Script } from './commands.ts';

export interface RedisLockOptions {
  readonly run: RunScript;
  readonly runWithRetries: RunScript;
  readonly key: string;
  /** Milliseconds after which the lock expires unless its holder renews it. */
  readonly leaseMs: number;
}

/** Maximum time to wait for a lock that another process holds, in milliseconds, counted from the call. */
const MAX_LOCK_WAIT_MS = 120_000;

/** Bounds of the delay between two attempts to acquire a held lock, in milliseconds. */
const POLL = { min: 30, max: 200 } as const;

/** Maximum milliseconds by which releasing the lock may delay the result of the work. */
const MAX_RELEASE_MS = 2_000;

/**
 * Acquires the lock, or renews it for the same holder. A renewal after the expiry acquires the lock again if it is
 * free.
 */
const TAKE: Script = {
  source: `
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 1 end
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 0`,
};

export const COMPARE_AND_DELETE: Script = {
  source: `
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0`,
};

/** Returns a function that runs work while it holds a lock in Redis. */
export function createRedisLock({ run, runWithRetries, key, leaseMs }: RedisLockOptions) {
  const mutex = createMutex();

  async function take(holder: string, deadline: number): Promise<void> {
    for (let attempt = 1; Number(await runWithRetries(TAKE, key, [holder, leaseMs])) !== 1; attempt++) {
      if (performance.now() >= deadline) throw lockTimeout(key);
      await sleep(backoffDelay(attempt, POLL, Math.random), undefined);
    }
  }

  async function renew(holder: string, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(leaseMs / 3, signal);
      await run(TAKE, key, [holder, leaseMs]).catch(() => {});
    }
  }

  return <R>(work: () => Promise<R>): Promise<R> => {
    const deadline = performance.now() + MAX_LOCK_WAIT_MS;
    return mutex(key, async () => {
      const holder = crypto.randomUUID();
      const done = new AbortController();
      let renewal = Promise.resolve();
      try {
        await take(holder, deadline);
        renewal = renew(holder, done.signal).catch(() => {});
        return await work();
      } finally {
        done.abort();
        // Wait for the renewal in flight, which would otherwise acquire the lock again.
        const release = renewal.then(() => run(COMPARE_AND_DELETE, key, [holder]));
        await withTimeout(release, MAX_RELEASE_MS, () => lockTimeout(key)).catch(() => {});
      }
    });
  };
}

function lockTimeout(key: string): AudienceError {
  const seconds = MAX_LOCK_WAIT_MS / 1_000;
  const message = `The lock ${JSON.stringify(key)} in Redis was not acquired within ${seconds} seconds: another process holds it.`;
  return new AudienceError(message, {
    code: 'token-unavailable',
    advice: 'Check that no other program uses this key.',
  });
}
