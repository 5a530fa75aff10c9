import type { Server } from 'node:http';
import { onTestFinished } from 'vitest';

/** Starts a server on a free port of loopback, stops it after the running test, and returns its origin. */
export async function listenForTest(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 }, resolve));
  onTestFinished(() => stop(server));
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('The server has no port.');
  return `http://127.0.0.1:${address.port}`;
}

/** Stops a server, and closes its connections with the requests in progress. */
export async function stop(server: Server): Promise<void> {
  const stopped = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await stopped;
}
