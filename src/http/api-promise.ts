import type { Envelope } from './envelope.ts';
import type { CallFacts } from './response-errors.ts';
import type { Answer } from './send.ts';

/** A complete successful answer. */
export interface Reply {
  readonly answer: Answer;
  readonly envelope: Envelope;
  readonly requestId: string | undefined;
  readonly attempts: number;
  /** What errors about the payload report. */
  readonly facts: CallFacts;
}

/** A payload with all that came with it. */
export interface WithResponse<T> {
  readonly data: T;
  /** Status, headers and the unread body of the answer. */
  readonly response: Response;
  /** For `mcp.send`, whose answers have none, one made of the HTTP status and the response. */
  readonly envelope: Envelope;
  /** Value of the request id header, if there was one. */
  readonly requestId: string | undefined;
  /** Requests it took. */
  readonly attempts: number;
}

/** A call under way, and what turns its answer into the payload. */
export interface PendingCall<T> {
  readonly reply: Promise<Reply>;
  readonly decode: (reply: Reply) => T | Promise<T>;
  readonly idempotencyKey: string | undefined;
}

/** Statuses whose `Response` may not have a body. */
const BODYLESS: ReadonlySet<number> = new Set([101, 204, 205, 304]);

function unread({ answer }: Reply): Response {
  const body = BODYLESS.has(answer.status) ? null : answer.text;
  const response = new Response(body, {
    status: answer.status,
    statusText: answer.response.statusText,
    headers: answer.headers,
  });
  Object.defineProperty(response, 'url', { value: answer.response.url });
  return response;
}

/**
 * One call under way. Awaited, it is the payload, which is checked only then; the other methods
 * give what came with it.
 *
 * @example
 * const { data, requestId } = await client.audiences.get(42).withResponse();
 */
export class ApiPromise<T> extends Promise<T> {
  /** On a create: the key it is sent under, known before any answer. */
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

  /** The payload, decoded once however often it is asked for. */
  #value(): Promise<T> {
    this.#decoded ??= this.#call.reply.then(this.#call.decode);
    return this.#decoded;
  }

  /** Payload, response, envelope, request id and the number of attempts. */
  async withResponse(): Promise<WithResponse<T>> {
    const [data, reply] = await Promise.all([this.#value(), this.#call.reply]);
    const { envelope, requestId, attempts } = reply;
    return { data, response: unread(reply), envelope, requestId, attempts };
  }

  /** The `Response` of a success, its body unread; errors still reject. */
  async asResponse(): Promise<Response> {
    return unread(await this.#call.reply);
  }

  // biome-ignore lint/suspicious/noThenProperty: it is a promise.
  override then<A = T, B = never>(
    resolved?: ((value: T) => A | PromiseLike<A>) | null,
    rejected?: ((reason: PromiseRejectedResult['reason']) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#value().then(resolved, rejected);
  }
}
