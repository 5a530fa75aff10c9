import { type ClientOptions, memoryLimiter, RATE_LIMITS } from '../index.ts';
import { messageOf } from './error-texts.ts';
import type { Output } from './output.ts';

/** A wait of this length is announced. */
export const ANNOUNCED_WAIT_MS = 5_000;

/** Returns a time for people, rounded up to a second. */
export const timeText = (ms: number): string =>
  `${new Date(Math.ceil(ms / 1_000) * 1_000).toISOString().slice(0, 19)}Z`;

/** Returns options of a client that say what its requests wait for, and until when, if they wait for long. */
export function waitNotices(output: Output) {
  let announcedUntil = 0;
  const announce = (what: string, ms: number): void => {
    const until = Date.now() + ms;
    // Several requests may wait for the same pause.
    if (until < announcedUntil + 1_000) return;
    announcedUntil = until;
    output.log('info', `${what} Waiting until ${timeText(until)}.`);
  };
  const announceRetry = (operation: string, error: unknown, ms: number): void => {
    const { status }: { readonly status?: unknown } = Object(error);
    const isRefused = typeof status === 'number' && status > 0;
    const reason = isRefused ? `the service has responded with ${status}` : messageOf(error).replace(/\.$/, '');
    announce(`${operation} is tried again: ${reason}.`, ms);
  };
  const limiter = memoryLimiter();
  const sentAt = { read: [], write: [], mcp: [], login: [], mint: [] } as const satisfies Record<string, number[]>;
  return {
    limiter: {
      pause: limiter.pause,
      async acquire(bucket, options) {
        const { limit, interval } = RATE_LIMITS[bucket];
        const times: number[] = sentAt[bucket];
        const timer = setTimeout(() => {
          const what = `The limit of ${limit} requests in ${interval / 1_000} s (${bucket}) is reached.`;
          announce(what, (times.at(-limit) ?? Date.now()) + interval - Date.now());
        }, ANNOUNCED_WAIT_MS);
        try {
          await limiter.acquire(bucket, options);
          times.push(Date.now());
        } finally {
          clearTimeout(timer);
        }
      },
    },
    onRetry({ wait, operation, error }) {
      if (wait >= ANNOUNCED_WAIT_MS) announceRetry(operation, error, wait);
    },
    onEnd({ isPoll, operation, error }) {
      // The next poll is the retry.
      const { retryAfter }: { readonly retryAfter?: unknown } = Object(error);
      if (isPoll && error !== undefined) output.onPollFailed?.(error);
      if (!isPoll || typeof retryAfter !== 'number' || retryAfter * 1_000 < ANNOUNCED_WAIT_MS) return;
      announceRetry(operation, error, retryAfter * 1_000);
    },
  } as const satisfies ClientOptions;
}
