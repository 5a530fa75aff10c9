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
 * An attempt exceeded `timeout`, a transfer moved no byte for `idleTimeout`, the call exceeded its `deadline`, or the
 * user did not sign in with the browser in time.
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
 * A response that is not an error status, but cannot be used; `code` is the reason: a redirect, a body that is not an
 * envelope (MCP: not a JSON-RPC response) or is too large, `data` of another shape than documented, or an error of the
 * `data` override, which is the `cause`.
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
  /** HTTP status of the response, not an error; 0 for a redirect in browsers, which hide its status. */
  declare readonly status: number;
  /** Name of the operation, such as `audiences.get`. */
  declare readonly operation: string;
  /** The body, cut at 2 KiB, without secrets. */
  declare readonly body: string;
  /** Value of the response header that `requestIdHeader` names, if the response has it. */
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
