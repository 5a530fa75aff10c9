import { type Context, runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { bundleScript } from '../../support/bundled-script.ts';

it.each(['index', 'webhooks/index'])(
  'src/%s is loaded where no global of a platform exists, such as `TextEncoder` in jsdom',
  async (entry) => {
    const script = await bundleScript(`src/${entry}.ts`, 'entry');
    expect(runInNewContext(`${script}; Object.keys(entry).length`)).toBeGreaterThan(0);
  },
);

const ENTRY = bundleScript('src/index.ts', 'entry');
const PLATFORM: Context = {
  ...{ AbortController, Blob, FormData, Headers, ReadableStream, Request, Response, TextDecoder, TextEncoder, URL },
  ...{ crypto, performance, setTimeout },
};
const REMEDY = 'load polyfills, or use Node >= 22.12 or a current browser.';
const CLIENT = "new entry.AudienceClient({ baseUrl: 'https://api.example.com', token: 'x' })";
const API_TOKEN = "entry.apiToken({ email: 'a@b.c', password: 'p' }, { store: entry.memoryTokenStore() })";

describe('the first use says all that the runtime lacks, and what to do', () => {
  const allOfPlatform =
    'AbortController, Blob, FormData, Headers, ReadableStream, Request, Response, TextDecoder, TextEncoder, ' +
    'URL.canParse, crypto.getRandomValues, performance, setTimeout';
  it.each([
    ['a client without globals of a platform', CLIENT, {}, `${allOfPlatform}, fetch`],
    ['a token source without globals of a platform', API_TOKEN, {}, allOfPlatform],
    ['an old `URL`', CLIENT, { ...PLATFORM, fetch, URL: class {} }, 'URL.canParse'],
    ['an old `Promise`', `delete Promise.withResolvers; ${CLIENT}`, { ...PLATFORM, fetch }, 'Promise.withResolvers'],
    ['a client without `fetch`', CLIENT, PLATFORM, 'fetch'],
  ])('%s', async (_, use, globals, missing) => {
    const run = `${await ENTRY}; let shown; try { ${use}; } catch (error) { shown = error.name + ': ' + error.message; } shown`;
    expect(runInNewContext(run, { ...globals })).toBe(`ConfigurationError: This runtime lacks ${missing}: ${REMEDY}`);
  });

  it('a client with its own `fetch` does not need the `fetch` of the runtime', async () => {
    const use = "new entry.AudienceClient({ baseUrl: 'https://api.example.com', token: 'x', fetch: () => {} }).baseUrl";
    expect(runInNewContext(`${await ENTRY}; ${use}`, { ...PLATFORM })).toBe('https://api.example.com');
  });
});

it.each([
  ['Node', { versions: { node: '24.0.0' } }, true],
  ['a renderer of Electron', { versions: { node: '24.0.0' }, type: 'renderer' }, false],
])('tells a server from a browser: %s', async (_, process, isServer) => {
  const script = await bundleScript('src/util/runtime.ts', 'runtime');
  expect(runInNewContext(`${script}; runtime.isServerRuntime`, { process })).toBe(isServer);
});
