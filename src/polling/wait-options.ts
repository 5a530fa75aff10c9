import { ConfigurationError, check } from '../errors/audience-error.ts';
import type { RequestOptions } from '../http/request-options.ts';
import { checkHeaders, checkNumbers, checkSendable, shown } from '../util/input-checks.ts';
import type { UpdateSource } from './job.ts';

/** What an update comes with. */
export interface UpdateInfo {
  /** Milliseconds since the wait began. */
  readonly elapsed: number;
  readonly source: UpdateSource;
}

/** Options of a wait. */
export interface WaitOptions<T> {
  /** Milliseconds; `Infinity` waits for ever. The job goes on when it passes. @default 3600000 */
  readonly timeout?: number | undefined;
  /** Ends the wait at once; it rejects with the signal's own reason. */
  readonly signal?: AbortSignal | undefined;
  /** Called whenever the resource is seen, changed or not: by a read of its own, in a list, or in an event. One that throws is logged and harms no wait. */
  readonly onUpdate?: ((resource: T, info: UpdateInfo) => void) | undefined;
  /**
   * Options of the requests made while waiting. A wait that has any is read by itself and shares no list
   * with others. `maxRetries` has no use, because the next look is the repeat; `deadline` is 2 minutes at most.
   */
  readonly request?: Omit<RequestOptions, 'signal'> | undefined;
}

/** Options of a watch. */
export type WatchOptions<T> = Omit<WaitOptions<T>, 'onUpdate'>;

/** Time awake is counted: a machine that sleeps for an hour adds no more than this. Milliseconds. */
export const ASLEEP_AT_MOST = 60_000;

/** What is wrong with an id to wait for, if anything. */
export function idProblem(id: unknown): string | undefined {
  if (typeof id === 'number' && Number.isSafeInteger(id) && id > 0) return undefined;
  return `${shown(id)} is no id; give a positive integer, or an object with such an \`id\`.`;
}

const OPTIONS: Readonly<Record<keyof WaitOptions<unknown>, true>> = {
  timeout: true,
  signal: true,
  onUpdate: true,
  request: true,
};

/** Refuses what TypeScript would: a typo would wait for an hour. */
export function checkOptions<T>(options: WaitOptions<T>): WaitOptions<T> {
  const isObject = typeof options === 'object' && options !== null;
  check(isObject, `Options of a wait are an object, not ${shown(options)}.`);
  const unknown = Object.keys(options).find((name) => !(name in OPTIONS));
  check(unknown === undefined, `\`${unknown}\` is no option of a wait: use ${Object.keys(OPTIONS).join(', ')}.`);
  const { signal, onUpdate } = options;
  check(
    signal === undefined || 'throwIfAborted' in Object(signal),
    '`signal` must be an AbortSignal, such as that of an AbortController.',
  );
  check(onUpdate === undefined || typeof onUpdate === 'function', '`onUpdate` must be a function.');
  checkNumbers(options, ['timeout']);
  if (options.request !== undefined) checkRequest(options.request);
  return options;
}

const REQUEST: Readonly<Record<keyof Omit<RequestOptions, 'signal'>, true>> = {
  timeout: true,
  maxRetries: true,
  maxRetryWait: true,
  deadline: true,
  headers: true,
};

function checkRequest(request: Omit<RequestOptions, 'signal'>): void {
  const isObject = typeof request === 'object' && request !== null;
  if (!isObject) throw new ConfigurationError(`\`request\` of a wait is an object, not ${shown(request)}.`);
  const unknown = Object.keys(request).find((name) => !(name in REQUEST));
  if (unknown !== undefined) {
    throw new ConfigurationError(
      `\`request.${unknown}\` is no option of a wait: use ${Object.keys(REQUEST).join(', ')}.`,
    );
  }
  checkNumbers(request, ['timeout', 'maxRetries', 'maxRetryWait', 'deadline']);
  checkHeaders(request.headers ?? {});
  try {
    checkSendable(request.headers ?? {});
  } catch (error) {
    throw new ConfigurationError(`\`request\` of a wait: ${error instanceof Error ? error.message : error}`);
  }
}
