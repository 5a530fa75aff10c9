import type { Bucket } from '../spec/limits.ts';
import type { BuildBudget } from '../spec/usage-report.ts';
import { AudienceError } from './audience-error.ts';
import type { ErrorCode } from './error-codes.ts';
import type { ApiErrorDetails, FieldErrors } from './error-details.ts';

/** Any {@link ApiError}. Its `code` determines its class and its fields. */
export type AnyApiError =
  | (ApiError & {
      /** An error without a more specific class. */
      readonly code: 'api-error';
    })
  | AuthenticationError
  | PermissionError
  | NotFoundError
  | NotAcceptableError
  | ValidationError
  | ConflictError
  | ServerError
  | (RateLimitError & {
      /** A rate limit is exceeded, not the build budget. */
      readonly code: 'rate-limited';
    })
  | BuildBudgetError;

/**
 * The service refused a request with a status of 400 or more, or with `status: error` in the envelope. Or this package
 * refused the request before sending it.
 */
export class ApiError extends AudienceError {
  static override readonly className: string = 'ApiError';
  declare static readonly isInstance: (value: unknown) => value is AnyApiError;
  /** HTTP status of the response. If this package refused the request before sending it, 422 or 429. */
  declare readonly status: number;
  /** The envelope's `code`, if the response had one. */
  declare readonly envelopeCode?: number;
  /** Name of the operation, such as `audiences.get`. For `client.request`, the method and path. */
  declare readonly operation: string;
  /** HTTP method of the request. */
  declare readonly method: string;
  /** Path below the base URL, without query. */
  declare readonly path: string;
  /** Value of the response header that `requestIdHeader` names. Quote it to the support of the service. */
  declare readonly requestId?: string;
  /** Headers of the response, without secrets. Empty if the request was not sent. */
  declare readonly headers: Headers;
  /**
   * Body of the response without secrets, truncated to 2 KiB. If storage refused the request, only the code and message
   * of storage's error.
   */
  declare readonly body: string;
  /** Number of attempts that the call made. */
  declare readonly attempts: number;
  /** Seconds to wait before a retry. */
  declare readonly retryAfter?: number;
  /** Earliest time at which a retry may succeed. */
  declare readonly retryAt?: Date;
  constructor(message: string, details: ApiErrorDetails & { readonly code?: ErrorCode }) {
    super(message, { code: 'api-error', ...details });
  }
}

/** 401: the service refused the token, or the email and password. See `reason`. */
export class AuthenticationError extends ApiError {
  static override readonly className: string = 'AuthenticationError';
  declare static readonly isInstance: (value: unknown) => value is AuthenticationError;
  declare readonly code: 'authentication-failed';
  /**
   * What the service refused: the bearer `token`, or the email and password of a credential exchange (`credentials`).
   */
  declare readonly reason: 'token' | 'credentials';
  constructor(message: string, details: ApiErrorDetails & { readonly reason: 'token' | 'credentials' }) {
    super(message, { code: 'authentication-failed', ...details });
  }
}

/** 403: the token does not permit the request, or storage refused the URL, for example because it has expired. */
export class PermissionError extends ApiError {
  static override readonly className: string = 'PermissionError';
  declare static readonly isInstance: (value: unknown) => value is PermissionError;
  declare readonly code: 'permission-denied';
  constructor(message: string, details: ApiErrorDetails) {
    super(message, { code: 'permission-denied', ...details });
  }
}

/** 404: the resource does not exist for this account. */
export class NotFoundError extends ApiError {
  static override readonly className: string = 'NotFoundError';
  declare static readonly isInstance: (value: unknown) => value is NotFoundError;
  declare readonly code: 'not-found';
  constructor(message: string, details: ApiErrorDetails) {
    super(message, { code: 'not-found', ...details });
  }
}

/** 406: the service did not receive `Accept: application/json`. A proxy may have removed it. */
export class NotAcceptableError extends ApiError {
  static override readonly className: string = 'NotAcceptableError';
  declare static readonly isInstance: (value: unknown) => value is NotAcceptableError;
  declare readonly code: 'not-acceptable';
  constructor(message: string, details: ApiErrorDetails) {
    super(message, { code: 'not-acceptable', ...details });
  }
}

/** 422: the service refused fields of the request, or this package refused them before sending (`local` is true). */
export class ValidationError extends ApiError {
  static override readonly className: string = 'ValidationError';
  declare static readonly isInstance: (value: unknown) => value is ValidationError;
  declare readonly code: 'validation-failed';
  /** Messages by field name. */
  declare readonly errors: FieldErrors;
  /** `true` if this package refused the fields without sending a request. */
  declare readonly local: boolean;
  constructor(message: string, details: ApiErrorDetails & { readonly errors: FieldErrors; readonly local: boolean }) {
    super(message, { code: 'validation-failed', ...details });
  }
}

/**
 * 409: for a create request, the idempotency key is in use. If `outcome` is `unknown`, an earlier request with this key
 * may still be in flight: repeat the request with the same key and body. If `outcome` is `refused`, an earlier create
 * request used the key for another body.
 */
export class ConflictError extends ApiError {
  static override readonly className: string = 'ConflictError';
  declare static readonly isInstance: (value: unknown) => value is ConflictError;
  declare readonly code: 'conflict';
  constructor(message: string, details: ApiErrorDetails) {
    super(message, { code: 'conflict', ...details });
  }
}

/** 5xx: the service failed. */
export class ServerError extends ApiError {
  static override readonly className: string = 'ServerError';
  declare static readonly isInstance: (value: unknown) => value is ServerError;
  declare readonly code: 'server-error';
  constructor(message: string, details: ApiErrorDetails) {
    super(message, { code: 'server-error', ...details });
  }
}

/**
 * 429 that the client does not retry: `Retry-After` exceeds `maxRetryWait`, or the retries or the time of the call are
 * used up. Also thrown without a request, if the pause after an earlier 429 is longer than the call may wait.
 */
export class RateLimitError extends ApiError {
  static override readonly className: string = 'RateLimitError';
  declare static readonly isInstance: (value: unknown) => value is Extract<AnyApiError, RateLimitError>;
  declare readonly code: 'rate-limited' | 'build-budget-exhausted';
  /** Rate bucket of the request. */
  declare readonly bucket: Bucket;
  constructor(
    message: string,
    details: ApiErrorDetails & { readonly bucket: Bucket; readonly code?: RateLimitError['code'] },
  ) {
    super(message, { code: 'rate-limited', ...details });
  }
}

/**
 * The organization's build budget is used up. The service refused a create request that starts a job, or the client did
 * not send the request after an earlier refusal. `outcome` says whether an earlier attempt of the call may have created
 * the resource.
 */
export class BuildBudgetError extends RateLimitError {
  static override readonly className: string = 'BuildBudgetError';
  declare static readonly isInstance: (value: unknown) => value is BuildBudgetError;
  declare readonly code: 'build-budget-exhausted';
  /** The budget in the usage report, if the client could read the report. */
  declare readonly budget?: BuildBudget;
  constructor(message: string, details: ApiErrorDetails & { readonly bucket: Bucket; readonly budget?: BuildBudget }) {
    super(message, { ...details, code: 'build-budget-exhausted' });
  }
}
