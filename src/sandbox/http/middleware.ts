import type { Hono, MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import { describeFault } from '../faults.ts';
import type { Service } from '../service.ts';
import type { Env } from './access.ts';
import { ConnectionCut } from './connection-cut.ts';
import { NestingError } from './request-body.ts';
import { invalid } from './responses.ts';

type Middleware = MiddlewareHandler<Env>;

/** Creates an error response in the format of an origin: the API's envelope, or the XML of object storage. */
export type ErrorFormat = (status: number, message?: string) => Response;

/** Maximum length of a path in the log. */
const MAX_LOGGED_PATH = 2_000;

/**
 * Adds the middleware in front of every route (log, check of `Host`, CORS for pages of any origin, faults) and the
 * error handler.
 */
export function addMiddleware(app: Hono<Env>, service: Service, exposeHeaders: string[], format: ErrorFormat): void {
  app.use(logRequests(service));
  app.use(checkHost(format));
  app.use(cors({ origin: '*', exposeHeaders }));
  app.use(injectFaults(service, format));
  app.onError((error) => {
    if (error instanceof ConnectionCut) throw error;
    if (error instanceof NestingError) return invalid({ body: [error.message] });
    return format(500, `The sandbox failed: ${error.message}`);
  });
}

/** Returns the encoded path, which cannot break a line of the log, cut to the maximum length there. */
const pathOf = (request: Request): string => new URL(request.url).pathname.slice(0, MAX_LOGGED_PATH);

/** Logs each request except preflights, which browsers send automatically. */
const logRequests =
  ({ clock, state, logRequest }: Service): Middleware =>
  async (context, next) => {
    clock.runDue();
    if (context.req.method === 'OPTIONS') return next();
    try {
      await next();
      context.res.headers.set('x-request-id', `req_${state.requestCount + 1}`);
      return undefined;
    } finally {
      const account = context.get('account')?.email;
      const fault = context.get('fault');
      logRequest({
        at: new Date(clock.now()).toISOString(),
        method: context.req.method,
        path: pathOf(context.req.raw),
        status: context.finalized ? context.res.status : 0,
        ...(account !== undefined && { account }),
        ...(context.get('replayed') && { replayed: true }),
        ...(fault !== undefined && { fault }),
      });
    }
  };

/** Responds with 421 to a `Host` that is neither an address nor an accepted name, which prevents DNS rebinding. */
export const checkHost =
  (format: ErrorFormat): Middleware =>
  async (context, next) => {
    const { overHttp } = context.env;
    if (!overHttp) return next();
    const host = context.req.header('host') ?? '';
    const { hostname } = URL.canParse(`http://${host}`) ? new URL(`http://${host}`) : { hostname: '' };
    const isAccepted = /^(?:[\d.]+|\[.+\]|(?:.+\.)?localhost)$/.test(hostname) || overHttp.names.includes(hostname);
    if (isAccepted) return next();
    return format(421, `The sandbox is not known as "${hostname}". To use that name, listen with that \`name\`.`);
  };

const injectFaults =
  ({ faults, closed }: Service, format: ErrorFormat): Middleware =>
  async (context, next) => {
    const { method, raw } = context.req;
    const active = faults.apply({ method, path: pathOf(raw), headers: raw.headers });
    if (!active) return next();
    const { rule } = active;
    const { delay, inFlight } = rule;
    const removed = active.removed.signal;
    context.set('fault', describeFault(rule));
    if (delay !== undefined) await hold(delay, removed, AbortSignal.any([raw.signal, closed.signal]));
    if (rule.cut === 'before') throw new ConnectionCut();
    if (inFlight !== undefined) context.set('holdInFlight', () => hold(inFlight, removed, closed.signal));
    if (rule.status !== undefined) {
      const response = format(rule.status);
      if (rule.retryAfter !== undefined) response.headers.set('retry-after', String(rule.retryAfter));
      return response;
    }
    await next();
    if (rule.cut === 'after') throw new ConnectionCut();
    if (rule.cut !== 'body' && !rule.malformed) return undefined;
    const { status } = context.res;
    const headers = new Headers(context.res.headers);
    const bytes = new Uint8Array(await context.res.arrayBuffer());
    const body = bytes.slice(0, Math.floor(bytes.length / 2));
    if (rule.cut === 'body') throw new ConnectionCut({ partial: { status, headers, body } });
    headers.delete('content-length');
    context.res = new Response(body, { status, headers });
    return undefined;
  };

/**
 * Waits `ms` milliseconds of the machine's clock, or until `released` aborts. Throws a `ConnectionCut` if `cut` aborts.
 */
async function hold(ms: number, released: AbortSignal, cut: AbortSignal): Promise<void> {
  const signal = AbortSignal.any([released, cut]);
  await new Promise<void>((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
  });
  if (cut.aborted) throw new ConnectionCut();
}
