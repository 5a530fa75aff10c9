/** True outside of browsers: there, `fetch` can stream request bodies over HTTP/1.1 and shows all response headers. */
export const isServerRuntime: boolean = globalThis.process?.versions?.node !== undefined || 'Deno' in globalThis;
