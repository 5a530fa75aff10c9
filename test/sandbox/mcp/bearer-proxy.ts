import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { listenForTest } from '../../support/loopback.ts';

/** Starts an HTTP proxy on loopback that adds `Authorization` to requests without one; returns its URL. */
export async function startBearerProxy(target: string, token: string): Promise<string> {
  const { hostname, port } = new URL(target);
  const server = createServer((incoming, outgoing) => {
    const { method, url: path, rawHeaders, headers } = incoming;
    const added = headers.authorization === undefined ? ['Authorization', `Bearer ${token}`] : [];
    // Raw headers keep the `Host` of the incoming request.
    const upstream = request({ hostname, port, method, path, headers: [...rawHeaders, ...added] });
    upstream.once('response', (answer) => passOn(answer, outgoing));
    upstream.once('error', () => outgoing.destroy());
    outgoing.once('close', () => upstream.destroy());
    incoming.pipe(upstream);
  });
  return listenForTest(server);
}

function passOn(answer: IncomingMessage, outgoing: ServerResponse): void {
  outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
  answer.pipe(outgoing);
}
