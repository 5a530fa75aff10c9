import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { html } from 'hono/html';
import type { SandboxAdmin } from '../admin/sandbox-admin.ts';
import { checkAddress, type Env } from '../http/access.ts';
import { ConnectionCut } from '../http/connection-cut.ts';
import { checkHost, isSameOrigin } from '../http/middleware.ts';
import { isBodyWithin, readForm } from '../http/request-body.ts';
import type { SandboxOptions } from '../sandbox-options.ts';
import type { Service } from '../service.ts';
import type { AccountRecord } from '../state.ts';
import { changeStream } from './change-stream.ts';
import { layout, type Page } from './layout.ts';
import { type ConsoleContext, createAccountApi, createOperatorApi } from './operator-api.ts';
import { Operators } from './operators.ts';
import { pageScript } from './page-script.ts';
import { loginPage, passwordPage, tokensPage, webhooksPage } from './pages/account-pages.ts';
import { accountsPage } from './pages/accounts-page.ts';
import { clockPage } from './pages/clock-page.ts';
import { deliveriesPage } from './pages/deliveries-page.ts';
import { faultsPage } from './pages/faults-page.ts';
import { jobsPage } from './pages/jobs-page.ts';
import { limitsPage } from './pages/limits-page.ts';
import { recordingPage } from './pages/recording-page.ts';
import { operationPage, referencePage } from './pages/reference-page.ts';
import { requestPage, requestsPage } from './pages/requests-page.ts';
import { overviewPage, resourcesPage } from './pages/resource-pages.ts';
import { recordedTest } from './recorded-test.ts';
import { Recorder } from './recorder.ts';
import { ICON, STYLES } from './styles.ts';

type Middleware = MiddlewareHandler<Env>;

/** Longest body of a request to the console, in bytes. */
const MAX_BODY = 1_000_000;

const SECURITY_HEADERS = {
  'content-security-policy': "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cache-control': 'no-store',
};

/**
 * Creates the console: pages and JSON endpoints of the operator, and the pages of an account that has logged in. Over HTTP, the
 * operator needs the token of the run; in process, whoever can call it is the operator.
 */
export function createConsole(
  service: Service,
  sandbox: SandboxAdmin,
  options: SandboxOptions,
  seed: number,
): Hono<Env> {
  const recorder = new Recorder(service, seed);
  const operators = new Operators();
  const console: ConsoleContext = { service, sandbox, recorder, operators };
  const app = new Hono<Env>();
  app.use(checkHost((status, message) => Response.json({ message }, { status })));
  app.use(addHeaders);
  app.use(checkOrigin);
  app.use(async (context, next) => {
    if (await isBodyWithin(MAX_BODY, context)) return next();
    return context.json({ message: `A body for the console must have at most ${MAX_BODY} bytes.` }, 413);
  });
  addAssets(app);
  app.get('/events', (context) => {
    const isKnown = (): boolean => operators.has(context) || service.sessions.find(context.req.raw) !== undefined;
    if (!isKnown()) return context.text('Log in first.', 401);
    // The body of a response to HEAD is dropped, and never cancelled.
    return context.req.method === 'HEAD' ? context.body(null) : changeStream(service, context.req.raw.signal, isKnown);
  });
  app.use('/api/*', async (context, next) => {
    if (operators.has(context)) return next();
    return context.json({ message: 'Send the token of `consoleUrl` as a bearer token.' }, 401);
  });
  app.route('/api', createOperatorApi(console));
  app.all('/api/*', noEndpoint);
  addAccountPages(app, console);
  addOperatorPages(app, console, options);
  app.onError((error, context) => {
    if (error instanceof ConnectionCut) throw error;
    return render(console, context, { title: 'The console failed', content: error.message }, 500);
  });
  app.notFound((context) => {
    return render(console, context, { title: 'Not found', content: 'The console has no such page.' }, 404);
  });
  return app;
}

const addHeaders: Middleware = async (context, next) => {
  await next();
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) context.res.headers.set(name, value);
};

/** Refuses writes and streams that pages of other origins ask for. */
const checkOrigin: Middleware = async (context, next) => {
  const { req } = context;
  if (req.method === 'GET' && req.path !== '/events') return next();
  if (isSameOrigin(context)) return next();
  return context.json({ message: 'Pages of another origin cannot use the console.' }, 403);
};

const noEndpoint = ({ json, req: { method, path } }: Context<Env>): Response =>
  json({ message: `The console has no endpoint ${method} ${path}.` }, 404);

function addAssets(app: Hono<Env>): void {
  const asset = (path: string, type: string, content: string): void => {
    app.get(path, () => new Response(content, { headers: { 'content-type': `${type}; charset=utf-8` } }));
  };
  asset('/console.css', 'text/css', STYLES);
  asset('/console.js', 'text/javascript', `(${pageScript.toString()})();`);
  asset('/icon.svg', 'image/svg+xml', ICON);
  // Browsers ask for it before they have read a page.
  asset('/favicon.ico', 'image/svg+xml', ICON);
}

/** Responds with a page. */
function render(
  { service, operators }: ConsoleContext,
  context: Context<Env>,
  page: Page,
  status: 200 | 401 | 404 | 429 | 500 = 200,
) {
  const viewer = {
    path: context.req.path,
    isOperator: operators.has(context),
    email: service.sessions.find(context.req.raw),
    now: new Date(service.clock.now()).toISOString(),
  };
  return context.html(layout(page, viewer), status);
}

