import { Redis } from 'ioredis';
import { createClient } from 'redis';

const createNodeRedis = (url: string) => createClient({ url });

/** Clients of both packages, by the name of the package. */
export interface Clients {
  readonly redis: ReturnType<typeof createNodeRedis>;
  readonly ioredis: Redis;
}

export type ClientKind = keyof Clients;

export const KINDS = ['redis', 'ioredis'] as const;

type Connected = { readonly [Kind in ClientKind]: { readonly client: Clients[Kind]; close(): void } };

const CONNECT: { readonly [Kind in ClientKind]: (url: string) => Promise<Connected[Kind]> } = {
  async redis(url) {
    const client = createNodeRedis(url);
    // They reconnect by themselves; what fails is seen where it is called.
    client.on('error', () => {});
    await client.connect();
    const close = (): void => {
      if (client.isOpen) client.destroy();
    };
    return { client, close };
  },
  async ioredis(url) {
    const client = new Redis(url, { lazyConnect: true });
    client.on('error', () => {});
    await client.connect();
    return { client, close: () => client.disconnect() };
  },
};

/** A connected client of a package, and what closes it, whether the server is there or not. */
export function connectTo<Kind extends ClientKind>(kind: Kind, url: string): Promise<Connected[Kind]> {
  return CONNECT[kind](url);
}
