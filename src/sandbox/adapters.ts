import type { Hono } from 'hono';
import type { RequestHandler } from 'msw';
import type { SandboxAdmin } from './admin/sandbox-admin.ts';
import { createApp } from './app.ts';
import type { Env } from './http/access.ts';
import { ConnectionCut } from './http/connection-cut.ts';
import type { ListenOptions, listen, Origins, SandboxServer } from './http/listen.ts';
import { createHandler } from './http/msw-handlers.ts';
import type { SandboxOptions } from './sandbox-options.ts';
import type { Service } from './service.ts';
import { createStorage } from './storage/presigned-storage.ts';

/** Functions that send requests to a sandbox. */
export interface SandboxAdapters {
  /**
   * Sends a request to the API or to the storage, within the process. Pass this function to a client as its `fetch`. It
   * rejects like `fetch`. The rate limits of the `login` and `mint` buckets apply to the IP address in the
   * `X-Forwarded-For` header.
   */
  readonly fetch: (input: Request | URL | string, init?: RequestInit) => Promise<Response>;
  /** Request handlers of msw 2 and 3, for `setupServer(...sandbox.handlers)` and `setupWorker(...sandbox.handlers)`. */
  readonly handlers: RequestHandler[];
  /**
   * Serves the API over HTTP, by default on a free loopback port, and the storage on another port. Rejects with a
   * `TypeError` in browsers, which cannot listen on ports.
   */
  listen(options?: ListenOptions): Promise<SandboxServer>;
  /**
   * Sends a request to a page or a JSON endpoint of the console, within the process and without a token. To serve the
   * console over HTTP, where it requires a token, call `listen({ console: true })`.
   */
  console(request: Request): Promise<Response>;
  /** Closes the sandbox with its servers, timers and deliveries. Later requests reject. */
  close(): Promise<void>;
}

interface AdapterParts {
  readonly service: Service;
  readonly admin: SandboxAdmin;
  readonly options: SandboxOptions;
  readonly seed: number;
  readonly serve: typeof listen;
}

export function createAdapters({ service, admin, options, seed, serve }: AdapterParts): SandboxAdapters {
  const app = createApp(service);
  const storage = createStorage(service);
  let opened: Promise<Hono<Env>> | undefined;
  // Load the console only when it is opened.
  const openConsole = (): Promise<Hono<Env>> => {
    opened ??= import('./console/console.ts').then(({ createConsole }) =>
      createConsole({ service, admin, options, seed, addresses, send: (request) => fetchInProcess(respond, request) }),
    );
    return opened;
  };
  const origins: Origins = {
    api: app.fetch,
    storage: storage.fetch,
    async console(consoleToken) {
      const console = await openConsole();
      return (request, env) => console.fetch(request, { ...env, consoleToken });
    },
  };
  const { state, clock, webhooks, closed } = service;
  const inProcessStorageUrl = state.storageUrl;
  const paths = Object.values(service.operations).map(({ path }) => path);
  const servers = new Set<SandboxServer>();
  const isStorage = (url: URL): boolean =>
    url.origin === inProcessStorageUrl || [...servers].some(({ storageUrl }) => url.origin === storageUrl);
  const respond = async (request: Request): Promise<Response> => {
    if (closed.signal.aborted) throw new ConnectionCut();
    const address = request.headers.get('x-forwarded-for') ?? '127.0.0.1';
    return (isStorage(new URL(request.url)) ? storage : app).fetch(request, { address });
  };
  const addresses = () => ({
    api: [...servers].at(-1)?.url ?? options.origin ?? 'https://sandbox.invalid',
    storage: state.storageUrl,
  });
  const closeServer = async (server: SandboxServer): Promise<void> => {
    servers.delete(server);
    state.storageUrl = [...servers].at(-1)?.storageUrl ?? inProcessStorageUrl;
    await server.close();
  };
  return {
    fetch: async (input, init) => fetchInProcess(respond, new Request(input, init)),
    handlers: [createHandler({ respond, origin: options.origin, paths, isStorage })],
    async console(request) {
      if (closed.signal.aborted) throw new Error('The sandbox is closed.');
      const console = await openConsole();
      // Check `Host`: a server that passes requests on could be attacked with DNS rebinding.
      const overHttp = request.headers.has('host') ? { names: [] } : undefined;
      return console.fetch(request, { address: '127.0.0.1', ...(overHttp && { overHttp }) });
    },
    async listen(options = {}) {
      const server = closed.signal.aborted ? undefined : await serve(origins, options);
      if (server && !closed.signal.aborted) {
        servers.add(server);
        state.storageUrl = server.storageUrl;
        return { ...server, close: () => closeServer(server) };
      }
      await server?.close();
      throw new Error('The sandbox is closed.');
    },
    async close() {
      closed.abort();
      clock.stop();
      webhooks.stop();
      await Promise.all([...servers].map(closeServer));
    },
  };
}

/** Rejects like `fetch`: with the reason of the signal after an abort, with a `TypeError` after a cut connection. */
async function fetchInProcess(respond: (request: Request) => Promise<Response>, request: Request): Promise<Response> {
  const { signal } = request;
  signal.throwIfAborted();
  let onAbort = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([respond(request), aborted]);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (!(error instanceof ConnectionCut)) throw error;
    const partial = error.toResponse();
    if (partial) return partial;
    throw new TypeError('fetch failed', { cause: error });
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
