/** A sandbox on a TCP port. */
export interface Listening {
  /** Its address, for `baseUrl`. */
  readonly url: string;
  /** Stops listening and drops every connection. */
  close(): Promise<void>;
}

/** Where to listen. */
export interface ListenOptions {
  /** @default 0, any free port */
  readonly port?: number;
}

/** Serves `fetch` over HTTP on loopback. `node:http` is loaded only now, so browsers can use the rest. */
export async function listen(
  fetch: (request: Request) => Promise<Response>,
  { port = 0 }: ListenOptions,
): Promise<Listening> {
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
