import {
  ApiError,
  AuthenticationError,
  ConflictError,
  NotAcceptableError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  ServerError,
  ValidationError,
} from '../../errors/api-errors.ts';
import { AudienceError } from '../../errors/audience-error.ts';
import { ConnectionError, ResponseError, TimeoutError } from '../../errors/call-errors.ts';
import type { ApiErrorDetails } from '../../errors/error-details.ts';
import type { ResolvedOperation } from '../../spec/operations.ts';
import { BodyError, hiddenReason, isMistake, isNotSent, reasonOf } from '../../util/fetch-errors.ts';
import { isObject, parseJson } from '../../util/json.ts';
import type { Redactor } from '../../util/redact.ts';
import { readConflict } from './conflict.ts';
import { readFieldErrors } from './envelope.ts';
import { type Failure, type RetryHistory, statusFailureOf } from './retry-policy.ts';
import { limitAdvice, runtimeLimit } from './runtime-limits.ts';
import type { ReceivedResponse } from './send.ts';

/** A failed attempt: the error for the user, and the failure for the retry policy. */
export class AttemptFailure extends Error {
  readonly failure: Failure;
  readonly error: AudienceError;
  constructor(failure: Failure, error: AudienceError) {
    super(error.message);
    this.name = 'AttemptFailure';
    this.failure = failure;
    this.error = error;
  }
}

/** The parts of a call that its errors report. */
export interface CallInfo {
  readonly operation: ResolvedOperation;
  readonly path: string;
  readonly attempts: number;
  readonly history?: Pick<RetryHistory, 'rejectedToken'> | undefined;
  readonly settings: { readonly requestIdHeader: string; readonly maxResponseBytes: number };
  /** Removes the secrets of the call and of its client from error texts. */
  readonly redactor: Redactor;
}

/** Maximum length of the service's own message in an error, in UTF-16 code units. */
const MESSAGE_LIMIT = 300;
/** Maximum length of a field's message in an error, and of all fields' messages together, in UTF-16 code units. */
const FIELD_MESSAGE_LIMIT = 1_000;

/** Maximum length of a request id in an error, in UTF-16 code units. */
const REQUEST_ID_LIMIT = 200;

/** Returns the failure for a successful response that is larger than `maxResponseBytes`. */
export function truncatedFailure(response: ReceivedResponse, call: CallInfo): AttemptFailure {
  const message = `${call.operation.name} got a response larger than \`maxResponseBytes\` (${call.settings.maxResponseBytes} bytes).`;
  const advice = 'Request less, e.g. with `per_page`, or raise `maxResponseBytes`.';
  const error = responseError(message, response, call, 'response-too-large', advice);
  return new AttemptFailure({ kind: 'final', outcome: 'unknown' }, error);
}

/** Returns the failure for a successful response that is not an envelope. */
export function noEnvelopeFailure(response: ReceivedResponse, call: CallInfo, problem: string): AttemptFailure {
  const message = `${call.operation.name} got ${response.status}, but ${problem}.`;
  return new AttemptFailure({ kind: 'no-envelope' }, responseError(message, response, call, 'not-an-envelope'));
}

/**
 * Returns the failure for a response that could not be read. The request arrived, so a create request may have taken
 * effect.
 */
export function unreadableFailure(thrown: unknown, response: ReceivedResponse, call: CallInfo): AttemptFailure {
  const cause = call.redactor.cause(thrown);
  const message = `${call.operation.name} got ${response.status}, but reading the response failed: ${cause.message}`;
  return new AttemptFailure({ kind: 'final', outcome: 'unknown' }, responseError(message, response, call));
}

/** Returns the failure of a response whose status is not a success. */
export function statusFailure(response: ReceivedResponse, call: CallInfo): AttemptFailure {
  return response.status >= 400 ? refusalFailure(response, call, bodyOf(response)) : redirectFailure(response, call);
}

export function responseError(
  message: string,
  response: ReceivedResponse,
  call: CallInfo,
  code: ResponseError['code'] = 'response-invalid',
  advice?: string,
): ResponseError {
  const { redactor } = call;
  return new ResponseError(message, {
    code,
    status: response.status,
    operation: call.operation.name,
    attempts: call.attempts,
    // Omit the body of a credential exchange: it contains a new token, perhaps in a field that the redactor does not
    // recognize.
    body: call.operation.token === 'none' ? redactor.body('') : redactor.body(response.text),
    ...requestIdOf(response, call),
    advice,
  });
}

/** Returns the request id of a response, if it has one, without secrets. */
export function requestIdOf(
  { headers }: Pick<ReceivedResponse, 'headers'>,
  call: CallInfo,
): { readonly requestId?: string } {
  const requestId = headers.get(call.settings.requestIdHeader);
  return requestId === null ? {} : { requestId: call.redactor.text(requestId, REQUEST_ID_LIMIT) };
}

