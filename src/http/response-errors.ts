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
} from '../errors/api-errors.ts';
import type { AudienceError } from '../errors/audience-error.ts';
import { ConnectionError, ResponseError, TimeoutError } from '../errors/call-errors.ts';
import type { ApiErrorDetails } from '../errors/error-details.ts';
import type { ResolvedOperation } from '../spec/operations.ts';
import { isObject, parseJson } from '../util/json.ts';
import type { Redactor } from '../util/redact.ts';
import { type Envelope, readFieldErrors } from './envelope.ts';
import { readSuccess } from './json-rpc.ts';
import { type Failure, statusFailureOf } from './retry-policy.ts';
import { type Answer, BodyFailure, surelyNotSent } from './send.ts';

/** One attempt failed: the error for the user, and what the retry decision needs to know. */
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

/** What every error of a call tells about it. */
export interface CallFacts {
  readonly operation: ResolvedOperation;
  readonly path: string;
  readonly attempts: number;
  readonly requestIdHeader: string;
  /** Whether its token was renewed already. */
  readonly renewed?: boolean;
  /** Knows the secrets of the call. */
  readonly redactor: Redactor;
}

/** How much of the service's own message, and of one message about a field, an error repeats, in UTF-16 units. */
const MESSAGE_LIMIT = 300;
const FIELD_MESSAGE_LIMIT = 1_000;

/** How much of a request id an error repeats. */
const REQUEST_ID_LIMIT = 200;

/** The envelope of a successful answer to the body sent; throws {@link AttemptFailure} for any other. */
export function readAnswer(answer: Answer, facts: CallFacts, sent: unknown): Envelope {
  const { name } = facts.operation;
  const failure = statusFailure(answer, facts);
  if (failure) throw failure;
  if (answer.cut) {
    const message = `${name} got a response larger than \`maxResponseBytes\`. Ask for less, for example by \`per_page\`, or raise the option.`;
    const error = responseError(message, answer, facts, 'response-too-large');
    throw new AttemptFailure({ kind: 'final', outcome: 'unknown' }, error);
  }
  const read = readSuccess(answer, facts.operation, sent);
  if ('refusal' in read) throw apiFailure(answer, facts, read.refusal);
  if ('envelope' in read) return read.envelope;
  const message = `${name} got ${answer.status}, but ${read.problem}.`;
  throw new AttemptFailure({ kind: 'no-envelope' }, responseError(message, answer, facts, 'not-an-envelope'));
}

/** A response whose reading failed: it did arrive, so a create may have happened. */
export function unreadableFailure(thrown: unknown, answer: Answer, facts: CallFacts): AttemptFailure {
  const cause = facts.redactor.cause(thrown);
  const message = `${facts.operation.name} got ${answer.status}, but reading the response failed: ${cause.message}`;
  return new AttemptFailure({ kind: 'final', outcome: 'unknown' }, responseError(message, answer, facts));
}

/** How an answer failed by its status; `undefined` for a success. */
export function statusFailure(answer: Answer, facts: CallFacts): AttemptFailure | undefined {
  if (answer.status >= 400) return apiFailure(answer, facts, bodyOf(answer));
  return answer.status < 200 || answer.status >= 300 ? redirectFailure(answer, facts) : undefined;
}

/** A `ResponseError` about an answer. */
export function responseError(
  message: string,
  answer: Answer,
  facts: CallFacts,
  code: ResponseError['code'] = 'response-invalid',
): ResponseError {
  const { redactor } = facts;
  return new ResponseError(message, {
    code,
    status: answer.status,
    operation: facts.operation.name,
    attempts: facts.attempts,
    // A fresh token is in the body of an exchange, under whatever name.
    body: facts.operation.token === 'none' ? redactor.body('') : redactor.body(answer.text),
    ...requestIdOf(answer, facts),
  });
}