/** Adds the pages of the operator. */
function addOperatorPages(app: Hono<Env>, console: ConsoleContext, options: SandboxOptions): void {
  const { service, recorder, operators } = console;
  const pages: Readonly<Record<string, (query: URLSearchParams) => Page>> = {
    '/': (query) => requestsPage(console, query),
    '/deliveries': () => deliveriesPage(console),
    '/jobs': () => jobsPage(console),
    '/clock': () => clockPage(console),
    '/faults': () => faultsPage(console),
    '/limits': () => limitsPage(console),
    '/accounts': () => accountsPage(console),
    '/recording': () => recordingPage(console),
    '/reference': referencePage,
  };
  app.use(async (context, next) => {
    const cookie = operators.open(context);
    if (cookie !== undefined) return openWithToken(context, cookie);
    return operators.has(context) ? next() : render(console, context, NO_TOKEN, 401);
  });
  for (const [path, create] of Object.entries(pages)) {
    app.get(path, (context) => {
      service.clock.runDue();
      return render(console, context, create(new URL(context.req.url).searchParams));
    });
  }
  app.get('/requests/:id', (context) => {
    const page = requestPage(console, context.req.param('id'));
    return page ? render(console, context, page) : context.notFound();
  });
  app.get('/reference/:operation', (context) => {
    const page = operationPage(context.req.param('operation'));
    return page ? render(console, context, page) : context.notFound();
  });
  app.get('/recording.test.ts', () => {
    const source = recordedTest(recorder.recording, options, service.state.storageUrl);
    return new Response(source, { headers: { 'content-type': 'text/plain; charset=utf-8' } });
  });
  app.post('/recording/restart', (context) => {
    recorder.restart();
    return context.redirect('/recording', 303);
  });
  app.post('/login-as', async (context) => {
    const account = service.state.accounts.get((await readForm(context)).get('email') ?? '');
    if (!account) return context.notFound();
    context.header('set-cookie', service.sessions.startOnly(account.email, context.req.raw));
    return context.redirect('/account', 303);
  });
}

const NO_TOKEN: Page = {
  title: 'Open the console by its address',
  content: html`<p>The sandbox has printed an address with a token for this run: open that one.</p>
<p>The pages of an account need its email and password only: <a href="/login">Log in</a></p>`,
};

/**
 * Keeps the token in a cookie and leaves it out of the address. Not by a redirect: if the link was on a page of another site,
 * the browser would not send the cookie.
 */
function openWithToken(context: Context<Env>, cookie: string) {
  context.header('set-cookie', cookie);
  return context.html(html`<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Console</title><meta http-equiv="refresh" content="0; url=/"><p><a href="/">Open the console</a></p></html>`);
}

/** Adds the pages of an account that has logged in. */
function addAccountPages(app: Hono<Env>, console: ConsoleContext): void {
  const { service, sandbox } = console;
  const { state, sessions } = service;
  const accountOf = ({ req }: Context<Env>): AccountRecord | undefined =>
    state.accounts.get(sessions.find(req.raw) ?? '');
  app.get('/login', (context) => {
    const isChanged = context.req.query('changed') !== undefined;
    return render(console, context, loginPage({ next: context.req.query('next') ?? '/account', isChanged }));
  });
  app.post('/login', async (context) => {
    const limited = checkAddress(service, context, 'login');
    const form = await readForm(context);
    const email = form.get('email') ?? '';
    const account = state.accounts.get(email);
    const next = pathOf(form.get('next'));
    const wait = limited?.headers.get('retry-after');
    if (wait) {
      context.header('retry-after', wait);
      const problem = `Too many logins from this address. Try again in ${wait} s.`;
      return render(console, context, loginPage({ next, email, problem }), 429);
    }
    if (!account || account.password !== form.get('password')) {
      const problem = 'These credentials do not match our records.';
      return render(console, context, loginPage({ next, email, problem }), 401);
    }
    context.header('set-cookie', sessions.startOnly(email, context.req.raw));
    return context.redirect(next, 303);
  });
  app.post('/logout', (context) => {
    const email = sessions.find(context.req.raw);
    if (email !== undefined && state.accounts.has(email)) sandbox.accounts.get(email).logout();
    context.header('set-cookie', sessions.end(context.req.raw));
    return context.redirect('/login', 303);
  });
  app.use('/account/api/*', async (context, next) =>
    accountOf(context) ? next() : context.json({ message: 'Log in first.' }, 401),
  );
  app.route('/account/api', createAccountApi(console));
  app.all('/account/api/*', noEndpoint);
  const pages: Readonly<Record<string, (account: AccountRecord) => Page>> = {
    '/account': (account) => overviewPage(console, account),
    '/account/resources': (account) => resourcesPage(console, account),
    '/account/webhooks': (account) => webhooksPage(console, account),
    '/account/tokens': ({ email }) => tokensPage(console, sandbox.accounts.get(email)),
    '/account/password': passwordPage,
  };
  for (const [path, create] of Object.entries(pages)) {
    app.get(path, (context) => {
      service.clock.runDue();
      const account = accountOf(context);
      if (!account) return context.redirect(`/login?next=${encodeURIComponent(path)}`, 302);
      return render(console, context, create(account));
    });
  }
}

/** Returns a path of the console: nothing that leads to another origin. */
function pathOf(next: string | null): string {
  const base = 'http://localhost';
  const url = next && URL.canParse(next, base) ? new URL(next, base) : undefined;
  // A path that begins with two slashes is an address of another origin.
  return url?.origin === base && !url.pathname.startsWith('//') ? `${url.pathname}${url.search}` : '/account';
}
