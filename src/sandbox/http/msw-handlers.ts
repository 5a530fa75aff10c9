import type { RequestHandler } from 'msw';
import { ConnectionCut } from '../faults.ts';
import { API_PATHS } from './app.ts';

/** What a handler needs of its sandbox. */
export interface HandlerParts {
  /** Answers a request, or rejects with a `ConnectionCut`. */
  readonly answer: (request: Request) => Promise<Response>;
  /** The API's origin; any, if not told. */
  readonly origin: string | undefined;
  readonly isStorage: (origin: string) => boolean;
}

/** What msw 3 asks of a handler, so that no copy of msw is needed to make one. */
interface Handler {
  readonly kind: 'request';
  run(asked: { readonly request: Request; readonly requestId: string }): Promise<object | null>;
  log(): void;
  reset(): void;
  restore(): void;
  dispose(): void;
}

const nothing = (): void => {};

/** A request handler of msw 3 with the whole sandbox behind it. */
export function createHandler({ answer, origin, isStorage }: HandlerParts): RequestHandler {
  const isOurs = (url: URL): boolean =>
    isStorage(url.origin) || (origin === undefined ? API_PATHS.test(url.pathname) : url.origin === origin);
  const handler: Handler = {
    kind: 'request',
    async run({ request, requestId }) {
      if (!isOurs(new URL(request.url))) return null;
      const response = await answer(request).catch((error: unknown) => {
        if (error instanceof ConnectionCut) return error.toResponse() ?? Response.error();
        throw error;
      });
      return { handler, request, requestId, response };
    },
    log: nothing,
    reset: nothing,
    restore: nothing,
    dispose: nothing,
  };
  if (!isRequestHandler(handler)) throw new Error('msw takes no such handler.');
  return handler;
}

/** msw tells handlers by their kind and runs them; that its class has private fields matters to types only. */
function isRequestHandler(handler: object): handler is RequestHandler {
  return 'kind' in handler && handler.kind === 'request' && 'run' in handler && typeof handler.run === 'function';
}
