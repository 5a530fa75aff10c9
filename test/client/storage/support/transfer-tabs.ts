import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { bundleScript } from '../../../support/bundled-script.ts';
import type { Tab } from '../../../support/engines.ts';
import { serve } from '../../../support/file-server.ts';

let bundle: Promise<string> | undefined;

/** Opens a page that has a file input and runs `transfer-page.ts`. */
export async function openTransferPage(tab: Tab): Promise<void> {
  bundle ??= bundleScript('test/client/storage/support/transfer-page.ts');
  const script = await bundle;
  const server = createServer(({ url }, response) => {
    const isScript = url === '/page.js';
    response.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html' });
    response.end(isScript ? script : '<!doctype html><input type="file"><script src="/page.js"></script>');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  await tab.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  // The page needs nothing more of it.
  server.close();
  server.closeAllConnections();
}

/** Starts storage on another origin than that of the page, for the running test; returns its URL. */
export async function serveStorage(storage: RequestListener): Promise<string> {
  const { url } = await serve((request, response) => {
    response.setHeader('access-control-allow-origin', '*');
    response.setHeader('access-control-allow-methods', 'PUT');
    if (request.method === 'OPTIONS') response.writeHead(204).end();
    else storage(request, response);
  });
  return url;
}