function redirectFailure(response: ReceivedResponse, call: CallInfo): AttemptFailure {
  const where = response.status === 0 ? '' : ` (${response.status})`;
  const message = `${call.operation.name} was redirected${where}, and the client does not follow the redirect.`;
  const advice = "Set `baseUrl` to the service's own address.";
  return new AttemptFailure(
    { kind: 'final', outcome: 'unknown' },
    responseError(message, response, call, 'redirect-refused', advice),
  );
}

/** Maximum length of an error body to parse as JSON, in UTF-16 code units. Envelopes are far shorter. */
const ERROR_BODY_LIMIT = 1_048_576;

const bodyOf = ({ text }: ReceivedResponse): unknown => (text.length > ERROR_BODY_LIMIT ? undefined : parseJson(text));

/** Returns the failure of a response that refuses the call: by its status, or by `status: error` in its envelope. */
export function refusalFailure(response: ReceivedResponse, call: CallInfo, body: unknown): AttemptFailure {
  const envelopeCode = isObject(body) && typeof body.code === 'number' ? body.code : undefined;
  const failure = statusFailureOf(response.status, response.headers);
  const { retryAfter: wait } = failure;
  if (isFromGateway(response)) return new AttemptFailure(failure, gatewayError(response, call));
  const { redactor } = call;
  const details: ApiErrorDetails = {
    status: response.status,
    operation: call.operation.name,
    method: call.operation.method,
    path: call.path,
    attempts: call.attempts,
    headers: redactor.headers(response.headers),
    body: redactor.body(response.text),
    ...(envelopeCode !== undefined && { envelopeCode }),
    ...requestIdOf(response, call),
    ...(wait !== undefined && { retryAfter: Math.ceil(wait / 1000), retryAt: new Date(Date.now() + wait) }),
  };
  const error = apiError(details, body, call);
  if (response.status < 400) {
    // A 409 may mean that a create request is in flight.
    const refused = envelopeCode !== undefined && envelopeCode >= 400 && envelopeCode < 500 && envelopeCode !== 409;
    return new AttemptFailure({ kind: 'final', outcome: refused ? 'refused' : 'unknown' }, error);
  }
  const isConflict = response.status === 409;
  return new AttemptFailure(isConflict ? { ...failure, conflict: readConflict(messageIn(body)) } : failure, error);
}

/** Statuses that keep their own error class even if a proxy responded, because retries and limits depend on it. */
const STATUSES_OF_ANYBODY: ReadonlySet<number> = new Set([408, 409, 429]);

/** Returns whether a proxy has refused a call. The service never responds with HTML or XML. */
function isFromGateway({ status, text }: ReceivedResponse): boolean {
  return status >= 400 && status < 500 && !STATUSES_OF_ANYBODY.has(status) && /^\s*</.test(text.slice(0, 100));
}

function gatewayError(response: ReceivedResponse, call: CallInfo): ResponseError {
  const message = `${call.operation.name} failed: ${response.status}, and the body is HTML or XML, so a proxy probably responded.`;
  const advice = 'Read `error.body`, then check `baseUrl` and the proxy.';
  return responseError(message, response, call, 'not-an-envelope', advice);
}

/** Returns the advice for a 404: the resource might not exist, or the service has the operation at another path. */
function notFoundAdvice({ path }: ResolvedOperation): string {
  const start = path.includes('{') ? 'Check the id and the account; if' : 'If';
  return `${start} every call of this operation fails like this, run \`aud check\`.`;
}

/** Returns the service's own message, from its envelope or from a JSON-RPC error. */
function messageIn(body: unknown): string {
  if (!isObject(body)) return '';
  const inner = isObject(body.error) ? body.error.message : undefined;
  return [body.message, inner].find((text) => typeof text === 'string') ?? '';
}

/** Creates the error for the status or, for a 2xx, for the code in the envelope. */
function apiError(details: ApiErrorDetails, body: unknown, call: CallInfo): ApiError {
  const status = details.status >= 400 ? details.status : (details.envelopeCode ?? details.status);
  const { redactor } = call;
  const message = redactor.text(messageIn(body), MESSAGE_LIMIT);
  const text = `${details.operation} failed: ${status}${message && ` ${message}`}.`.replace(/\.\.$/, '.');
  switch (status) {
    case 401:
      return authenticationError(text, details, call);
    case 403: {
      const advice =
        call.operation.token === 'mcp'
          ? 'Only tokens of scope `mcp` are accepted here. Use `mcpToken(credentials, { store })` or an OAuth client.'
          : 'The token is not permitted to do this. Use an API token of an account with access.';
      return new PermissionError(text, { ...details, advice });
    }
    case 404:
      return new NotFoundError(text, { ...details, advice: notFoundAdvice(call.operation) });
    case 406: {
      const advice = 'A proxy may have removed the `Accept: application/json` header: configure the proxy to keep it.';
      return new NotAcceptableError(text, { ...details, advice });
    }
    case 409:
      return new ConflictError(text, details);
    case 422: {
      const errors = readFieldErrors(body, (field) => redactor.text(field, FIELD_MESSAGE_LIMIT));
      return new ValidationError(`${text} ${messageOfFields(errors)}`.trimEnd(), { ...details, errors, local: false });
    }
    case 429: {
      const advice = details.retryAt && `Try again at ${details.retryAt.toISOString()}.`;
      return new RateLimitError(text, { ...details, bucket: call.operation.bucket, advice });
    }
    default:
      return status >= 500 ? new ServerError(text, details) : new ApiError(text, details);
  }
}

