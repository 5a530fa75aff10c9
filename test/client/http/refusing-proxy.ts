import { createServer } from 'node:http';
import { listenForTest } from '../../support/loopback.ts';

/** Starts an HTTP proxy on loopback that refuses every request and tunnel with 407; returns its URL. */
export async function startRefusingProxy(): Promise<string> {
  const server = createServer((_, response) => void response.writeHead(407).end());
  server.on('connect', (_, socket) => {
    socket.end('HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n');
  });
  return listenForTest(server);
}
