import { AudienceError } from './audience-error.ts';
import type { CallDetails } from './error-details.ts';

/** No complete response arrived, for example because the connection was refused or lost. */
export class ConnectionError extends AudienceError {
  static override readonly className: string = 'ConnectionError';
  declare static readonly isInstance: (value: unknown) => value is ConnectionError;
  declare readonly code: 'connection-failed' | TimeoutError['code'];
  /** Name of the operation, such as `audiences.get`. */
  declare readonly operation: string;
  /** Number of attempts that the call made. */
  declare readonly attempts: number;
  constructor(message: string, details: CallDetails & { readonly code?: ConnectionError['code'] }) {
    super(message, { code: 'connection-failed', ...details });
  }
}

/**
 * A time limit has passed. `code` says which: `timeout` of an attempt, `idleTimeout` of a transfer, `deadline` of a
 * call, or the timeout of a sign-in with the browser.
 */
export class TimeoutError extends ConnectionError {
  static override readonly className: string = 'TimeoutError';
  declare static readonly isInstance: (value: unknown) => value is TimeoutError;
  declare readonly code: 'attempt-timeout' | 'idle-timeout' | 'deadline-exceeded' | 'sign-in-timeout';
  constructor(message: string, details: CallDetails & { readonly code: TimeoutError['code'] }) {
    super(message, details);
  }
}

/**
 * A response that the client cannot use. `code` says why: a redirect, a body that is too large or not an envelope (for
 * MCP, not a JSON-RPC response), undocumented `data`, or a `data` override that threw the `cause`.
 */
export class ResponseError extends AudienceError {
  static override readonly className: string = 'ResponseError';
  declare static readonly isInstance: (value: unknown) => value is ResponseError;
  declare readonly code:
    | 'response-invalid'
    | 'not-an-envelope'
    | 'redirect-refused'
    | 'response-too-large'
    | 'callback-failed';
  /**
   * HTTP status of the response: 4xx only if a proxy responded with HTML or XML, 0 for a redirect from storage or in
   * browsers.
   */
  declare readonly status: number;
  /** Name of the operation, such as `audiences.get`. */
  declare readonly operation: string;
  /** Body of the response without secrets, truncated to 2 KiB. */
  declare readonly body: string;
  /** Value of the response header that `requestIdHeader` names, if the response has this header. */
  declare readonly requestId?: string;
  /** Number of attempts that the call made. */
  declare readonly attempts: number;
  constructor(
    message: string,
    details: CallDetails & {
      readonly status: number;
      readonly body: string;
      readonly requestId?: string;
      readonly code?: ResponseError['code'];
    },
  ) {
    super(message, { code: 'response-invalid', ...details });
  }
}
