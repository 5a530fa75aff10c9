import type { Context, Hono } from 'hono';
import { checkAddress, type Env } from '../http/access.ts';
import { readForm } from '../http/request-body.ts';
import type { AccountRecord } from '../state.ts';
import type { ConsoleContext } from './console-context.ts';
import { type Page, render } from './layout.ts';
import { type LoginForm, loginPage, passwordPage, tokensPage } from './pages/account-pages.ts';
import { ownResourcesPage } from './pages/resource-pages.ts';
import { webhookPage, webhooksPage } from './pages/webhook-pages.ts';

/** Creates a page of an account; `undefined` if it has no such page. */
type AccountPage = (account: AccountRecord, query: URLSearchParams, id: number) => Page | undefined;

/** The first page of an account. */
const HOME = '/account/resources';

/** Most accounts that an operator is offered to log in as. */
const MAX_ACCOUNTS = 5;

/** Adds the pages of an account that has logged in. */
export function addAccountPages(app: Hono<Env>, console: ConsoleContext): void {
  const { service, sandbox } = console;
  const { state, sessions } = service;
  app.get('/login', (context) => {
    const why = sessions.whyEnded(context.req.raw);
    const ended = why && `Your session has ended: ${why}.`;
    return respondWithLogin(console, context, { next: context.req.query('next') ?? HOME, ended });
  });
  app.post('/login', (context) => logIn(console, context));
  app.post('/logout', (context) => {
    const email = sessions.find(context.req.raw);
    if (email !== undefined && state.accounts.has(email)) sandbox.accounts.get(email).logout();
    context.header('set-cookie', sessions.end(context.req.raw));
    return context.redirect('/login', 303);
  });
  app.get('/account', (context) => context.redirect(HOME, 302));
  const pages: Readonly<Record<string, AccountPage>> = {
    '/account/resources': (account, query) => ownResourcesPage(console, account, query),
    '/account/webhooks': (account) => webhooksPage(console, account),
    '/account/webhooks/:id': (account, query, id) => webhookPage(console, account, id, query),
    '/account/tokens': ({ email }) => tokensPage(console, sandbox.accounts.get(email)),
    '/account/password': passwordPage,
  };
  for (const [path, create] of Object.entries(pages)) {
    app.get(path, (context) => {
      service.clock.runDue();
      const { pathname, searchParams } = new URL(context.req.url);
      const account = state.accounts.get(sessions.find(context.req.raw) ?? '');
      if (!account && enter(console, context)) return context.redirect(`${pathname}?${searchParams}`, 302);
      if (!account) return context.redirect(`/login?next=${encodeURIComponent(pathname)}`, 302);
      const page = create(account, searchParams, Number(context.req.param('id')));
      return page ? render(console, context, page) : context.notFound();
    });
  }
}

/**
 * Logs an operator in as the only account, so that no password stands between them and its pages; returns whether it did. Not a browser
 * whose session has ended, which must see why.
 */
function enter({ service, operators }: ConsoleContext, context: Context<Env>): boolean {
  const { state, sessions } = service;
  const [account] = state.accounts.values();
  const isAsked = state.accounts.size > 1 || sessions.whyEnded(context.req.raw) !== undefined;
  if (!account || isAsked || !operators.has(context)) return false;
  context.header('set-cookie', sessions.start(account.email, context.req.raw));
  return true;
}

function respondWithLogin(
  console: ConsoleContext,
  context: Context<Env>,
  form: LoginForm,
  status?: 401 | 429,
): Response | Promise<Response> {
  const all = console.operators.has(context) ? [...console.service.state.accounts.keys()] : [];
  return render(console, context, loginPage(form, all.slice(0, MAX_ACCOUNTS)), status);
}

async function logIn(console: ConsoleContext, context: Context<Env>): Promise<Response> {
  const { service } = console;
  const limited = checkAddress(service, context, 'login');
  const form = await readForm(context);
  const email = form.get('email') ?? '';
  const next = pathOf(form.get('next'));
  const wait = limited?.headers.get('retry-after');
  if (wait) {
    context.header('retry-after', wait);
    const problem = `Too many logins from this address. Try again in ${wait} s.`;
    return respondWithLogin(console, context, { next, email, problem }, 429);
  }
  const account = service.state.accounts.get(email);
  if (!account || account.password !== form.get('password')) {
    const problem = 'These credentials do not match our records.';
    return respondWithLogin(console, context, { next, email, problem }, 401);
  }
  context.header('set-cookie', service.sessions.startOnly(email, context.req.raw));
  return context.redirect(next, 303);
}

/** Returns a path of the console, by default that of the account: nothing that leads to another origin. */
export function pathOf(next: string | null): string {
  const base = 'http://localhost';
  const url = next && URL.canParse(next, base) ? new URL(next, base) : undefined;
  // A path that begins with two slashes is an address of another origin.
  return url?.origin === base && !url.pathname.startsWith('//') ? `${url.pathname}${url.search}` : HOME;
}
