import type { RequestListener } from 'node:http';
import { bundleScript } from '../../../support/bundled-script.ts';
import type { Tab } from '../../../support/engines.ts';
import { serve } from '../../../support/file-server.ts';

/** Opens a page that has a file input and runs `transfer-page.ts`. Returns the URL of storage, which is on another origin. */
export async function openTransferPage(tab: Tab, storage: RequestListener): Promise<string> {
  const script = await bundleScript('test/client/storage/support/transfer-page.ts');
  const [page, { url: storageUrl }] = await Promise.all([
    serve(({ url }, response) => {
      const isScript = url === '/page.js';
      response.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html' });
      response.end(isScript ? script : '<!doctype html><input type="file"><script src="/page.js"></script>');
    }),
    serve((request, response) => {
      response.setHeader('access-control-allow-origin', '*');
      response.setHeader('access-control-allow-methods', 'PUT');
      if (request.method === 'OPTIONS') response.writeHead(204).end();
      else storage(request, response);
    }),
  ]);
  await tab.goto(page.url);
  return storageUrl;
}
