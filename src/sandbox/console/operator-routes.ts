import type { Context, Hono } from 'hono';
import { html } from 'hono/html';
import type { Env } from '../http/access.ts';
import { readForm } from '../http/request-body.ts';
import type { SandboxOptions } from '../sandbox-options.ts';
import { readResult } from '../storage/result-files.ts';
import type { ConsoleContext } from './console-context.ts';
import { deliveryHref, groupDeliveries } from './delivery-groups.ts';
import { head } from './html.ts';
import { type Page, render } from './layout.ts';
import { addressOf } from './lists.ts';
import { findResource, NAMESPACES, resourcesOf } from './objects.ts';
import { accountsPage } from './pages/accounts-page.ts';
import { clockPage } from './pages/clock-page.ts';
import { deliveriesPage } from './pages/deliveries-page.ts';
import { faultsPage } from './pages/faults-page.ts';
import { jobsPage } from './pages/jobs-page.ts';
import { limitsPage } from './pages/limits-page.ts';
import { objectPage } from './pages/object-page.ts';
import { requestPage } from './pages/request-page.ts';
import { requestsPage } from './pages/requests-page.ts';
import { resourcesPage } from './pages/resource-pages.ts';
import { sessionPage } from './pages/session-page.ts';
import { startPage } from './pages/start-page.ts';
import { recordedTest } from './recorded-test.ts';
import { findRequests, unsearchedText } from './request-search.ts';
import { shownAccounts, shownCompanies } from './shown-accounts.ts';
import { withAccount } from './words.ts';

type OperatorPage = (query: URLSearchParams, id: string) => Page | undefined | Promise<Page | undefined>;

/** Adds the pages, downloads and other routes for the operator's browser, which need the token of the run. */
export function addOperatorPages(app: Hono<Env>, console: ConsoleContext, options: SandboxOptions): void {
  const { service, recorder, operators, sandbox } = console;
  const pages: Readonly<Record<string, OperatorPage>> = {
    '/start': () => startPage(console),
    '/requests': (query) => requestsPage(console, query),
    '/requests/:id': (query, id) => requestPage(console, id, query),
    '/deliveries': (query) => deliveriesPage(console, query),
    '/jobs': (query) => jobsPage(console, query),
    '/resources': (query) => resourcesPage(console, query),
    '/resources/:id': (query, id) => objectPage(console, Number(id), query),
    '/clock': (query) => clockPage(console, query),
    '/faults': () => faultsPage(console),
    '/limits': (query) => limitsPage(console, query),
    '/accounts': (query) => accountsPage(console, query),
    '/session': () => sessionPage(console),
  };
  app.use(async (context, next) => {
    const cookie = operators.open(context);
    if (cookie !== undefined) return openConsole(context, cookie);
    return operators.has(context) ? next() : render(console, context, NO_TOKEN, 401);
  });
  for (const [path, create] of Object.entries(pages)) {
    app.get(path, async (context) => {
      service.clock.runDue();
      const page = await create(new URL(context.req.url).searchParams, context.req.param('id') ?? '');
      return page ? render(console, context, page) : context.notFound();
    });
  }
  // Before the first request, the page explains how to send one.
  app.get('/', (context) => context.redirect(service.state.requestCount === 0 ? '/start' : '/requests'));
  app.get('/find', (context) => {
    const { searchParams } = new URL(context.req.url);
    const found = find(console, searchParams);
    if (found) return context.redirect(withAccount(found, searchParams.get('account')));
    const title = `Nothing found for “${searchParams.get('q')}”`;
    const content = 'No id, key, name or request contains this text.';
    return render(console, context, { title, content: `${content} ${unsearchedText(console)}` });
  });
  app.get('/recording.test.ts', ({ req }) => {
    const source = recordedTest(recorder.recordingUntil(req.query('until')), options, service.state.storageUrl);
    return new Response(source, { headers: { 'content-type': 'text/plain; charset=utf-8' } });
  });
  // Serve the file from the console's origin: browsers save files only from the origin of the page, and no page may
  // contain the signature of a file.
  app.get('/results/:id/:file', ({ req, notFound }) => {
    const results = service.state.results.get(Number(req.param('id')));
    if (!results?.streams.some((stream) => req.param('file') === `${stream}.csv`)) return notFound();
    return new Response(readResult(results, 0), { headers: { 'content-type': 'text/csv; charset=utf-8' } });
  });
  app.get('/state.json', () => Response.json(sandbox.save()));
  app.post('/login-as', async (context) => {
    const form = await readForm(context);
    const account = service.state.accounts.get(form.get('account') ?? '');
    if (!account) return context.notFound();
    context.header('set-cookie', service.sessions.startOnly(account.email, context.req.raw));
    return context.redirect('/accounts', 303);
  });
}

/**
 * Returns the address of the page for the id of a request, an event or a resource (`audience:5`), for an idempotency key,
 * or for a part of the name of a resource or an endpoint. For other texts, returns a search in the requests; `undefined`
 * if it finds nothing.
 */
function find(console: ConsoleContext, query: URLSearchParams): string | undefined {
  const { service } = console;
  const { log } = service.state;
  const text = (query.get('q') ?? '').trim().replace(/^"(.+)"$/, '$1');
  const list = (path: string, q: string): string => addressOf(path, new URLSearchParams(), { q });
  const [request, ...more] = log.filter(({ id, idempotencyKey }) => id === text || idempotencyKey === text);
  if (request) return more.length === 0 ? `/requests/${request.id}` : list('/requests', `key:${text}`);
  const group = groupDeliveries(service).find(({ event }) => event.id === text);
  if (group) return deliveryHref(group.event);
  const [, kind, number] = /^(?:(.+?)[: ])?(\d+)$/.exec(text) ?? [];
  const byId = number === undefined ? undefined : findResource(service, Number(number));
  if (byId && (kind ?? byId.kind).toLowerCase() === byId.kind.toLowerCase()) return `/resources/${number}`;
  const hasText = ({ name }: { readonly name: string }): boolean =>
    text !== '' && name.toLowerCase().includes(text.toLowerCase());
  const resources = shownAccounts(console, query)
    .flatMap((account) => NAMESPACES.flatMap((namespace) => resourcesOf(account, namespace)))
    .filter(hasText);
  const exact = resources.filter(({ name }) => name.length === text.length);
  const [resource, ...others] = exact.length === 1 ? exact : resources;
  if (resource) return others.length === 0 ? `/resources/${resource.id}` : list('/resources', `"${text}"`);
  const [endpoint, ...rest] = shownCompanies(console, query).flatMap(({ endpoints }) => endpoints.filter(hasText));
  if (endpoint) return list('/deliveries', rest.length === 0 ? `endpoint:${endpoint.id}` : `"${text}"`);
  if (text === '') return '/requests';
  const [first, ...later] = findRequests(console, query);
  return first && (later.length === 0 ? `/requests/${first.id}` : list('/requests', query.get('q') ?? ''));
}

const NO_TOKEN: Page = {
  title: 'Open the console by its address',
  content: html`<div class="centre">${head('Open the console by its address')}
<p>Open the address that the sandbox printed, which contains a token for this run.</p></div>`,
};

/**
 * Stores a session in a cookie, and removes the token from the address. Uses no redirect: if another site linked to this
 * page, the browser would not send the cookie with the redirected request.
 */
function openConsole(context: Context<Env>, cookie: string) {
  context.header('set-cookie', cookie);
  return context.html(html`<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Console</title>
<meta http-equiv="refresh" content="0; url=/"><p><a href="/">Open the console</a></p></html>`);
}
