import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pattern, type Script, type Seen, type Step } from './script.ts';

/** An HTTP server on loopback that responds by a script. */
export interface ScriptedServer {
  readonly url: string;
  readonly seen: readonly Seen[];
  close(): Promise<void>;
}

const CORS = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers': 'authorization, accept, content-type, idempotency-key, range, x-extra',
  'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
  'access-control-expose-headers': '*',
};

const envelope = (step: Step, status: number): string =>
  JSON.stringify({
    status: status < 400 ? 'success' : 'error',
    code: status,
    message: step.message ?? 'sent by the service',
    data: step.data ?? [],
    ...(step.errors !== undefined && { errors: step.errors }),
  });

/** How long the server stops reading, in milliseconds. */
const STALL = 600;

/** Reads the body of a request; returns what has arrived if the connection is closed before its end. */
function read(request: IncomingMessage, upload: Step['upload']): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let left = upload ? Number(request.headers['content-length']) / 2 : Number.POSITIVE_INFINITY;
  return new Promise((resolve) => {
    request.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      left -= chunk.length;
      if (left > 0) return;
      left = Number.POSITIVE_INFINITY;
      if (upload === 'cut') {
        request.socket.destroy();
        // Now: the client may learn of it earlier than this server.
        resolve(Buffer.concat(chunks));
      }
      request.pause();
      // Read on later: a socket that is not read does not notice that the client has closed it.
      setTimeout(() => request.resume(), STALL);
    });
    request.once('close', () => resolve(Buffer.concat(chunks)));
    request.once('end', () => resolve(Buffer.concat(chunks)));
    request.on('error', () => {});
  });
}

/** Returns a body as a string. A large one is replaced by its length, because tests receive all bodies as JSON. */
const bodyText = (body: Buffer): string => (body.length > 2 ** 20 ? `${body.length} bytes` : body.toString('latin1'));

/**
 * Sends `size` bytes of the pattern, or those from the requested offset. With a fault, sends half of them, then cuts or
 * stalls.
 */
function sendBytes(step: Step, seen: Seen, response: ServerResponse, size: number): void {
  const from = Number(/^bytes=(\d+)-$/.exec(seen.headers.range ?? '')?.[1] ?? 0);
  const body = pattern(size).subarray(from);
  response.writeHead(step.status ?? (from > 0 ? 206 : 200), {
    'content-length': body.length,
    ...(from > 0 && { 'content-range': `bytes ${from}-${size - 1}/${size}` }),
    ...CORS,
    ...step.headers,
  });
  if (!step.fault) response.end(body);
  else response.write(body.subarray(0, body.length / 2), () => step.fault === 'cut-body' && response.destroy());
}

function answer(step: Step, seen: Seen, response: ServerResponse): void {
  if (step.bytes !== undefined && !step.fault?.match(/^(?:cut|stall)$/)) {
    sendBytes(step, seen, response, step.bytes);
    return;
  }
  if (step.fault === 'stall') return;
  if (step.fault === 'cut') {
    response.destroy();
    return;
  }
  const accepted = step.bearer === undefined || seen.headers.authorization === `Bearer ${step.bearer}`;
  const status = accepted ? (step.status ?? 200) : 401;
  const text = step.text ?? envelope(step, status);
  response.writeHead(status, { 'content-type': 'application/json', ...CORS, ...step.headers });
  if (step.fault === 'stall-body') {
    response.write(text.slice(0, 5));
  } else if (step.fault === 'cut-body') {
    response.write(text.slice(0, 5));
    setTimeout(() => response.destroy(), 20);
  } else {
    response.end(text);
  }
}

function routesOf(script: Script): Readonly<Record<string, readonly Step[]>> {
  const isList = (value: Script): value is readonly Step[] => Array.isArray(value);
  return isList(script) ? { '*': script } : script;
}

/** Starts a server. The last step of each route applies to all later requests of the route. */
export async function startScriptedServer(script: Script): Promise<ScriptedServer> {
  const routes = routesOf(script);
  const used = new Map<string, number>();
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    if (request.method === 'OPTIONS') {
      // Chromium retries a request that is cut on a reused connection, so close the connection of the preflight.
      response.writeHead(204, { ...CORS, connection: 'close' }).end();
      return;
    }
    const url = request.url ?? '';
    const path = url.split('?')[0] ?? '';
    const named = `${request.method} ${path}`;
    const route = named in routes ? named : '*';
    const steps = routes[route] ?? [{ status: 404 }];
    const at = used.get(route) ?? 0;
    used.set(route, at + 1);
    const step = steps[Math.min(at, steps.length - 1)] ?? {};
    const entry: Seen = {
      method: request.method ?? '',
      url,
      headers: Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)])),
      body: bodyText(await read(request, step.upload)),
      at: performance.now(),
    };
    seen.push(entry);
    if (!request.socket.destroyed) setTimeout(() => answer(step, entry, response), step.delay ?? 0);
  });
  await new Promise<void>((resolve) => server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 }, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
