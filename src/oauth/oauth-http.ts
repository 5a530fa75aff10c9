import * as oauth from 'oauth4webapi';
import { DEFAULTS, type Failure, fetchOf, readResponse, retryDelay, statusFailureOf } from '../client/index.ts';
import { AudienceError } from '../errors/audience-error.ts';
import { ConnectionError, TimeoutError } from '../errors/call-errors.ts';
import type { CallDetails } from '../errors/error-details.ts';
import { OAuthError } from '../errors/oauth-errors.ts';
import type { RetryPolicy } from '../spec/operations.ts';
import type { JsonObject } from '../spec/wire-values.ts';
import { AbortScope, abortable } from '../util/abort.ts';
import { hiddenReason, isNotSent } from '../util/fetch-errors.ts';
import { isObject, parseJson } from '../util/json.ts';
import { isThisMachine } from '../util/loopback.ts';
import type { Redactor } from '../util/redact.ts';
import { withRetries } from '../util/retry.ts';
import type { OAuthClientOptions } from './oauth-types.ts';

export interface RequestParts {
  readonly signal: AbortSignal;
  readonly [oauth.customFetch]: (
    url: string,
    init: oauth.CustomFetchOptions<string, BodyInit | undefined>,
  ) => Promise<Response>;
  /**
   * Disables the URL check of oauth4webapi, which refuses http even on loopback. The `fetch` above checks each URL
   * instead.
   */
  readonly [oauth.allowInsecureRequests]: true;
}

/** A request to the authorization server, or to the service to find the authorization server. */
export interface OAuthRequest<T> {
  /** Name of the operation in errors, such as "Registering the client". */
  readonly name: string;
  /** Issuer or origin of the server that receives the request. */
  readonly server: string;
  readonly retry: RetryPolicy;
  readonly signal?: AbortSignal | undefined;
  execute(parts: RequestParts): Promise<T>;
}

/** Advice if a server violates a standard. */
export const ASK_OPERATOR = 'Ask the operator of the service to correct the server.';

/** Advice if another server may have responded. */
export const CHECK_BASE_URL = 'Check the base URL, or ask the operator of the service to correct the server.';

export class ErrorResponse extends Error {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;

  constructor({ status, headers }: Response, body: string) {
    super(`The response has status ${status}.`);
    this.status = status;
    this.headers = headers;
    this.body = body;
  }
}

/**
 * Milliseconds within which retries begin. The request may hold the lock of the store, for which other processes wait
 * for at most two minutes.
 */
const MAX_RETRY_TIME_MS = 60_000;

/** Sends the requests of OAuth, with the timeouts, retries and errors of this package. */
export class OAuthHttp {
  readonly redactor: Redactor;
  readonly #options: OAuthClientOptions;

  constructor(options: OAuthClientOptions, redactor: Redactor) {
    this.redactor = redactor;
    this.#options = options;
  }

  send<T>({ name, server, retry, signal, execute }: OAuthRequest<T>): Promise<T> {
    const { timeout = DEFAULTS.timeout, maxRetries = DEFAULTS.maxRetries, backoff = {} } = this.#options;
    const { maxRetryWait = DEFAULTS.maxRetryWait } = this.#options;
    const { min = DEFAULTS.backoff.min, max = DEFAULTS.backoff.max } = backoff;
    const limits = { retry, maxRetries, maxRetryWait, backoff: { min, max } };
    const retryUntil = performance.now() + MAX_RETRY_TIME_MS;
    const subject = `${name} at ${this.redactor.text(server)}`;
    let attempts = 0;
    let failure: Failure;
    const attempt = async (): Promise<T> => {
      const call = { operation: name, attempts: ++attempts };
      const message = `${subject} failed: no complete response arrived within ${timeout} ms (\`timeout\`).`;
      const reason = (): Error => new TimeoutError(message, { ...call, code: 'attempt-timeout' });
      const scope = new AbortScope({ parents: [signal], ms: timeout, reason });
      const parts = {
        signal: scope.signal,
        [oauth.customFetch]: this.#fetch,
        [oauth.allowInsecureRequests]: true,
      } as const;
      try {
        return await abortable(execute(parts), scope.signal);
      } catch (error) {
        signal?.throwIfAborted();
        failure = failureOf(error);
        throw toError(error, subject, call, this.redactor);
      } finally {
        scope.dispose();
      }
    };
    const delayAfter = (_: Error, retries: number): number | undefined =>
      retryDelay(failure, retries, { ...limits, timeLeft: retryUntil - performance.now() });
    return withRetries(attempt, { delayAfter, signal });
  }