function authenticationError(text: string, details: ApiErrorDetails, call: CallInfo): AuthenticationError {
  const { token } = call.operation;
  if (token === 'none')
    return new AuthenticationError(`${text} Email or password is wrong.`, { ...details, reason: 'credentials' });
  if (call.history?.rejectedToken !== undefined) {
    const advice =
      'The token may be of the wrong kind (`apiToken`, `mcpToken`), another login may have ended it, or a proxy may remove the `Authorization` header.';
    return new AuthenticationError(`${text} The service also refused a new token.`, {
      ...details,
      reason: 'token',
      advice,
    });
  }
  const advice =
    token === 'mcp'
      ? 'The token is missing, invalid, expired or revoked; a password change ends all tokens. `mcpToken(credentials, { store })` and OAuth clients renew their token; a string cannot be renewed.'
      : 'The token is missing, invalid, expired or revoked: a login ends the previous login token, and a password change ends all tokens. If several processes share an account, use `apiToken`.';
  return new AuthenticationError(text, { ...details, reason: 'token', advice });
}

/** Returns field errors in one line. */
function messageOfFields(errors: ValidationError['errors']): string {
  const text = Object.entries(errors)
    .map(([field, messages]) => `${field}: ${messages.join(' ')}`)
    .join(' ');
  return text.length > FIELD_MESSAGE_LIMIT ? `${text.slice(0, FIELD_MESSAGE_LIMIT)}…` : text;
}

/** Returns the failure for a rejected `fetch`. Its cause contains no secrets. */
export function connectionFailure(thrown: unknown, call: CallInfo): AttemptFailure {
  const notSent = isNotSent(thrown);
  const reason = thrown instanceof BodyError ? thrown.cause : thrown;
  const cause = call.redactor.cause(reason);
  if (isMistake(reason)) {
    const message = `${call.operation.name} failed: \`fetch\` threw ${cause.name}: ${cause.message}`;
    const advice = 'Correct the code of `fetch`: a retry would not help.';
    const error = new AudienceError(message, { code: 'callback-failed', cause, advice });
    return new AttemptFailure({ kind: 'final', outcome: 'unknown' }, error);
  }
  const limit = runtimeLimit(reason);
  if (limit !== undefined) {
    const message = `${call.operation.name} received no complete response within the \`${limit}\` of the runtime.`;
    const details = { operation: call.operation.name, attempts: call.attempts, cause, advice: limitAdvice(limit) };
    const error = new TimeoutError(message, { code: 'attempt-timeout', ...details });
    return new AttemptFailure({ kind: 'lost' }, error);
  }
  const hidden = thrown instanceof BodyError ? undefined : hiddenReason(cause, 'the service');
  const what = notSent ? 'could not reach the service' : 'lost the connection before a complete response arrived';
  const text = hidden === undefined ? `${what}: ${reasonOf(cause)}` : `got no response: ${hidden}`;
  const error = new ConnectionError(`${call.operation.name} ${text}`, {
    operation: call.operation.name,
    attempts: call.attempts,
    cause,
  });
  return new AttemptFailure({ kind: notSent ? 'not-sent' : 'lost' }, error);
}

/** Returns the failure of an attempt that exceeded `timeout`. With a timeout of 0, the client sends nothing. */
export function timeoutFailure(timeout: number, call: CallInfo): AttemptFailure {
  const message = `${call.operation.name} received no complete response within ${timeout} ms (\`timeout\`).`;
  const error = new TimeoutError(message, {
    code: 'attempt-timeout',
    operation: call.operation.name,
    attempts: call.attempts,
  });
  return new AttemptFailure(timeout === 0 ? { kind: 'final', outcome: 'not-sent' } : { kind: 'lost' }, error);
}

/** Returns the error for input that the client refuses before sending: status 422, `local`. */
export function localValidationError(
  operation: Pick<ResolvedOperation, 'name' | 'method' | 'path'>,
  errors: ValidationError['errors'],
): ValidationError {
  return new ValidationError(`${operation.name} was not sent: ${messageOfFields(errors)}`, {
    status: 422,
    operation: operation.name,
    method: operation.method,
    path: operation.path,
    attempts: 0,
    headers: new Headers(),
    body: '',
    errors,
    local: true,
  });
}
