import type { Context, Hono, MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import { describeFault } from '../faults.ts';
import { OAuthRequestError } from '../oauth/oauth-request-error.ts';
import type { Service } from '../service.ts';
import type { LogEntry } from '../state.ts';
import { bearerToken, type Env, MAX_WHY } from './access.ts';
import { ConnectionCut } from './connection-cut.ts';
import { isObject, JsonSizeError, NestingError, parseJson, readUnreadBody } from './request-body.ts';
import { invalid, textOf } from './responses.ts';

type Middleware = MiddlewareHandler<Env>;

/** Creates an error response: with the API's envelope, or with the XML of object storage. */
export type ErrorFormat = (status: number, message?: string) => Response;

/** Maximum number of characters of a path in the log. */
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
    if (error instanceof OAuthRequestError) return error.toResponse();
    if (error instanceof NestingError) return invalid({ body: [error.message] });
    if (error instanceof JsonSizeError) return format(413, error.message);
    return format(500, `The sandbox failed: ${error.message}`);
  });
}

/** Returns the path for the log: URL-encoded, so without line breaks, and truncated to the maximum length. */
const pathOf = (request: Request): string => new URL(request.url).pathname.slice(0, MAX_LOGGED_PATH);

/**
 * Difference between the sandbox's clock and the machine's clock, in milliseconds, above which responses have a header
 * with the sandbox's time.
 */
const MAX_CLOCK_DRIFT_MS = 1_000;

/** Logs each request except preflights, which browsers send automatically. */
const logRequests =
  (service: Service): Middleware =>
  async (context, next) => {
    const { clock, state } = service;
    clock.runDue();
    if (context.req.method === 'OPTIONS') return next();
    const started = service.moment();
    const startedAt = performance.now();
    let isCut = false;
    try {
      await next();
    } catch (error) {
      isCut = error instanceof ConnectionCut && !error.partial;
      throw error;
    } finally {
      // A fault that truncates the body has read the body.
      const response = context.finalized && !context.res.bodyUsed ? context.res : undefined;
      const isError = response !== undefined && response.status >= 400;
      const isJson = response?.headers.get('content-type') === 'application/json';
      const isObserved = service.observers.size > 0;
      const text = response && (isError || (isObserved && isJson)) ? await textOf(response) : undefined;
      const why = context.get('why') ?? (isError ? describeError(text ?? '') : undefined);
      if (isObserved) await readUnreadBody(context);
      const duration = performance.now() - startedAt;
      const served = context.finalized ? context.res.status : undefined;
      const { env, req } = context;
      const isDisconnected = req.raw.signal.aborted;
      const status = isCut || isDisconnected ? 0 : (served ?? 0);
      const outcome = { status, ...(status === 0 && served !== undefined && { served }) };
      const entry = logEntry(service, context, `req_${state.requestCount + 1}`, clock.now(), outcome, why);
      response?.headers.set(service.contract?.requestIdHeader ?? 'x-request-id', entry.id);
      const isOwnTime = Math.abs(clock.now() - Date.now()) > MAX_CLOCK_DRIFT_MS;
      if (isOwnTime) response?.headers.set('x-sandbox-time', new Date(clock.now()).toISOString());
      // A recording omits the requests of an MCP tool, because it contains the message that calls the tool.
      const isRoot = env.token === undefined;
      service.logRequest(entry, {
        entry,
        url: ownUrl(context),
        headers: req.raw.headers,
        address: env.address,
        body: context.get('body'),
        response: isJson ? text : undefined,
        responseHeaders: response?.headers,
        file: context.get('file'),
        started,
        duration,
        isDisconnected,
        isRoot,
      });
    }
    return undefined;
  };

/** Returns the URL of a request at the address of the server, because `Host` may have any value. */
function ownUrl({ env, req }: Context<Env>): string {
  const { origin, pathname, search } = new URL(req.url);
  return `${env.overHttp?.origin ?? origin}${pathname}${search}`;
}

