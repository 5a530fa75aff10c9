import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A bare HTTP server that tells how many connections are open. */
export interface FileServer {
  readonly url: string;
  /** Open connections that have a request under way. */
  busy(): number;
}

/** Starts a bare server on loopback for the running test. */
export async function serve(listener: RequestListener): Promise<FileServer> {
  let busy = 0;
  const server = createServer((request, response) => {
    busy++;
    response.once('close', () => busy--);
    listener(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, busy: () => busy };
}
