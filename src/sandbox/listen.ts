/** A sandbox on TCP ports. */
export interface Listening {
  /** Its address, for `baseUrl`. */
  readonly url: string;
  /** Origin of presigned URLs and results: a port of its own, as storage is another host. */
  readonly storageUrl: string;
  /** Stops listening and drops every connection. */
  close(): Promise<void>;
}

/** Where to listen. */
export interface ListenOptions {
  /** @default 0, any free port */
  readonly port?: number;
  /** Port of storage. @default 0, any free port */
  readonly storagePort?: number;
}

type Answer = (request: Request) => Response | Promise<Response>;

/** One server on one port. */
type Serving = Pick<Listening, 'url' | 'close'>;

/** Serves the API and its storage over HTTP on loopback. */
export async function listen(api: Answer, storage: Answer, options: ListenOptions): Promise<Listening> {
  const front = await serve(api, options.port ?? 0);
  let back: Serving;
  try {
    back = await serve(storage, options.storagePort ?? 0);
  } catch (error) {
    await front.close();
    throw error;
  }
  return {
    url: front.url,
    storageUrl: back.url,
    async close() {
      await Promise.all([front.close(), back.close()]);
    },
  };
}

/** `node:http` is loaded only now, so browsers can use the rest. */
async function serve(fetch: Answer, port: number): Promise<Serving> {
  const { createAdaptorServer } = await import('@hono/node-server');
  const server = createAdaptorServer({ fetch });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('The server has no port.');
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error ? reject(error) : resolve()));
        if ('closeAllConnections' in server) server.closeAllConnections();
      }),
  };
}
