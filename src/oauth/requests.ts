import {
  allowInsecureRequests,
  customFetch,
  OperationProcessingError,
  ResponseBodyError,
  UnsupportedOperationError,
  WWWAuthenticateChallengeError,
} from 'oauth4webapi';
import { AudienceError } from '../errors/audience-error.ts';
import { ConnectionError, TimeoutError } from '../errors/call-errors.ts';
import { OAuthError } from '../errors/oauth-errors.ts';
import type { Settings } from '../http/request-options.ts';
import { decide, type Failure, statusFailureOf } from '../http/retry-policy.ts';
import { readBody, surelyNotSent } from '../http/send.ts';
import type { RetryPolicy } from '../spec/operations.ts';
import { AbortScope, abortable, sleep } from '../util/abort.ts';
import { isObject, parseJson } from '../util/json.ts';
import { isThisMachine } from '../util/loopback.ts';
import type { Redactor } from '../util/redact.ts';

/** The `fetch` that oauth4webapi calls; it names every part, also those it has nothing for. */
type PartialFetch = (
  url: string,
  init: Omit<RequestInit, 'body'> & { readonly body?: BodyInit | null | undefined },
) => Promise<Response>;

/** What oauth4webapi is given for each request. */
export interface RequestParts {
  readonly signal: AbortSignal;
  readonly [customFetch]: PartialFetch;
  /** `http` is judged address by address, in the `fetch` above. */
  readonly [allowInsecureRequests]: true;
}

/** One exchange with the authorization server, or with the service about it. */
export interface Exchange<T> {
  /** For errors: "The registration", for instance. */
  readonly what: string;
  readonly retry: RetryPolicy;
  readonly signal?: AbortSignal | undefined;
  /** Sends and reads the whole answer, by oauth4webapi. */
  work(parts: RequestParts): Promise<T>;
}

type Options = Pick<Settings, 'maxResponseBytes' | 'fetch' | 'timeout' | 'maxRetries' | 'maxRetryWait' | 'backoff'>;

/** An answer whose status is a failure, of a request that oauth4webapi does not know. */
export class UnusableAnswer extends Error {
  override readonly name = 'UnusableAnswer';
  readonly response: Response;
  constructor(response: Response) {
    super(`The answer has status ${response.status}.`);
    this.response = response;
  }
}

/** How one attempt failed: for the decision about a repeat, and for the user. */
interface Attempted {
  readonly failure: Failure;
  readonly error: AudienceError;
}

/** Requests to the authorization server: timeouts, repeats and errors as everywhere in this package. */
export class Requests {
  readonly redactor: Redactor;
  readonly #options: Options;
  readonly #fetch: PartialFetch;
  readonly #allowInsecure: boolean;

