/** A renderer of Electron has `process`, too, and the `fetch` of Chromium. */
const isRenderer = Object(globalThis.process).type === 'renderer';

/** True outside of browsers: there, `fetch` can stream request bodies over HTTP/1.1 and shows all response headers. */
export const isServerRuntime: boolean =
  (globalThis.process?.versions?.node !== undefined && !isRenderer) || 'Deno' in globalThis;

/** True in Node itself; Bun, Deno and Workers have `process.versions.node`, too. */
export const isNode: boolean =
  isServerRuntime &&
  !('Deno' in globalThis) &&
  !('Bun' in globalThis) &&
  globalThis.navigator?.userAgent !== 'Cloudflare-Workers';
