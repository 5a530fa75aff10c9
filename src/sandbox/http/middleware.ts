import type { Hono, MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import { ConnectionCut, describeFault } from '../faults.ts';
import type { Service } from '../service.ts';
import type { Env } from './access.ts';
import { NestingError } from './request-body.ts';
import { invalid } from './responses.ts';

type Layer = MiddlewareHandler<Env>;

/** How an origin of the service answers when it refuses to work. */
export type Failure = (status: number, message?: string) => Response;

/** What is before every route: CORS for pages of any origin, the log, and faults. */
export function addMiddleware(app: Hono<Env>, service: Service, exposeHeaders: string[], failure: Failure): void {
  app.use(logged(service));
  app.use(addressed(failure));
  app.use(cors({ origin: '*', exposeHeaders }));
  app.use(faulty(service, failure));
  app.onError((error) => {
    if (error instanceof ConnectionCut) throw error;
    if (error instanceof NestingError) return invalid({ body: [error.message] });
    return failure(500, `The sandbox failed: ${error.message}`);
  });
}

/** A path as it was sent, encoded, so that no line of a log is two; the longest are cut. */
const pathOf = (request: Request): string => new URL(request.url).pathname.slice(0, 2_000);

/** Writes each request down when it has been answered, but the preflights that browsers send by themselves. */
const logged =
  ({ clock, state, record }: Service): Layer =>
  async (context, next) => {
    clock.settle();
    if (context.req.method === 'OPTIONS') return next();
    try {
      await next();
      context.res.headers.set('x-request-id', `req_${state.log.total + 1}`);
      return undefined;
    } finally {
      const account = context.get('account')?.email;
      const fault = context.get('fault');
      record({
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

/** 421 for a `Host` that is no address and no known name, as a page's whose name was bound to this machine (DNS rebinding). */
const addressed =
  (failure: Failure): Layer =>
  async (context, next) => {
    const { overHttp } = context.env;
    if (!overHttp) return next();
    const host = context.req.header('host') ?? '';
    const { hostname } = URL.canParse(`http://${host}`) ? new URL(`http://${host}`) : { hostname: '' };
    const known = /^(?:[\d.]+|\[.+\]|(?:.+\.)?localhost)$/.test(hostname) || overHttp.names.includes(hostname);
    if (known) return next();
    return failure(421, `The sandbox does not know itself as "${hostname}"; listen with that \`name\` if it should.`);
  };

/** Lets go wrong what rules say. */
const faulty =
  ({ faults, ended }: Service, failure: Failure): Layer =>
  async (context, next) => {
    const { method, raw } = context.req;
    const strike = faults.strike({ method, path: pathOf(raw), headers: raw.headers });
    if (!strike) return next();
    const { rule } = strike;
    const { delay, inFlight } = rule;
    const removed = strike.removed.signal;
    context.set('fault', describeFault(rule));
    if (delay !== undefined) await sleep(delay, removed, AbortSignal.any([raw.signal, ended.signal]));
    if (rule.cut === 'before') throw new ConnectionCut();
    if (inFlight !== undefined) context.set('inFlight', () => sleep(inFlight, removed, ended.signal));
    if (rule.status !== undefined) {
      const answer = failure(rule.status);
      if (rule.retryAfter !== undefined) answer.headers.set('retry-after', String(rule.retryAfter));
      return answer;
    }
    await next();
    if (rule.cut === 'after') throw new ConnectionCut();
    if (rule.cut !== 'body' && !rule.malformed) return undefined;
    const { status } = context.res;
    const headers = new Headers(context.res.headers);
    const whole = new Uint8Array(await context.res.arrayBuffer());
    const body = whole.slice(0, Math.floor(whole.length / 2));
    if (rule.cut === 'body') throw new ConnectionCut({ answer: { status, headers, body } });
    headers.delete('content-length');
    context.res = new Response(body, { status, headers });
    return undefined;
  };

/** Waits for milliseconds of the machine, or until `removed`; `cut` ends it with a cut connection. */
async function sleep(ms: number, removed: AbortSignal, cut: AbortSignal): Promise<void> {
  const signal = AbortSignal.any([removed, cut]);
  await new Promise<void>((resolve) => {
    const wake = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', wake);
      resolve();
    };
    const timer = setTimeout(wake, ms);
    signal.addEventListener('abort', wake);
    if (signal.aborted) wake();
  });
  if (cut.aborted) throw new ConnectionCut();
}
