import { v4 as uuid } from 'uuid';
import { AudienceError, withDetails } from '../../errors/audience-error.ts';
import { ResponseError } from '../../errors/call-errors.ts';
import type { CreateOutcome } from '../../errors/error-details.ts';
import type { OperationName, OperationOverride, ResolvedOperation } from '../../spec/operations.ts';
import type { Envelope } from '../../spec/wire-values.ts';
import { atCallSite } from '../../util/call-site.ts';
import { valueAt } from '../../util/json.ts';
import type { Decode, DecodeContext } from '../schemas/decode.ts';
import type { SuccessResponse } from './attempt.ts';
import { execute } from './call.ts';
import { type CallInput, CallRecord } from './call-record.ts';
import type { ClientState } from './client-state.ts';
import type { Settings } from './request-options.ts';
import { responseError } from './response-errors.ts';

/** The input of a call: what to send, and how to decode `data`. */
export interface TransportInput<T> extends CallInput {
  readonly decode: Decode<T>;
}

/** A call in progress, with the decoder of its payload. */
export interface PendingCall<T> {
  readonly call: CallRecord;
  readonly response: Promise<SuccessResponse>;
  readonly decode: Decode<T>;
}

/** Makes the calls of every namespace. */
export class Transport {
  readonly state: ClientState;
  readonly settings: Settings;

  /** @param state State that transports with other settings may share. */
  constructor(state: ClientState, settings: Settings) {
    this.state = state;
    this.settings = settings;
  }

  call<T>(operation: OperationName | ResolvedOperation, input: TransportInput<T>): ApiPromise<T> {
    return new ApiPromise(this.start(operation, input));
  }

  /** Starts a call, for subclasses of {@link ApiPromise}. */
  start<T>(operation: OperationName | ResolvedOperation, input: TransportInput<T>): PendingCall<T> {
    const { state, settings } = this;
    const resolved = typeof operation === 'string' ? settings.operations[operation] : operation;
    const key = resolved.retry === 'idempotency-key' ? (input.options?.idempotencyKey ?? uuid()) : undefined;
    const call = new CallRecord({ state, settings, operation: resolved, input, key });
    return { call, response: execute(call), decode: input.decode };
  }
}

/** A payload with its response. */
export interface WithResponse<T> {
  /** The payload, which awaiting the call returns. */
  readonly data: T;
  /** Status, headers and the unread body. */
  readonly response: Response;
  /**
   * The envelope. For `mcp.send`, whose responses have no envelope, the client creates one from the HTTP status and the
   * response.
   */
  readonly envelope: Envelope;
  /** Value of the request id header, if the response has this header. */
  readonly requestId: string | undefined;
  /** Number of requests sent. */
  readonly attempts: number;
}

/**
 * The promise of a call. It resolves with the decoded payload. `withResponse` also returns the response; `asResponse`
 * returns only the response, without decoding the payload.
 *
 * @example
 * const { data, requestId } = await client.audiences.get(42).withResponse();
 */
export class ApiPromise<T> extends Promise<T> {
  /** The idempotency key of a create request, available before any response. */
  readonly idempotencyKey: string | undefined;
  readonly #pending: PendingCall<T>;
  #payload: Promise<T> | undefined;

  /** @internal */
  constructor(pending: PendingCall<T>) {
    // The state of this promise is unused, because the `catch` and `finally` of `Promise` call `then`.
    super(() => {});
    this.#pending = pending;
    this.idempotencyKey = pending.call.key;
  }

  static override readonly [Symbol.species] = Promise;

  /**
   * Current outcome of a create request; `undefined` for other operations. After an abort, `unknown` means that the
   * request may have taken effect.
   */
  get outcome(): CreateOutcome | undefined {
    const { key, outcome } = this.#pending.call;
    return key === undefined ? undefined : outcome;
  }

  /** Returns payload, response, envelope, request id and the number of attempts. */
  async withResponse(): Promise<WithResponse<T>> {
    const data = await this;
    const received = await this.#pending.response;
    const { settings, attempts } = this.#pending.call;
    const requestId = received.headers.get(settings.requestIdHeader) ?? undefined;
    return { data, response: unreadResponse(received), envelope: received.envelope, requestId, attempts };
  }

