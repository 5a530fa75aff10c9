/** The part of a response that is sent before a cut in the middle of its body. */
interface PartialResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

/** Thrown to cut the connection, for example by a fault rule, or after the client has disconnected. */
export class ConnectionCut extends Error {
  override readonly name = 'ConnectionCut';
  readonly partial: PartialResponse | undefined;

  constructor({ partial, ...options }: ErrorOptions & { readonly partial?: PartialResponse } = {}) {
    super('The connection was cut.', options);
    this.partial = partial;
  }

  /**
   * Returns a response whose body fails halfway, with which `fetch` resolves. Returns `undefined` if `fetch` must
   * reject.
   */
  toResponse(): Response | undefined {
    if (!this.partial) return undefined;
    const { status, headers, body: half } = this.partial;
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(half),
      pull: (controller) => controller.error(new TypeError('terminated', { cause: this })),
    });
    return new Response(body, { status, headers });
  }
}
