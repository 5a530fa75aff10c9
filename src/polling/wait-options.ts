import type { RequestOptions } from '../http/index.ts';
import { checkHeaders, checkSendable, shown } from '../util/input-checks.ts';
import { functionOption, nestedOptions, nonNegative, optionChecker, optionOf, signalOption } from '../util/options.ts';
import type { UpdateSource } from './job.ts';

/** How and when an update arrived. */
export interface UpdateInfo {
  /** Milliseconds since the wait began. */
  readonly elapsed: number;
  readonly source: UpdateSource;
}

/** Options of a wait. */
export interface WaitOptions<T> {
  /** Milliseconds awake; `Infinity` waits indefinitely. The job keeps running when it passes. @default 3600000 */
  readonly timeout?: number | undefined;
  /** Ends the wait immediately; it rejects with the signal's own reason. */
  readonly signal?: AbortSignal | undefined;
  /** Called with each state received, changed or not: from a poll, a list or a webhook event. If it throws, that is logged and the wait continues. */
  readonly onUpdate?: ((resource: T, info: UpdateInfo) => void) | undefined;
  /**
   * Options of the requests. A wait that has any is polled on its own and shares no list with others. `maxRetries` has
   * no effect, because the next poll is the retry; `deadline` is 2 minutes at most.
   */
  readonly request?: Omit<RequestOptions, 'signal'> | undefined;
}

/** Options of a watch. */
export type WatchOptions<T> = Omit<WaitOptions<T>, 'onUpdate'>;

/** Describes what is wrong with an id. */
export const idProblem = (id: unknown): string => `must be a positive integer, not ${shown(id)}.`;

const check = optionChecker<WaitOptions<never>>('a wait', {
  timeout: nonNegative,
  signal: signalOption,
  onUpdate: functionOption,
  request: nestedOptions<Omit<RequestOptions, 'signal'>>({
    timeout: nonNegative,
    maxRetries: nonNegative,
    maxRetryWait: nonNegative,
    deadline: nonNegative,
    headers: optionOf(
      isSendable,
      'must be headers that a request can carry, without those that the client sets itself (such as Authorization)',
    ),
  }),
});

/** Checks the options of a wait or a watch, unless there are none: a typo would go unnoticed for an hour. */
export function checkWaitOptions<T>(options: WaitOptions<T> | undefined): WaitOptions<T> | undefined {
  if (options !== undefined) check(options);
  return options;
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
