import type { RequestHandler } from 'msw';
import { createPathMatcher } from '../path-pattern.ts';
import { ConnectionCut } from './connection-cut.ts';

/** Paths of the service (specification, "Versioning"). */
const API_PATHS = /^\/(?:api\/v2|oauth)\/|^\/\.well-known\/oauth-/;

/** The sandbox that a handler calls. */
interface HandlerOptions {
  /** Responds to a request, or rejects with a `ConnectionCut`. */
  readonly respond: (request: Request) => Promise<Response>;
  /** Origin of the API. @default any */
  readonly origin: string | undefined;
  /** Paths of operations, which a contract may have changed. */
  readonly paths: readonly string[];
  readonly isStorage: (url: URL) => boolean;
}

const ignore = (): void => {};

/** Creates a request handler of msw 2 and 3 without importing msw. */
export function createHandler({ respond, origin, paths, isStorage }: HandlerOptions): RequestHandler {
  const matchers = paths.filter((path) => !API_PATHS.test(path)).map(createPathMatcher);
  const isApi = (path: string): boolean => API_PATHS.test(path) || matchers.some((matches) => matches(path));
  const isHandled = (url: URL): boolean =>
    isStorage(url) || (origin === undefined ? isApi(url.pathname) : url.origin === origin);
  const handler: object = {
    kind: 'request',
    // Name of the property in msw 2.6 to 2.12.
    __kind: 'RequestHandler',
    async run({ request, requestId }: { readonly request: Request; readonly requestId: string }) {
      if (!isHandled(new URL(request.url))) return null;
      const response = await respond(request).catch((error: unknown) => {
        if (error instanceof ConnectionCut) return error.toResponse() ?? Response.error();
        throw error;
      });
      return { handler, request, requestId, response };
    },
    log: ignore,
    reset: ignore,
    restore: ignore,
    dispose: ignore,
  };
  // msw recognizes a handler by its `kind`; only the type of its class requires private fields.
  return handler as RequestHandler;
}
