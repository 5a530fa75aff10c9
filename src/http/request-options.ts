import type { Priority } from '../rate-limit/rate-limit-bucket.ts';
import type { RateLimits } from '../spec/limits.ts';
import type { OperationName, ResolvedOperation } from '../spec/operations.ts';
import type { Logger } from '../util/log.ts';
import type { Redactor } from '../util/redact.ts';
import type { Backoff } from '../util/retry.ts';
import type { Fetch, FetchOptions } from './send.ts';

/** Options of one call. What is left out comes from the client. */
export interface RequestOptions {
  /** Ends the call at once; it rejects with the signal's own reason. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds for one attempt, from sending until the whole body has arrived. @default 30000 */
  readonly timeout?: number | undefined;
  /** Attempts after the first. @default 4 */
  readonly maxRetries?: number | undefined;
  /** The longest wait the service may ask for; a longer one fails at once. Milliseconds. @default 120000 */
  readonly maxRetryWait?: number | undefined;
  /** Milliseconds for the whole call, queueing and retries included. @default Infinity */
  readonly deadline?: number | undefined;
  /** More headers; not `Authorization`, `Accept`, `Content-Type` or `Idempotency-Key`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Options of a call that creates something under an idempotency key. */
export interface CreateOptions extends RequestOptions {
  /** Names this create for 24 hours: under one key it happens once. @default a random UUID */
  readonly idempotencyKey?: string | undefined;
  /**
   * What a 409 means on the first attempt: `throw` a `ConflictError`, or `wait` up to a minute for
   * the answer of a create still in flight under the same key. @default 'throw'
   */
  readonly onConflict?: 'throw' | 'wait' | undefined;
}

/** What the transport itself adds to the caller's options. */
export interface CallOptions extends CreateOptions {
  readonly priority?: Priority;
  /** Called whenever the rate limit permits an attempt, just before it is sent. */
  readonly onPermit?: () => void;
}

/** What a hook is told about a request. */
export interface RequestEvent {
  /** Operation name, or method and path of a free request. */
  readonly operation: string;
  readonly method: string;
  /** Path below the base URL, without query. */
  readonly path: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  readonly idempotencyKey?: string;
}

/** What a hook is told about a complete answer. */
export interface ResponseEvent extends RequestEvent {
  readonly status: number;
  /** Milliseconds from sending until the body had arrived. */
  readonly duration: number;
  readonly requestId?: string;
}

/** What a hook is told before a repeat. */
export interface RetryEvent extends RequestEvent {
  /** What the last attempt failed with. */
  readonly error: Error;
  /** Milliseconds until the repeat; its turn in the rate bucket comes on top. */
  readonly wait: number;
}

/** Callbacks that watch calls. One that throws is logged and harms no call. */
export interface Hooks {
  readonly onRequest?: ((event: RequestEvent) => void) | undefined;
  readonly onResponse?: ((event: ResponseEvent) => void) | undefined;
  readonly onRetry?: ((event: RetryEvent) => void) | undefined;
}

/** Every option of a client with its default filled in. */
export interface Settings extends Hooks {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly timeout: number;
  readonly maxRetries: number;
  readonly maxRetryWait: number;
  readonly backoff: Backoff;
  readonly rateLimits: RateLimits;
  /** A row of the operation table, the user's overrides applied. */
  readonly operation: (name: OperationName) => ResolvedOperation;
  readonly validation: 'lenient' | 'strict';
  readonly serverTimeZone: string;
  readonly requestIdHeader: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly logger: Logger;
  /** Knows the secrets of the client, and those among its headers. */
  readonly redactor: Redactor;
  /** Whether somebody is told of answers: a hook, or a log of level `debug`. */
  readonly observed: boolean;
  readonly fetch: Fetch;
  readonly fetchOptions: FetchOptions;
  /** Bytes of a response after decompression. */
  readonly maxResponseBytes: number;
}
