import { createServer } from 'node:http';

/**
 * Accepts any PUT, returns `size` bytes for `GET /results`, and responds to the API requests of uploads and downloads.
 */
const [, , bytes = '0'] = process.argv;
const size = Number(bytes);
const chunk = Buffer.alloc(65_536, 'x');

const server = createServer((request, response) => {
  const origin = `http://${request.headers.host}`;
  const json = (data: unknown): void => {
    const body = { status: 'success', code: 200, message: 'ok', data };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  if (request.method === 'PUT') {
    request.resume().once('end', () => response.end());
  } else if (request.url === '/results') {
    response.writeHead(200, { 'content-length': size });
    let left = size;
    const more = (): void => {
      while (left > 0) {
        const piece = chunk.subarray(0, Math.min(left, chunk.length));
        left -= piece.length;
        if (!response.write(piece)) return void response.once('drain', more);
      }
      response.end();
    };
    more();
  } else if (request.method === 'GET') {
    json({
      id: 1,
      status: { id: 104, name: 'Completed' },
      datastreams: [{ name: 'devices', results: { uri: `${origin}/results` } }],
    });
  } else {
    json({ reference: 'upl_1', url: `${origin}/slot`, expires_at: '' });
  }
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object' && address) process.send?.(`http://127.0.0.1:${address.port}`);
});
process.once('disconnect', () => process.exit());
