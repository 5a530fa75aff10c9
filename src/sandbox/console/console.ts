import { Hono, type MiddlewareHandler } from 'hono';
import type { SandboxAdmin } from '../admin/sandbox-admin.ts';
import type { Env } from '../http/access.ts';
import { ConnectionCut } from '../http/connection-cut.ts';
import { checkHost, isSameOrigin } from '../http/middleware.ts';
import { isBodyWithin } from '../http/request-body.ts';
import type { SandboxOptions } from '../sandbox-options.ts';
import { SCRIPT, STYLES } from './assets.ts';
import { changeStream } from './change-stream.ts';
import type { ConsoleContext } from './console-context.ts';
import { History } from './history.ts';
import { render } from './layout.ts';
import { createOperatorApi } from './operator-api.ts';
import { addOperatorPages } from './operator-routes.ts';
import { Operators } from './operators.ts';
import { Recorder } from './recorder.ts';

type Middleware = MiddlewareHandler<Env>;

/** Maximum size in bytes of a request body, and of a state that an operator loads: about V8's maximum string length. */
const MAX_BODY = 1_000_000;
const MAX_STATE = 2 ** 29;

const SECURITY_HEADERS = {
  'content-security-policy': "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cache-control': 'no-store',
};

interface ConsoleParts extends Pick<ConsoleContext, 'service' | 'addresses' | 'send'> {
  readonly admin: SandboxAdmin;
  readonly options: SandboxOptions;
  readonly seed: number;
}

/** Over HTTP, the operator needs the token of the run. In process, any code that can call the console is the operator. */
export function createConsole({ service, admin: sandbox, options, seed, addresses, send }: ConsoleParts): Hono<Env> {
  const recorder = new Recorder(service, seed);
  const history = new History(service);
  const operators = new Operators();
  const console: ConsoleContext = { service, sandbox, recorder, history, operators, addresses, send };
  const app = new Hono<Env>();
  const message = 'The console accepts only localhost and IP addresses as its host name.';
  app.use(checkHost((status) => Response.json({ message }, { status })));
  app.use(addHeaders);
  app.use(checkOrigin);
  app.use(limitBody(operators));
  addAssets(app);
  app.get('/events', (context) => {
    const isKnown = (): boolean => operators.has(context);
    if (!isKnown()) return context.text('Open the address that the sandbox has printed.', 401);
    // The server drops the body of a response to HEAD without cancelling it.
    return context.req.method === 'HEAD' ? context.body(null) : changeStream(service, context.req.raw.signal, isKnown);
  });
  app.use('/api/*', async (context, next) => {
    if (operators.has(context)) return next();
    return context.json({ message: 'Send the token of `consoleUrl` as a bearer token.' }, 401);
  });
  app.route('/api', createOperatorApi(console));
  app.all('/api/*', ({ json, req: { method, path } }) =>
    json({ message: `The console has no endpoint ${method} ${path}.` }, 404),
  );
  addOperatorPages(app, console, options);
  app.onError((error, context) => {
    if (error instanceof ConnectionCut) throw error;
    return render(console, context, { title: 'The console failed', content: error.message }, 500);
  });
  app.notFound((context) =>
    render(console, context, { title: 'Not found', content: `The console has no page ${context.req.path}.` }, 404),
  );
  return app;
}

const addHeaders: Middleware = async (context, next) => {
  await next();
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) context.res.headers.set(name, value);
};

/** Refuses writes and streams for pages of other origins. */
const checkOrigin: Middleware = async (context, next) => {
  const { req } = context;
  if (req.method === 'GET' && req.path !== '/events') return next();
  if (isSameOrigin(context)) return next();
  return context.json({ message: 'Pages of another origin cannot use the console.' }, 403);
};

/** Refuses bodies that are too long. Only an operator may send a state, which may be longer than other bodies. */
const limitBody =
  (operators: Operators): Middleware =>
  async (context, next) => {
    const max = context.req.path === '/api/state' && operators.has(context) ? MAX_STATE : MAX_BODY;
    if (await isBodyWithin(max, context)) return next();
    return context.json({ message: `A body for the console must have at most ${max} bytes.` }, 413);
  };

const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="8" cy="8" r="5.5" fill="none" stroke="#4540c4" stroke-width="4"/></svg>';

function addAssets(app: Hono<Env>): void {
  const asset = (path: string, type: string, content: string): void => {
    app.get(path, () => new Response(content, { headers: { 'content-type': `${type}; charset=utf-8` } }));
  };
  asset('/console.css', 'text/css', STYLES);
  asset('/console.js', 'text/javascript', SCRIPT);
  // Browsers request the icon of each origin.
  asset('/favicon.ico', 'image/svg+xml', ICON);
}
