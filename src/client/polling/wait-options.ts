import { checkHeaders, checkSendable } from '../../util/input-checks.ts';
import { isObject } from '../../util/json.ts';
import {
  functionOption,
  nestedOptions,
  nonNegative,
  optionChecker,
  optionOf,
  signalOption,
  stringOption,
} from '../../util/options.ts';
import type { RequestOptions } from '../http/request-options.ts';
import type { UpdateSource } from './job.ts';

/** Source and time of an update. */
export interface UpdateInfo {
  /** Milliseconds since the wait began. */
  readonly elapsed: number;
  /** Source of the state: a request for the resource, a page of a list, or a webhook event. */
  readonly source: UpdateSource;
}

/** Options of a wait. */
export interface WaitOptions<T> {
  /**
   * Milliseconds until the wait fails, while the job keeps running. If the machine sleeps, at most one minute of each
   * sleep counts. `Infinity` waits indefinitely.
   *
   * @default 3600000 ms (1 hour)
   */
  readonly timeout?: number | undefined;
  /** Signal that ends the wait immediately. The wait rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Called with the first known state, and after each observed change of the status or of `updated_at`. If `onUpdate`
   * throws, the client logs the error, and the wait continues. The `onWait` hook observes each poll.
   */
  readonly onUpdate?: ((resource: T, info: UpdateInfo) => void) | undefined;
  /**
   * Options of the polls. A wait with request options polls its job separately and shares no polls with other waits.
   * `maxRetries` has no effect, because the next poll is the retry. The maximum `deadline` is 120000 ms (2 minutes).
   */
  readonly request?: Omit<RequestOptions, 'signal'> | undefined;
}

/** Options of a watch. */
export type WatchOptions<T> = Omit<WaitOptions<T>, 'onUpdate'>;

const requestOption = nestedOptions<Omit<RequestOptions, 'signal'>>({
  timeout: nonNegative,
  maxRetries: nonNegative,
  maxRetryWait: nonNegative,
  deadline: nonNegative,
  token: stringOption,
  query: optionOf(isObject, 'must be an object'),
  fetchOptions: optionOf(isObject, 'must be an object'),
  headers: optionOf(
    isSendable,
    'must not contain an invalid header, or a header that the client sets (such as Authorization)',
  ),
});
export const checkWatchOptions = optionChecker<WatchOptions<never>>('a watch', {
  timeout: nonNegative,
  signal: signalOption,
  request: requestOption,
});
const check = optionChecker<WaitOptions<never>>('a wait', {
  timeout: nonNegative,
  signal: signalOption,
  onUpdate: functionOption,
  request: requestOption,
});

/** Checks the options of a wait. Without this check, a typo in `timeout` would go unnoticed for an hour. */
export function checkWaitOptions<T>(options: WaitOptions<T> | undefined): void {
  if (options !== undefined) check(options);
}

function isSendable(headers: unknown): boolean {
  try {
    checkHeaders(Object(headers));
    checkSendable(Object(headers));
    return typeof headers === 'object';
  } catch {
    return false;
  }
}
