import type { Call } from './call.ts';
import type { Envelope } from './envelope.ts';
import type { ReceivedResponse } from './send.ts';

/** A complete successful response, and the call that it belongs to. */
export interface Reply {
  readonly response: ReceivedResponse;
  readonly envelope: Envelope;
  readonly call: Call;
}

/** A payload with its response. */
export interface WithResponse<T> {
  readonly data: T;
  /** Status, headers and the unread body. */
  readonly response: Response;
  /** For `mcp.send`, whose responses have no envelope, one made of the HTTP status and the response. */
  readonly envelope: Envelope;
  /** Value of the request id header, if there was one. */
  readonly requestId: string | undefined;
  /** Requests sent. */
  readonly attempts: number;
}

/** A call in progress, and the function that turns its response into the payload. */
export interface PendingCall<T> {
  readonly reply: Promise<Reply>;
  readonly decode: (reply: Reply) => T | Promise<T>;
  readonly idempotencyKey: string | undefined;
}

/** Statuses whose `Response` may not have a body. */
const BODYLESS_STATUSES: ReadonlySet<number> = new Set([101, 204, 205, 304]);

/** Returns the response with its body unread. */
function unreadResponse({ response: { status, headers, text, response } }: Reply): Response {
  const body = BODYLESS_STATUSES.has(status) ? null : text;
  const unread = new Response(body, { status, statusText: response.statusText, headers });
  Object.defineProperty(unread, 'url', { value: response.url });
  return unread;
}

/**
 * One call in progress. Awaited, it resolves with the payload, which is parsed and checked only then; the other methods
 * return the response.
 *
 * @example
 * const { data, requestId } = await client.audiences.get(42).withResponse();
 */
export class ApiPromise<T> extends Promise<T> {
  /** The idempotency key of a create, known before any response. */
  readonly idempotencyKey: string | undefined;
  readonly #call: PendingCall<T>;
  #decoded: Promise<T> | undefined;

  /** @internal */
  constructor(call: PendingCall<T>) {
    // The promise's own state is never seen: `catch` and `finally` of the platform call `then`.
    super(() => {});
    this.#call = call;
    this.idempotencyKey = call.idempotencyKey;
  }

  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  /** Decodes the payload once, however often it is awaited. */
  #value(): Promise<T> {
    this.#decoded ??= this.#call.reply.then(this.#call.decode);
    return this.#decoded;
  }

  /** Payload, response, envelope, request id and the number of attempts. */
  async withResponse(): Promise<WithResponse<T>> {
    const [data, reply] = await Promise.all([this.#value(), this.#call.reply]);
    const { envelope, response, call } = reply;
    const requestId = response.headers.get(call.settings.requestIdHeader) ?? undefined;
    return { data, response: unreadResponse(reply), envelope, requestId, attempts: call.attempts };
  }

  /** The `Response` of a success, its body unread; errors still reject. */
  async asResponse(): Promise<Response> {
    return unreadResponse(await this.#call.reply);
  }

  // biome-ignore lint/suspicious/noThenProperty: it is a promise.
  override then<A = T, B = never>(
    resolved?: ((value: T) => A | PromiseLike<A>) | null,
    rejected?: ((reason: PromiseRejectedResult['reason']) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#value().then(resolved, rejected);
  }
}
