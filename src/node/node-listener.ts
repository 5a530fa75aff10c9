import type { IncomingMessage, ServerResponse } from 'node:http';
import type { WebhookReceiver } from '../webhooks/receiver.ts';

/** A request that a body parser of Express may have been at. */
type ParsedRequest = IncomingMessage & { readonly body?: unknown };

const ALREADY_PARSED =
  'The body of a webhook was parsed before the receiver could read it, and signatures are over its raw bytes: put the receiver before `express.json()`, or `express.raw({ type: "application/json" })` on its route; in Fastify, remove its content type parsers for the route.';

/**
 * A receiver as a listener for `node:http`, as a route of Express 5, and, by `request.raw` and
 * `reply.raw`, of Fastify 5.
 *
 * @example
 * app.post('/webhooks', toNodeListener(receiver)); // before express.json()
 */
export function toNodeListener(
  receiver: WebhookReceiver,
): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    void respond(receiver, request, response);
  };
}

async function respond(receiver: WebhookReceiver, incoming: ParsedRequest, outgoing: ServerResponse): Promise<void> {
  try {
    const { status, headers } = await answerOf(receiver, incoming);
    // Something else may have answered, or hung up, meanwhile.
    if (outgoing.headersSent || outgoing.destroyed) return;
    // A body that was refused is not read to its end: the connection cannot be used again.
    const rest = incoming.complete || incoming.httpVersionMajor > 1 ? {} : { connection: 'close' };
    outgoing.writeHead(status, { ...Object.fromEntries(headers), ...rest }).end();
  } catch (error) {
    receiver.logger.error('A webhook could not be answered.', error);
    outgoing.destroy();
  }
}

async function answerOf(receiver: WebhookReceiver, incoming: ParsedRequest): Promise<Response> {
  // There are methods that no `Request` can have.
  if (incoming.method !== 'POST') return new Response(null, { status: 405, headers: { allow: 'POST' } });
  const body = rawBodyOf(incoming);
  if (body !== undefined) return receiver.handle(requestOf(incoming, body));
  receiver.logger.error(ALREADY_PARSED);
  return new Response(null, { status: 500 });
}

/** The body as bytes or as a stream; `undefined` where a parser has taken it. */
function rawBodyOf(request: ParsedRequest): Uint8Array<ArrayBuffer> | string | IncomingMessage | undefined {
  const { body } = request;
  if (body instanceof Uint8Array) return Uint8Array.from(body);
  if (typeof body === 'string') return body;
  return request.readableDidRead ? undefined : request;
}

function requestOf({ headers }: IncomingMessage, body: Uint8Array<ArrayBuffer> | string | IncomingMessage): Request {
  // Those of HTTP/2 that begin with a colon are no headers.
  const entries = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined || name.startsWith(':') ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
  );
  const bytes = typeof body === 'string' || body instanceof Uint8Array ? body : streamOf(body);
  return new Request('http://localhost/', { method: 'POST', headers: entries, body: bytes, ...{ duplex: 'half' } });
}

/** Reads as it is read. Given up, the request is left as it is, so that it can still be answered. */
function streamOf(request: IncomingMessage): ReadableStream<Uint8Array> {
  const chunks: AsyncIterator<Uint8Array, undefined> = request[Symbol.asyncIterator]();
  // Asked for at once: what a listener of somebody else's sets flowing would be gone in the next tick.
  let first: Promise<IteratorResult<Uint8Array, undefined>> | undefined = chunks.next();
  first.catch(() => {});
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await (first ?? chunks.next());
      first = undefined;
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
}
