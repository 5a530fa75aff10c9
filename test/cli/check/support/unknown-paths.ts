import { type Answer, type Call, failure, json, page } from './exchange.ts';
import { methodsAt, type Route } from './routes.ts';

type Unknown = (call: Call, routes: readonly Route[]) => Answer;

/** How services answer requests that no route matches. */
export const unknownPaths = {
  /** A page, as web servers in front of a service send it. */
  html404: () => page(404, 'Not Found'),
  /** The start page of a single-page application. */
  html200: () => page(200, 'Console'),
  /** A gateway that refuses what it does not know, as a page. */
  html403: () => page(403, 'Forbidden'),
  /** A gateway that refuses what it does not know, in the envelope. */
  json403: () => failure(403, 'This action is unauthorized.'),
  /** A 404 with the message that resources have which do not exist. */
  sameAsResource: () => failure(404, 'Resource not found.'),
  /** 405 with `Allow` at a path that has other methods, otherwise 404. */
  allow405: ({ path, method }: Call, routes: readonly Route[]): Answer => {
    const methods = methodsAt(routes, path);
    if (methods.length === 0) return failure(404, `The route ${path.slice(1)} could not be found.`);
    return json(
      405,
      { status: 'error', code: 405, message: `The ${method} method is not supported for route ${path.slice(1)}.` },
      { allow: methods.join(', ') },
    );
  },
  /** Everything that does not exist has the body of a list without rows. */
  emptyLists: () => json(200, { status: 'success', code: 200, message: 'OK', data: [] }),
  /** A 410 for whatever was there before. */
  gone410: () => failure(410, 'This endpoint is gone.'),
  /** `{ error }` instead of the envelope. */
  gatewayJson: () => json(404, { error: { type: 'not_found', detail: 'No route matched.' } }),
} satisfies Record<string, Unknown>;

/** How services answer OPTIONS. */
export const optionsAnswers = {
  /** `Allow` with the methods of the path; 404 for a path without any. */
  allow: (call: Call, routes: readonly Route[]): Answer => {
    const methods = methodsAt(routes, call.path);
    if (methods.length === 0) return failure(404, `The route ${call.path.slice(1)} could not be found.`);
    return { status: 204, headers: { allow: [...methods, 'OPTIONS'].join(', ') }, body: '' };
  },
  /** The same `Allow` for every path. */
  sameAllow: (): Answer => ({ status: 200, headers: { allow: 'GET, HEAD, POST, PUT, DELETE, OPTIONS' }, body: '' }),
  /** A method that the service does not know. */
  refused405: (): Answer => failure(405, 'Method not allowed.'),
  /** Needs a token like everything else, and then has nothing. */
  notFound: (): Answer => failure(404, 'Not found.'),
} satisfies Record<string, Unknown>;
