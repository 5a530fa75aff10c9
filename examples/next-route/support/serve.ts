import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';

type Handler = (request: Request) => Promise<Response>;

/** The exports of a route module, such as a function for each HTTP method. */
export type RouteModule = Readonly<Record<string, unknown>>;

/** A server of route modules on a free port. */
export interface RouteServer {
  readonly url: string;
  close(): void;
}

/** Serves route modules by their paths with `node:http`, as Next does with its folders. */
export async function serve(routes: Readonly<Record<string, () => Promise<RouteModule>>>): Promise<RouteServer> {
  const server = createServer((incoming, outgoing) => {
    handle(routes, incoming).then(
      (response) => send(response, outgoing),
      (error: unknown) => {
        console.error(error);
        outgoing.destroy();
      },
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

const isHandler = (value: unknown): value is Handler => typeof value === 'function';

async function handle(
  routes: Readonly<Record<string, () => Promise<RouteModule>>>,
  incoming: IncomingMessage,
): Promise<Response> {
  const url = new URL(incoming.url ?? '/', 'http://localhost');
  const load = routes[url.pathname];
  if (!load) return new Response(null, { status: 404 });
  const handler = (await load())[incoming.method ?? 'GET'];
  if (!isHandler(handler)) return new Response(null, { status: 405 });
  const headers = Object.entries(incoming.headers).map(([name, value]): [string, string] => [name, String(value)]);
  const body = incoming.method === 'GET' ? null : Uint8Array.from(await buffer(incoming));
  return handler(new Request(url, { method: incoming.method ?? 'GET', headers, body }));
}

async function send(response: Response, outgoing: ServerResponse): Promise<void> {
  const body = await response.bytes();
  outgoing.writeHead(response.status, Object.fromEntries(response.headers)).end(body);
}
