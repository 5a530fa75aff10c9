import { once } from 'node:events';
import { createServer } from 'node:net';

/** Returns a free loopback port, for a program that cannot listen on a free port by choosing 0. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (typeof address !== 'object' || !address) throw new Error('No port is free.');
  return address.port;
}
