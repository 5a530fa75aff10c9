import type { ClientOptions } from '../../index.ts';
import { problemOf } from './error-texts.ts';
import type { Output } from './output.ts';

/** Minimum duration of a wait that the command announces, in milliseconds. */
export const ANNOUNCED_WAIT_MS = 5_000;

/** Returns a time as text, rounded up to a second. */
export const timeText = (ms: number): string =>
  `${new Date(Math.ceil(ms / 1_000) * 1_000).toISOString().slice(0, 19)}Z`;

/** Returns client hooks that announce long waits of requests, with the reason and the expected end. */
export function waitNotices(output: Output) {
  let announced = '';
  const announce = (message: string): void => {
    // Several requests may wait for the end of the same pause.
    if (message !== announced) output.log('info', message);
    announced = message;
  };
  return {
    onWaiting: ({ message }) => announce(message),
    onEnd({ isPoll, operation, error }) {
      if (!isPoll || error === undefined) return;
      output.onPollFailed?.(error);
      // The next poll is the retry.
      const { retryAfter, status }: { readonly retryAfter?: unknown; readonly status?: unknown } = Object(error);
      if (typeof retryAfter !== 'number' || retryAfter * 1_000 < ANNOUNCED_WAIT_MS) return;
      const isRefused = typeof status === 'number' && status > 0;
      const reason = isRefused ? `the service has responded with ${status}` : problemOf(error).replace(/\.$/, '');
      announce(`The command retries ${operation} at ${timeText(Date.now() + retryAfter * 1_000)}: ${reason}.`);
    },
  } as const satisfies ClientOptions;
}