  constructor(options: Options, redactor: Redactor, allowInsecure: boolean) {
    this.#options = options;
    this.redactor = redactor;
    this.#allowInsecure = allowInsecure;
    this.#fetch = async (address, { body, ...init }) => {
      const response = await options.fetch(this.checkAddress(address).href, {
        ...init,
        ...(body !== undefined && { body }),
      });
      return bounded(response, options.maxResponseBytes);
    };
  }

  /** An address that codes and tokens may go to: https, or this machine. */
  checkAddress(address: string): URL {
    const url = new URL(address);
    if (url.username !== '' || url.password !== '') {
      const message = `The documents of the service name an address of ${url.host} with a user in it.`;
      throw new OAuthError(message, { error: 'invalid_response' });
    }
    if (url.protocol === 'https:') return url;
    if (url.protocol === 'http:' && (isThisMachine(url) || this.#allowInsecure)) return url;
    const message = `The documents of the service name the address ${url.protocol}//${url.host}: codes and tokens go over https only.`;
    throw new OAuthError(message, { error: 'invalid_response' });
  }

  /** Makes an exchange, and repeats it as far as that is safe. */
  async perform<T>(exchange: Exchange<T>): Promise<T> {
    const { maxRetries, maxRetryWait, backoff } = this.#options;
    const until = performance.now() + REPEAT_WITHIN;
    for (let retries = 0; ; retries++) {
      const result = await this.#attempt(exchange);
      if ('value' in result) return result.value;
      const timeLeft = until - performance.now();
      const facts = { retry: exchange.retry, retries, maxRetries, maxRetryWait, backoff, timeLeft, ...ONCE };
      const decision = decide(result.failure, facts, Math.random);
      if (!decision.repeat) throw result.error;
      await sleep(decision.wait, exchange.signal);
    }
  }

  async #attempt<T>({ what, work, signal }: Exchange<T>): Promise<Attempted | { readonly value: T }> {
    signal?.throwIfAborted();
    const { timeout } = this.#options;
    const life = new AbortScope({ parent: signal, ms: timeout });
    try {
      const parts = { signal: life.signal, [customFetch]: this.#fetch, [allowInsecureRequests]: true } as const;
      return { value: await abortable(work(parts), life.signal) };
    } catch (error) {
      signal?.throwIfAborted();
      if (!life.signal.aborted) return await this.#judge(what, error);
      const message = `${what} had no complete answer after ${timeout} ms (\`timeout\`).`;
      return {
        failure: { kind: 'lost' },
        error: new TimeoutError(message, { code: 'attempt-timeout', operation: what, attempts: 1 }),
      };
    } finally {
      life.dispose();
    }
  }

  /** What an error of oauth4webapi, or of `fetch`, means. */
  async #judge(what: string, error: unknown): Promise<Attempted> {
    if (AudienceError.isInstance(error)) return { failure: FINAL, error };
    const response = responseOf(error);
    if (response) return this.#refusal(what, error, response);
    const cause = this.redactor.cause(error);
    if (error instanceof OperationProcessingError || error instanceof UnsupportedOperationError) {
      const message = `${what} failed: the answer is not as its standard has it: ${cause.message}.`;
      return { failure: FINAL, error: new OAuthError(message, { error: 'invalid_response' }) };
    }
    const notSent = surelyNotSent(error);
    const inner = cause.cause instanceof Error ? cause.cause.message : cause.message;
    const message = `${what} ${notSent ? 'could not be sent' : 'lost its connection'}: ${inner}`;
    return {
      failure: { kind: notSent ? 'not-sent' : 'lost' },
      error: new ConnectionError(message, { operation: what, attempts: 1, cause }),
    };
  }

  async #refusal(what: string, thrown: unknown, response: Response): Promise<Attempted> {
    const { status, headers } = response;
    const body = thrown instanceof ResponseBodyError ? thrown.cause : await bodyOf(response);
    const named = isObject(body) && typeof body.error === 'string' ? body.error : undefined;
    const told = isObject(body) && typeof body.error_description === 'string' ? `: ${body.error_description}` : '';
    const reason = named ?? (status === 429 || status === 503 ? 'temporarily_unavailable' : 'server_error');
    const advice = status >= 500 || status === 429 ? ' Nothing that is stored has changed; try again later.' : '';
    // Cut by the redactor: a text that is cut first may end in a part of a token.
    const shown = this.redactor.text(told, SHOWN_DESCRIPTION);
    const message = this.redactor.text(`${what} failed: ${status} ${reason}${shown}.${advice}`).replace('..', '.');
    const error = new OAuthError(message, { error: this.redactor.text(reason), status });
    return { failure: statusFailureOf(status, headers), error };
  }
}

/** Returns a response whose body has arrived, and is not larger than `maxBytes`. */
async function bounded(response: Response, maxBytes: number): Promise<Response> {
  if (!response.body) return response;
  const { text, cut } = await readBody(response, maxBytes);
  if (cut) throw new OAuthError(`The response is larger than ${maxBytes} bytes.`, { error: 'invalid_response' });
  const { status, statusText, headers } = response;
  return new Response(text, { status, statusText, headers });
}

/** The longest part of an `error_description` that an error shows, in characters. */
const SHOWN_DESCRIPTION = 300;

const FINAL: Failure = { kind: 'final', outcome: 'refused' };

/** What the decision about a repeat asks beside, and plays no part here. */
const ONCE = {
  renewable: false,
  mayHaveArrived: false,
  onConflict: 'throw',
  conflicts: 0,
  conflictFor: 0,
} as const;

/** Repeats begin within this time: others wait for the store meanwhile, and do so for two minutes at most. Milliseconds. */
const REPEAT_WITHIN = 60_000;

/** The answer that oauth4webapi refused for its status. */
function responseOf(error: unknown): Response | undefined {
  if (error instanceof UnusableAnswer) return error.response;
  if (error instanceof ResponseBodyError || error instanceof WWWAuthenticateChallengeError) return error.response;
  return error instanceof OperationProcessingError && error.cause instanceof Response ? error.cause : undefined;
}

async function bodyOf(response: Response): Promise<unknown> {
  try {
    return parseJson(await response.text());
  } catch {
    return undefined;
  }
}
