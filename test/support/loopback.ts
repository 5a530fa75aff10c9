import type { Server } from 'node:http';
import { onTestFinished } from 'vitest';

/** Has a server listen on a free port of loopback for the running test; its origin. */
export async function listenForTest(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => stop(server));
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('The server has no port.');
  return `http://127.0.0.1:${address.port}`;
}

/** Stops a server, and whatever it is still working on. */
export async function stop(server: Server): Promise<void> {
  const stopped = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await stopped;
}