function logEntry(
  service: Service,
  context: Context<Env>,
  id: string,
  now: number,
  outcome: Pick<LogEntry, 'status' | 'served'>,
  why: string | undefined,
): LogEntry {
  // A fault rule or the `Accept` check responds before the sandbox reads the token.
  const account = (context.get('account') ?? bearerToken(service, context)?.account)?.email;
  const fault = context.get('fault');
  const bucket = context.get('bucket');
  const budget = context.get('budget');
  const freeAt = context.get('freeAt');
  const createdId = context.get('createdId');
  const key = context.req.header('idempotency-key');
  const name = nameIn(context);
  return {
    id,
    at: new Date(now).toISOString(),
    method: context.req.method,
    path: pathOf(context.req.raw),
    ...outcome,
    ...(account !== undefined && { account }),
    ...(key !== undefined && { idempotencyKey: key }),
    ...(name !== undefined && { name }),
    ...(createdId !== undefined && { createdId }),
    ...(context.get('replayed') && { replayed: true }),
    ...(fault !== undefined && { fault }),
    ...(why !== undefined && { why }),
    ...(freeAt !== undefined && { freeAt: new Date(freeAt).toISOString() }),
    ...(bucket && { bucket }),
    ...(budget && { budget }),
  };
}

/** Maximum size of a body to search for the name, in bytes. */
const MAX_NAMED = 65_536;

/** Returns the `name` in the JSON body of a POST request, or `undefined` without a name. */
function nameIn(context: Context<Env>): string | undefined {
  const body = context.get('body');
  if (context.req.method !== 'POST' || body === undefined || body.length > MAX_NAMED) return undefined;
  try {
    const parsed = parseJson(new TextDecoder().decode(body));
    return isObject(parsed) && typeof parsed.name === 'string' ? parsed.name.slice(0, MAX_WHY) : undefined;
  } catch {
    return undefined; // the body is nested too deeply, which the route reports
  }
}

/** Returns the reason in an error response: an envelope, an OAuth error, or XML of object storage. */
function describeError(text: string): string {
  const body = parseJson(text);
  if (!isObject(body))
    return text
      .replaceAll(/<[^>]*>|\s+/g, ' ')
      .trim()
      .slice(0, MAX_WHY);
  const { message, errors, error, error_description } = body;
  const fields = isObject(errors) ? Object.entries(errors).map(([field, list]) => `${field}: ${String(list)}`) : [];
  const oauth = error === undefined ? [] : [`${String(error)}: ${String(error_description)}`];
  const reasons = fields.length > 0 ? fields : oauth;
  return (reasons.length > 0 ? reasons.join(' ') : String(message)).slice(0, MAX_WHY);
}

/** Responds with 421 to a `Host` that is neither an IP address nor an accepted name, to prevent DNS rebinding. */
export const checkHost =
  (format: ErrorFormat): Middleware =>
  async (context, next) => {
    const { overHttp } = context.env;
    if (!overHttp) return next();
    const host = context.req.header('host') ?? '';
    const { hostname } = URL.canParse(`http://${host}`) ? new URL(`http://${host}`) : { hostname: '' };
    const isAccepted = /^(?:[\d.]+|\[.+\]|(?:.+\.)?localhost)$/.test(hostname) || overHttp.names.includes(hostname);
    if (isAccepted) return next();
    return format(
      421,
      `The sandbox is not known as "${hostname}". To use that host name, pass it as \`name\` to \`listen\`, or as --name to the command.`,
    );
  };

/** Returns whether a page of the same origin or a program (not a browser) sent a request. */
export function isSameOrigin({ req }: Context<Env>): boolean {
  const site = req.header('sec-fetch-site') ?? 'same-origin';
  const origin = req.header('origin');
  const isOwn = origin === undefined || (URL.canParse(origin) && new URL(origin).host === new URL(req.url).host);
  return site === 'same-origin' && isOwn;
}

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
    if (rule.maxAge !== undefined) {
      context.res.headers.set('cache-control', `public, max-age=${rule.maxAge}`);
      context.res.headers.set('last-modified', new Date(Date.now() - 86_400_000).toUTCString());
    }
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
