import { bundleScript } from '../support/bundled-script.ts';
import { serve } from '../support/file-server.ts';

const PAGE = '<!doctype html><meta charset="utf-8"><title>Client</title><script src="/sdk.js"></script>';

/** Serves a page with the client, whose exports are the properties of its global `sdk`; returns its address. */
export async function serveClientPage(): Promise<string> {
  const script = await bundleScript('src/index.ts', 'sdk');
  const { url } = await serve((request, response) => {
    if (request.url === '/sdk.js') response.setHeader('content-type', 'text/javascript').end(script);
    else response.setHeader('content-type', 'text/html').end(PAGE);
  });
  return url;
}