  /**
   * Returns a successful `Response` with its body unread. For any other response, rejects with the error of the call.
   */
  async asResponse(): Promise<Response> {
    return unreadResponse(await this.#pending.response);
  }

  // biome-ignore lint/suspicious/noThenProperty: it is a promise.
  override then<A = T, B = never>(
    resolved?: ((value: T) => A | PromiseLike<A>) | null,
    rejected?: ((reason: PromiseRejectedResult['reason']) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    // Decode the payload once, even if it is awaited several times.
    this.#payload ??= decodePayload(this.#pending);
    return this.#payload.then(resolved, rejected);
  }
}

/** Statuses for which the `Response` constructor refuses a body. */
const BODYLESS_STATUSES: ReadonlySet<number> = new Set([101, 204, 205, 304]);

function unreadResponse({ status, headers, text, response }: SuccessResponse): Response {
  const body = BODYLESS_STATUSES.has(status) ? null : text;
  const unread = new Response(body, { status, statusText: response.statusText, headers });
  Object.defineProperty(unread, 'url', { value: response.url });
  return unread;
}

async function decodePayload<T>({ call, response, decode }: PendingCall<T>): Promise<T> {
  const context = new ResponseContext(call, await response);
  try {
    const adapt = call.operation.override?.data;
    const { envelope } = context;
    return await decode(adapt ? await adaptData(adapt, context) : envelope.data, context);
  } catch (error) {
    const isOwn = AudienceError.isInstance(error);
    const message = isOwn ? '' : `reading its \`data\` failed: ${call.redactor.cause(error).message}`;
    throw atCallSite(isOwn ? error : context.fail(message), call.site);
  }
}

/** Applies the user's `data` override: a function, or a path. */
async function adaptData(
  adapt: Exclude<OperationOverride['data'], undefined>,
  context: ResponseContext,
): Promise<unknown> {
  const { envelope } = context;
  if (typeof adapt === 'string') {
    const data = valueAt(envelope, adapt.split('.'));
    if (data === undefined) throw context.fail(`the envelope has no \`${adapt}\` (\`data\` of the override)`);
    return data;
  }
  try {
    return await adapt(envelope.data, envelope);
  } catch (error) {
    throw context.overrideFailed(error);
  }
}

/** Maximum number of unexpected fields that a client logs. A service with many differences would fill the log. */
const MAX_LOGGED_FIELDS = 10;

/** Creates the errors and log lines about the payload of a response. */
class ResponseContext implements DecodeContext {
  readonly envelope: Envelope;
  readonly validation: 'lenient' | 'strict';
  readonly #call: CallRecord;
  readonly #response: SuccessResponse;

  constructor(call: CallRecord, response: SuccessResponse) {
    this.envelope = response.envelope;
    this.validation = call.settings.validation;
    this.#call = call;
    this.#response = response;
  }

  /** Returns the error for a payload that the client cannot decode. */
  fail(problem: string): ResponseError {
    const message = `${this.#call.operation.name} succeeded, but ${problem}.`;
    return this.#withOutcome(responseError(message, this.#response, this.#call));
  }

  /** Returns the error for a `data` override that threw. */
  overrideFailed(thrown: unknown): ResponseError {
    const { operation, redactor } = this.#call;
    const cause = redactor.cause(thrown);
    const message = `\`operations["${operation.name}"].data\` threw ${cause.name} for the data of a 2xx response: ${cause.message}`;
    const advice = 'Correct the code of this function.';
    const error = responseError(message, this.#response, this.#call, 'callback-failed', advice);
    return this.#withOutcome(new ResponseError(error.message, { ...error, cause }));
  }

  /** Logs an unexpected field of a request or a response, once per field and kind of resource. */
  warn(kind: string, field: string, problem: string): void {
    const { operation, settings, state } = this.#call;
    const { loggedFields } = state;
    if (loggedFields.size >= MAX_LOGGED_FIELDS || loggedFields.has(`${kind}.${field}`)) return;
    loggedFields.add(`${kind}.${field}`);
    const last = loggedFields.size === MAX_LOGGED_FIELDS ? ' The client does not log further fields that differ.' : '';
    const message = `${operation.name}: \`${field}\` ${problem}.${last}`;
    settings.logger.warn(message, { operation: operation.name, field });
  }

  #withOutcome(error: ResponseError): ResponseError {
    const { key } = this.#call;
    if (key === undefined) return error;
    return withDetails(
      error,
      { idempotencyKey: key, outcome: 'done' },
      'The service created the resource: do not repeat the request.',
    );
  }
}
