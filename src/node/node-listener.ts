import type { IncomingMessage, ServerResponse } from 'node:http';
import type { WebhookReceiver } from '../webhooks/index.ts';

/** A request whose body a parser, for example the parser of Express, may have read. */
type ParsedRequest = IncomingMessage & { readonly body?: unknown; readonly rawBody?: unknown };

const ALREADY_PARSED =
  'The body of a webhook was parsed before the receiver could read it, but signatures cover its raw bytes. Put the receiver before `express.json()`, or use `express.raw({ type: "application/json" })` on its route; in NestJS, set `rawBody: true`; in Fastify, remove the content type parsers of the route.';

/**
 * Converts a receiver to a listener for `node:http`, which is also a route handler for Express 5. For Fastify 5, call
 * the listener with `request.raw` and `reply.raw`.
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
    const { status, headers } = await handle(receiver, incoming);
    // Do not respond if another listener has responded, or if the connection is closed.
    if (outgoing.headersSent || outgoing.destroyed) return;
    // Close an HTTP/1 connection whose request body was not read, because it cannot be reused.
    const close = incoming.complete || incoming.httpVersionMajor > 1 ? {} : { connection: 'close' };
    outgoing.writeHead(status, { ...Object.fromEntries(headers), ...close }).end();
  } catch (error) {
    receiver.logger.error('Responding to a webhook failed.', error);
    outgoing.destroy();
  }
}

async function handle(receiver: WebhookReceiver, incoming: ParsedRequest): Promise<Response> {
  // Check the method here: `toRequest` always creates a POST request, because `Request` does not allow every method.
  if (incoming.method !== 'POST') return receiver.handle(new Request('http://localhost/'));
  const body = rawBodyOf(incoming);
  if (body !== undefined) return receiver.handle(toRequest(incoming, body));
  receiver.logger.error(ALREADY_PARSED);
  return new Response(null, { status: 500 });
}

/** Returns the raw body as bytes, a string or a stream. Returns `undefined` if the body was already parsed or read. */
function rawBodyOf(request: ParsedRequest): Uint8Array<ArrayBuffer> | string | ReadableStream<Uint8Array> | undefined {
  const { rawBody, body } = request;
  // NestJS with `rawBody: true`, Cloud Functions and Firebase parse the body but keep its bytes in `rawBody`.
  if (rawBody instanceof Uint8Array) return Uint8Array.from(rawBody);
  if (body instanceof Uint8Array) return Uint8Array.from(body);
  if (typeof body === 'string') return body;
  return request.readableDidRead ? undefined : streamOf(request);
}

function toRequest({ headers }: IncomingMessage, body: NonNullable<ReturnType<typeof rawBodyOf>>): Request {
  // Omit pseudo-headers of HTTP/2, which begin with a colon: `Request` does not accept them.
  const entries = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined || name.startsWith(':') ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
  );
  return new Request('http://localhost/', { method: 'POST', headers: entries, body, ...{ duplex: 'half' } });
}

/**
 * Returns the body as a stream. Cancelling the stream does not close the connection, so that the listener can still
 * respond.
 */
function streamOf(request: IncomingMessage): ReadableStream<Uint8Array> {
  const chunks: AsyncIterator<Uint8Array, undefined> = request[Symbol.asyncIterator]();
  // Start reading now: if another listener started reading in the next tick, the first chunks would be lost.
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
