import { AudienceError } from '../errors/audience-error.ts';
import { sleep, withTimeout } from '../util/abort.ts';
import { createMutex } from '../util/concurrency.ts';
import { backoffDelay } from '../util/retry.ts';
import type { RunScript, Script } from './commands.ts';

/** How a lock is kept in Redis. */
export interface RedisLockOptions {
  readonly run: RunScript;
  readonly runWithRetries: RunScript;
  readonly key: string;
  /** The lock of a holder that does not renew it expires after this. */
  readonly leaseMs: number;
}

/** Longest wait for a lock that others hold. */
const MAX_LOCK_WAIT_MS = 120_000;

/** Waits between two attempts to take a lock that is held, in milliseconds. */
const POLL = { min: 30, max: 200 } as const;

/** Longest time that the release of a lock delays the result. */
const MAX_RELEASE_MS = 2_000;

/** Takes the lock, or renews it. A holder whose lock expired while it was stopped takes it again if it is free. */
const TAKE: Script = {
  source: `
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 1 end
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 0`,
};

/** Deletes a key if it holds the value. */
export const COMPARE_AND_DELETE: Script = {
  source: `
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0`,
};

/** Returns a function that runs work while it holds a lock that processes share. */
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
        // A renewal that is in flight would take the lock again after the release.
        const release = renewal.then(() => run(COMPARE_AND_DELETE, key, [holder]));
        await withTimeout(release, MAX_RELEASE_MS, () => lockTimeout(key)).catch(() => {});
      }
    });
  };
}

function lockTimeout(key: string): AudienceError {
  const seconds = MAX_LOCK_WAIT_MS / 1_000;
  const message = `Other processes have held the lock ${JSON.stringify(key)} in Redis for ${seconds} seconds. Check that no other program uses this key.`;
  return new AudienceError(message, { code: 'token-unavailable' });
}
