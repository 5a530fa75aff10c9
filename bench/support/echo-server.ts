import { createServer } from 'node:http';

/** Responds to every request with an empty list, as fast as possible. */
const body = JSON.stringify({ status: 'success', code: 200, message: 'ok', data: [] });
const server = createServer((_, response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(body);
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object' && address) process.send?.(`http://127.0.0.1:${address.port}`);
});
process.once('disconnect', () => process.exit());
