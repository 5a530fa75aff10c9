import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** Starts a service for one test that fails for a share of its requests, in each way that a service can. */
export async function startFailingServer(random: () => number, share: number): Promise<{ readonly url: string }> {
  const success = JSON.stringify({ status: 'success', code: 200, message: '', data: [] });
  const server = createServer((request, response) => {
    request.resume();
    const faults = [
      () => void response.writeHead(503).end('{}'),
      () => void response.writeHead(429, { 'retry-after': '0' }).end('{}'),
      () => void response.writeHead(404).end('{}'),
      () => void response.writeHead(200).end('<html>'),
      () => void request.socket.destroy(),
      // Half of a response, and then a cut connection.
      () => void response.writeHead(200, { 'content-length': '1000' }).write('{', () => request.socket.destroy()),
      // No response.
      () => {},
    ];
    const fault = random() < share ? faults[Math.floor(random() * faults.length)] : undefined;
    if (fault) fault();
    else response.writeHead(200).end(success);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}` };
}