/** The request id of a response, where it has one, without secrets. */
export function requestIdOf(
  { headers }: Pick<Answer, 'headers'>,
  { requestIdHeader, redactor }: CallFacts,
): { readonly requestId?: string } {
  const requestId = headers.get(requestIdHeader);
  return requestId === null ? {} : { requestId: redactor.text(requestId, REQUEST_ID_LIMIT) };
}

function redirectFailure(answer: Answer, facts: CallFacts): AttemptFailure {
  const where = answer.status === 0 ? '' : ` (${answer.status})`;
  const message = `${facts.operation.name} was redirected${where}; redirects are never followed. Set \`baseUrl\` to the service's own address.`;
  return new AttemptFailure(
    { kind: 'final', outcome: 'unknown' },
    responseError(message, answer, facts, 'redirect-refused'),
  );
}

/** The largest body of an error status that is read as JSON, in UTF-16 units: no envelope of the service comes near it. */
const ERROR_BODY_LIMIT = 1_048_576;

const bodyOf = ({ text }: Answer): unknown => (text.length > ERROR_BODY_LIMIT ? undefined : parseJson(text));

function apiFailure(answer: Answer, facts: CallFacts, body: unknown): AttemptFailure {
  const envelopeCode = isObject(body) && typeof body.code === 'number' ? body.code : undefined;
  const failure = statusFailureOf(answer.status, answer.headers);
  const { retryAfter: wait } = failure;
  const { redactor } = facts;
  const details: ApiErrorDetails = {
    status: answer.status,
    operation: facts.operation.name,
    method: facts.operation.method,
    path: facts.path,
    attempts: facts.attempts,
    headers: redactor.headers(answer.headers),
    body: redactor.body(answer.text),
    ...(envelopeCode !== undefined && { envelopeCode }),
    ...requestIdOf(answer, facts),
    ...(wait !== undefined && { retryAfter: Math.ceil(wait / 1000), retryAt: new Date(Date.now() + wait) }),
  };
  const error = apiError(details, body, facts);
  if (answer.status < 400) {
    const refused = envelopeCode !== undefined && envelopeCode >= 400 && envelopeCode < 500;
    return new AttemptFailure({ kind: 'final', outcome: refused ? 'refused' : 'unknown' }, error);
  }
  return new AttemptFailure(failure, error);
}

const NO_PERMISSION = 'The token may not do this; use one of the right kind and scope.';

const NO_MCP =
  'Only tokens of scope `mcp` are taken here, no API and no login tokens: use `mcpToken(credentials, { store })` or an OAuth client.';

const RENEWED =
  'Asking for another token has not helped: it may be of another kind than this takes (`apiToken`, `mcpToken`), another login may have ended it, or something on the way removes it.';

const KEY_IN_USE =
  'The idempotency key is in use: by a create still in flight, or by one with another body, which needs a fresh key.';

/** The service's own words: of its envelope, or of an error of JSON-RPC. */
function messageIn(body: unknown): string {
  if (!isObject(body)) return '';
  const inner = isObject(body.error) ? body.error.message : undefined;
  return [body.message, inner].find((text) => typeof text === 'string') ?? '';
}

