import type { Paging, ResultLinks } from '../../spec/contract.ts';
import type { Statuses } from '../../spec/job-status.ts';
import type { RateLimits } from '../../spec/limits.ts';
import type { OperationName, Query, ResolvedOperation } from '../../spec/operations.ts';
import type { JsonObject } from '../../spec/wire-values.ts';
import type { Logger } from '../../util/log.ts';
import type { Redactor } from '../../util/redact.ts';
import type { Backoff } from '../../util/retry.ts';
import type { CallHooks } from './hooks.ts';
import type { Fetch, FetchOptions } from './send.ts';

/** Options of one call. The client's options are the defaults. */
export interface RequestOptions {
  /** Signal that aborts the call immediately. The call rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** Timeout of one attempt in milliseconds, from sending until the entire body has arrived. @default 30000 ms */
  readonly timeout?: number | undefined;
  /** Maximum number of retries after transient errors. @default 4 retries */
  readonly maxRetries?: number | undefined;
  /**
   * The longest `Retry-After` to honor, in milliseconds. If the service asks for more, the call fails immediately.
   * @default 120000 ms
   */
  readonly maxRetryWait?: number | undefined;
  /** Maximum duration of the entire call in milliseconds, including queueing and retries. @default Infinity */
  readonly deadline?: number | undefined;
  /** Additional headers, except `Authorization`, `Accept`, `Content-Type` and `Idempotency-Key`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * Bearer token of this call instead of the client's token, for example the token of another account. The client does
   * not renew this token after a 401. The service counts the requests of each token separately.
   */
  readonly token?: string | undefined;
  /** Additional query parameters. The parameters that the method sets take precedence. */
  readonly query?: Query | undefined;
  /** More options for `fetch`, such as a `dispatcher`, in addition to the client's options. */
  readonly fetchOptions?: FetchOptions | undefined;
}

/** Options of a call that creates a resource with an idempotency key. */
export interface CreateOptions extends RequestOptions {
  /**
   * Idempotency key of the create request: 1 to 255 ASCII characters. For 24 hours, the service executes requests with
   * the same key only once.
   * @default a random UUID
   */
  readonly idempotencyKey?: string | undefined;
  /**
   * How to handle a 409: `throw` a `ConflictError`, or `wait` up to a minute for the response of the create request in
   * flight with the same key. If an earlier attempt of this call may have reached the service, the call waits in both
   * cases. Otherwise, if a 409 says that your own `idempotencyKey` belongs to another body, the call throws a
   * `ConflictError`.
   *
   * @default 'wait', unless `maxRetries` is 0
   */
  readonly onConflict?: 'throw' | 'wait' | undefined;
  /** Additional body fields, which the client does not check. They must not repeat a field of the body. */
  readonly extraBody?: JsonObject | undefined;
}

/** Names of the options of every call. */
export const REQUEST_OPTIONS: readonly string[] = [
  ...['signal', 'timeout', 'maxRetries', 'maxRetryWait', 'deadline', 'headers', 'token', 'query', 'fetchOptions'],
];

/** Names of the options that only a call with an idempotency key takes. */
export const KEY_OPTIONS: readonly string[] = ['idempotencyKey', 'onConflict'];

/** Names of the options that only a call with fields for a new resource takes. */
export const FIELD_OPTIONS: readonly string[] = ['extraBody'];

export const CREATE_OPTIONS: readonly string[] = [...REQUEST_OPTIONS, ...KEY_OPTIONS, ...FIELD_OPTIONS];

/** Names of the options that only `client.request` takes. */
export const FREE_OPTIONS: readonly string[] = ['params', 'body', 'schema', 'bucket'];

/** Key of internal options. It is a symbol, so that callers cannot set these options. */
export const BACKGROUND: unique symbol = Symbol('background');

/** Key of an internal option: advice that replaces the usual advice after a 409. */
export const CONFLICT_ADVICE: unique symbol = Symbol('conflict advice');

/**
 * A call that the package makes itself. It has a lower priority than the caller's calls, and the client does not check
 * its options.
 */
interface BackgroundCall {
  /** True for polls of waits. */
  readonly isPoll?: true;
  /** Called before each attempt, once the attempt has a permit of the rate bucket. */
  readonly onPermit?: (callId: string) => void;
}

/** The caller's options, and the options that the package adds. */
export interface CallOptions extends CreateOptions {
  readonly [BACKGROUND]?: BackgroundCall;
  readonly [CONFLICT_ADVICE]?: string;
}

/** Defaults of the options that concern requests. Durations are in milliseconds. */
export const DEFAULTS = {
  timeout: 30_000,
  maxRetries: 4,
  maxRetryWait: 120_000,
  backoff: { min: 500, max: 30_000 },
  maxResponseBytes: 16 * 2 ** 20,
} as const;

/** The client's options for its calls, with defaults filled in. */
export interface Settings {
  /** Address of the service, without a trailing slash. */
  readonly baseUrl: string;
  readonly timeout: number;
  readonly maxRetries: number;
  readonly maxRetryWait: number;
  readonly backoff: Backoff;
  readonly rateLimits: RateLimits;
  /** The operation table with the user's overrides applied. */
  readonly operations: Readonly<Record<OperationName, ResolvedOperation>>;
  /** How lists are paged. */
  readonly paging: Paging;
  /** States by kind and status id, if the contract defines them. */
  readonly statuses: Statuses | undefined;
  /** How the links to result files behave. */
  readonly results: ResultLinks;
  readonly validation: 'lenient' | 'strict';
  readonly serverTimeZone: string;
  readonly requestIdHeader: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly logger: Logger;
  /** Removes the secrets of the client, including those in its headers, from texts. */
  readonly redactor: Redactor;
  /** Objects with at least one hook. The objects of the `telemetry` option come first. */
  readonly hooks: readonly CallHooks[];
  readonly fetch: Fetch;
  readonly fetchOptions: FetchOptions;
  /** Maximum size of a response after decompression, in bytes. */
  readonly maxResponseBytes: number;
}
