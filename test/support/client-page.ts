import { build } from 'esbuild';
import { serve } from './file-server.ts';

const SOURCE = `import * as sdk from './src/index.ts'; Object.assign(globalThis, { sdk });`;
const PAGE = '<!doctype html><meta charset="utf-8"><title>Client</title><script type="module" src="/sdk.js"></script>';

/** Serves a page with the client, whose exports are the properties of its global `sdk`; returns its address. */
export async function serveClientPage(): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: SOURCE, resolveDir: '.' },
    bundle: true,
    write: false,
    platform: 'browser',
    format: 'esm',
    external: ['node:*'],
  });
  const [bundle] = outputFiles;
  const { url } = await serve((request, response) => {
    if (request.url === '/sdk.js') response.setHeader('content-type', 'text/javascript').end(bundle?.text);
    else response.setHeader('content-type', 'text/html').end(PAGE);
  });
  return url;
}
