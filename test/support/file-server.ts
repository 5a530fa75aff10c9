import { createServer, type RequestListener } from 'node:http';
import { listenForTest } from './loopback.ts';

/** An HTTP server that counts its requests in progress. */
export interface FileServer {
  readonly url: string;
  /** Returns the number of requests whose response has not been closed. */
  busy(): number;
}

/** Starts an HTTP server on loopback for the running test. */
export async function serve(listener: RequestListener): Promise<FileServer> {
  let busy = 0;
  const server = createServer((request, response) => {
    busy++;
    response.once('close', () => busy--);
    listener(request, response);
  });
  return { url: await listenForTest(server), busy: () => busy };
}
