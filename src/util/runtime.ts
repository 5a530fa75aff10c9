import { check } from '../errors/audience-error.ts';

/** True in a renderer of Electron, which has `process` but the `fetch` of Chromium. */
const isRenderer = Object(globalThis.process).type === 'renderer';

/**
 * True in Node, Bun and Deno, and in Workers with `process`, where `fetch` can stream request bodies over HTTP/1.1 and
 * shows all response headers.
 */
export const isServerRuntime: boolean =
  (globalThis.process?.versions?.node !== undefined && !isRenderer) || 'Deno' in globalThis;

/** True only in Node. Bun, Deno and Workers also have `process.versions.node`. */
export const isNode: boolean =
  isServerRuntime &&
  !('Deno' in globalThis) &&
  !('Bun' in globalThis) &&
  globalThis.navigator?.userAgent !== 'Cloudflare-Workers';

/** Functions of the runtime that every client needs, as paths from `globalThis`. */
const NEEDED =
  'AbortController Blob FormData Headers Promise.withResolvers ReadableStream Request Response TextDecoder TextEncoder URL.canParse crypto.getRandomValues performance setTimeout';

/** @throws {ConfigurationError} with all functions that the runtime lacks. */
export function checkRuntime(hasFetch: unknown): void {
  const paths = `${NEEDED}${hasFetch ? '' : ' fetch'}`.split(' ');
  const missing = paths.filter((path) => !path.split('.').reduce((owner, name) => Object(owner)[name], globalThis));
  const remedy = 'load polyfills, or use Node >= 22.12 or a current browser.';
  check(!missing[0], `This runtime lacks ${missing.join(', ')}: ${remedy}`);
}