  /**
   * Throws unless the client may send codes and tokens to a URL: over https, or over http to loopback or with
   * `allowInsecure`, without a user name or password.
   */
  checkUrl(address = ''): URL {
    const url = URL.canParse(address) ? new URL(address) : undefined;
    const mayUseHttp = url?.protocol === 'http:' && (this.#options.allowInsecure || isThisMachine(url));
    if (url && (url.protocol === 'https:' || mayUseHttp) && url.username === '' && url.password === '') return url;
    const missing = address === '' && 'lack `authorization_endpoint`';
    const problem = missing || (url ? `contain a URL on ${url.protocol}//${url.host}` : 'contain an invalid URL');
    const message = `The metadata of the service or its authorization server ${problem}. URLs in the metadata must use https (http only on this machine, or with \`allowInsecure\`) and contain no user name or password.`;
    throw new OAuthError(message, { error: 'invalid_response', advice: ASK_OPERATOR });
  }

  readonly #fetch: RequestParts[typeof oauth.customFetch] = async (address, { body = null, ...init }) => {
    const fetch = fetchOf(this.#options.fetch);
    const { href, host } = this.checkUrl(address);
    const response = await fetch(href, { ...init, body });
    const { text, isTruncated } = await readResponse(response, DEFAULTS.maxResponseBytes);
    const message = `The response of ${host} is larger than ${DEFAULTS.maxResponseBytes} bytes.`;
    if (isTruncated) throw new OAuthError(message, { error: 'invalid_response', advice: CHECK_BASE_URL });
    if (!response.ok) throw new ErrorResponse(response, text);
    const { status, statusText, headers } = response;
    return new Response(text === '' ? null : text, { status, statusText, headers });
  };
}

const isProtocolError = (error: unknown): boolean =>
  error instanceof oauth.OperationProcessingError || error instanceof oauth.UnsupportedOperationError;

function failureOf(error: unknown): Failure {
  if (error instanceof ErrorResponse) return statusFailureOf(error.status, error.headers);
  if (TimeoutError.isInstance(error)) return { kind: 'lost' };
  if (AudienceError.isInstance(error) || isProtocolError(error)) return { kind: 'final', outcome: 'refused' };
  return { kind: isNotSent(error) ? 'not-sent' : 'lost' };
}

/**
 * Converts an error to the error for the user.
 *
 * @param subject Subject of the message: the operation and the server.
 */
export function toError(error: unknown, subject: string, call: CallDetails, redactor: Redactor): AudienceError {
  if (AudienceError.isInstance(error)) return error;
  if (error instanceof oauth.AuthorizationResponseError) return refusal(error, subject, redactor);
  if (error instanceof ErrorResponse) return refusal(parseJson(error.body), subject, redactor, error.status);
  const cause = redactor.cause(error);
  if (isProtocolError(error)) {
    const message = `${subject} failed because the response violates OAuth: ${cause.message}.`;
    return new OAuthError(message, { error: 'invalid_response', advice: ASK_OPERATOR });
  }
  const reason = cause.cause instanceof Error ? cause.cause : cause;
  const message = hiddenReason(reason, 'the service') ?? reason.message;
  return new ConnectionError(`${subject} failed: ${message}`, { ...call, cause });
}

/** Maximum number of characters of an `error_description` in an error message. */
const MAX_DESCRIPTION_LENGTH = 300;

/** Returns the error for a refusal of the server (RFC 6749, sections 4.1.2.1 and 5.2). */
function refusal(body: unknown, subject: string, redactor: Redactor, status?: number): OAuthError {
  const { error, error_description: description }: JsonObject = isObject(body) ? body : {};
  const fallback = status === 429 || status === 503 ? 'temporarily_unavailable' : 'server_error';
  const code = redactor.text(typeof error === 'string' ? error : fallback);
  // Let the redactor truncate the description: it would not recognize a truncated token at the end of the text.
  const reason = typeof description === 'string' ? `: ${redactor.text(description, MAX_DESCRIPTION_LENGTH)}` : '';
  const isTransient = status !== undefined && (status >= 500 || status === 429);
  const advice = isTransient
    ? 'Stored tokens have not changed. Try again later.'
    : 'Sign in again. If the server refuses again, ask its operator.';
  const failure = status === undefined ? code : `${status} ${code}`;
  const message = `${subject} failed: ${failure}${reason.replace(/\.$/, '')}.`;
  return new OAuthError(message, { error: code, ...(status !== undefined && { status }), advice });
}
