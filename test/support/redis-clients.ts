import type { Redis } from 'ioredis';

/** Creates a client; imports the package only when it is used, so that processes start sooner. */
async function createNodeRedis(url: string) {
  const { createClient } = await import('redis');
  return createClient({ url });
}

/** Clients of both packages, by the name of the package. */
export interface Clients {
  readonly redis: Awaited<ReturnType<typeof createNodeRedis>>;
  readonly ioredis: Redis;
}

export type ClientKind = keyof Clients;

export const KINDS = ['redis', 'ioredis'] as const;

type Connected = { readonly [Kind in ClientKind]: { readonly client: Clients[Kind]; close(): void } };

const CONNECT: { readonly [Kind in ClientKind]: (url: string) => Promise<Connected[Kind]> } = {
  async redis(url) {
    const client = await createNodeRedis(url);
    // Ignore errors of the connection: the client reconnects, and failed commands reject.
    client.on('error', () => {});
    await client.connect();
    const close = (): void => {
      if (client.isOpen) client.destroy();
    };
    return { client, close };
  },
  async ioredis(url) {
    const { Redis: Client } = await import('ioredis');
    const client = new Client(url, { lazyConnect: true });
    client.on('error', () => {});
    await client.connect();
    return { client, close: () => client.disconnect() };
  },
};

/** Connects a client. `close` also works after the server has stopped. */
export function connectTo<Kind extends ClientKind>(kind: Kind, url: string): Promise<Connected[Kind]> {
  return CONNECT[kind](url);
}
