import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Script, Seen, Step } from './script.ts';

/** A real HTTP server on loopback that answers by a script. */
export interface ScriptedServer {
  readonly url: string;
  readonly seen: readonly Seen[];
  close(): Promise<void>;
}

const CORS = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers': 'authorization, accept, content-type, idempotency-key, x-extra',
  'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
  'access-control-expose-headers': '*',
};

const envelope = (step: Step, status: number): string =>
  JSON.stringify({
    status: status < 400 ? 'success' : 'error',
    code: status,
    message: step.message ?? 'told by the service',
    data: step.data ?? [],
    ...(step.errors !== undefined && { errors: step.errors }),
  });

async function read(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

function answer(step: Step, seen: Seen, response: ServerResponse): void {
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
  const isList = (given: Script): given is readonly Step[] => Array.isArray(given);
  return isList(script) ? { '*': script } : script;
}

/** Starts a server; the last step of each route repeats. */
export async function startScriptedServer(script: Script): Promise<ScriptedServer> {
  const routes = routesOf(script);
  const used = new Map<string, number>();
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    if (request.method === 'OPTIONS') {
      // On a reused connection Chromium would itself repeat what the script cuts.
      response.writeHead(204, { ...CORS, connection: 'close' }).end();
      return;
    }
    const body = await read(request);
    const url = request.url ?? '';
    const entry: Seen = {
      method: request.method ?? '',
      url,
      headers: Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)])),
      body: body.toString('latin1'),
      at: performance.now(),
    };
    seen.push(entry);
    const path = url.split('?')[0] ?? '';
    const route = `${entry.method} ${path}` in routes ? `${entry.method} ${path}` : '*';
    const steps = routes[route] ?? [{ status: 404 }];
    const at = used.get(route) ?? 0;
    used.set(route, at + 1);
    const step = steps[Math.min(at, steps.length - 1)] ?? {};
    setTimeout(() => answer(step, entry, response), step.delay ?? 0);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
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