/** The class that fits the status; under a 2xx the envelope's code stands for it. */
function apiError(details: ApiErrorDetails, body: unknown, facts: CallFacts): ApiError {
  const status = details.status >= 400 ? details.status : (details.envelopeCode ?? details.status);
  const { redactor } = facts;
  const told = redactor.text(messageIn(body), MESSAGE_LIMIT);
  const say = (advice: string): string =>
    `${details.operation} failed: ${status}${told ? ` ${told}` : ''}.${advice && ` ${advice}`}`.replace('..', '.');
  switch (status) {
    case 401:
      return authenticationError(say, details, facts);
    case 403:
      return new PermissionError(say(facts.operation.token === 'mcp' ? NO_MCP : NO_PERMISSION), details);
    case 404:
      return new NotFoundError(say('The id does not exist for this account.'), details);
    case 406:
      return new NotAcceptableError(say('Something on the way removed `Accept: application/json`.'), details);
    case 409:
      return new ConflictError(say(facts.operation.token === 'mcp' ? '' : KEY_IN_USE), details);
    case 422: {
      const errors = readFieldErrors(body, (text) => redactor.text(text, FIELD_MESSAGE_LIMIT));
      return new ValidationError(say(fieldText(errors)), { ...details, errors, local: false });
    }
    case 429:
      return new RateLimitError(say(details.retryAt ? `Try again at ${details.retryAt.toISOString()}.` : ''), {
        ...details,
        bucket: facts.operation.bucket,
      });
    default:
      return status >= 500 ? new ServerError(say(''), details) : new ApiError(say(''), details);
  }
}

function authenticationError(
  say: (advice: string) => string,
  details: ApiErrorDetails,
  facts: CallFacts,
): AuthenticationError {
  if (facts.operation.token === 'none') {
    return new AuthenticationError(say('Email or password is wrong.'), { ...details, reason: 'credentials' });
  }
  if (facts.renewed) return new AuthenticationError(say(RENEWED), { ...details, reason: 'token' });
  const advice =
    facts.operation.token === 'mcp'
      ? 'The token is missing, invalid, expired or revoked; a password change ends all tokens. `mcpToken(credentials, { store })` and OAuth clients renew theirs, a text cannot be renewed.'
      : 'The token is missing, invalid, expired or revoked: each login ends the previous one, and a password change ends all tokens. Use `apiToken` where several processes share an account.';
  return new AuthenticationError(say(advice), { ...details, reason: 'token' });
}

/** Field errors in one line. */
export function fieldText(errors: ValidationError['errors']): string {
  const text = Object.entries(errors)
    .map(([field, messages]) => `${field}: ${messages.join(' ')}`)
    .join(' ');
  return text.length > FIELD_MESSAGE_LIMIT ? `${text.slice(0, FIELD_MESSAGE_LIMIT)}…` : text;
}

/** No answer: what `fetch` threw, scrubbed, and whether anything was sent. */
export function connectionFailure(thrown: unknown, facts: CallFacts): AttemptFailure {
  const notSent = surelyNotSent(thrown);
  const cause = facts.redactor.cause(thrown instanceof BodyFailure ? thrown.cause : thrown);
  // Node says no more than "fetch failed" and leaves the reason to the cause.
  const inner = cause.cause instanceof Error ? cause.cause.message : '';
  const reason = (cause.message === 'fetch failed' && inner ? inner : cause.message).trim();
  const what = notSent ? 'could not reach the service' : 'lost the connection before a complete answer arrived';
  const error = new ConnectionError(`${facts.operation.name} ${what}: ${reason}`, {
    operation: facts.operation.name,
    attempts: facts.attempts,
    cause,
  });
  return new AttemptFailure({ kind: notSent ? 'not-sent' : 'lost' }, error);
}

/** An attempt that outlasted `timeout`; one without any time is not sent. */
export function timeoutFailure(timeout: number, facts: CallFacts): AttemptFailure {
  const message = `${facts.operation.name} had no complete answer after ${timeout} ms (\`timeout\`).`;
  const error = new TimeoutError(message, {
    code: 'attempt-timeout',
    operation: facts.operation.name,
    attempts: facts.attempts,
  });
  return new AttemptFailure(timeout === 0 ? { kind: 'final', outcome: 'not-sent' } : { kind: 'lost' }, error);
}

/** An input that was refused before sending: status 422, local, no quota spent. */
export function localValidationError(
  operation: Pick<ResolvedOperation, 'name' | 'method' | 'path'>,
  errors: ValidationError['errors'],
  text: string,
): ValidationError {
  return new ValidationError(`${operation.name} was not sent: ${text}`, {
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
