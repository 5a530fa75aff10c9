import { AudienceError } from './audience-error.ts';
import type { CallDetails } from './error-details.ts';

/** No complete response arrived: connection refused, reset or lost, name not found, no network. */
export class ConnectionError extends AudienceError {
  static override readonly className: string = 'ConnectionError';
  declare static readonly isInstance: (value: unknown) => value is ConnectionError;
  declare readonly code: 'connection-failed' | TimeoutError['code'];
  /** Operation name, as in the operation table. */
  declare readonly operation: string;
  /** Attempts made, this one included. */
  declare readonly attempts: number;
  constructor(message: string, details: CallDetails & { readonly code?: ConnectionError['code'] }) {
    super(message, { code: 'connection-failed', ...details });
  }
}

/**
 * An attempt exceeded `timeout`, a transfer moved no byte for `idleTimeout`, the call exceeded its `deadline`, or nobody
 * signed in by the browser.
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
 * A success (or a redirect) that is not an envelope (MCP: not a JSON-RPC response), whose `data` is not the documented
 * shape, or for which the `data` override of its operation threw (`callback-failed`, with that error as its `cause`).
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
  declare readonly status: number;
  declare readonly operation: string;
  /** The body, cut at 2 KiB, without secrets. */
  declare readonly body: string;
  declare readonly requestId?: string;
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
