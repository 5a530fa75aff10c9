import type { Context } from 'hono';
import type { Env } from '../http/access.ts';
import type { AccountRecord } from '../state.ts';
import { listTokens } from '../tokens.ts';
import type { ConsoleContext } from './console-context.ts';
import { groupDeliveries } from './delivery-groups.ts';
import { nextTask } from './due-tasks.ts';
import { head } from './html.ts';
import { layout, type Page, type Viewer } from './layout.ts';
import { NAMESPACES } from './objects.ts';

/** Most accounts that the menu offers to log in as. */
const MAX_ACCOUNTS = 10;

/** Responds with a page, in the frame that its reader has. */
export function render(
  console: ConsoleContext,
  context: Context<Env>,
  page: Page,
  status: 200 | 401 | 404 | 429 | 500 = 200,
): Response | Promise<Response> {
  const shown = typeof page.content === 'string' ? { ...page, content: [head(page.title), page.content] } : page;
  return context.html(layout(shown, viewerOf(console, context)), status);
}

function viewerOf(console: ConsoleContext, context: Context<Env>): Viewer {
  const { service, operators, addresses } = console;
  const { clock, sessions, state } = service;
  const now = clock.now();
  const isOperator = operators.has(context);
  const email = sessions.find(context.req.raw);
  const { path } = context.req;
  const next = isOperator ? nextTask(service) : undefined;
  const deliveries = isOperator ? groupDeliveries(service.webhooks.attempts, now) : [];
  return {
    // The first page is the one of requests, once there are some.
    path: path === '/' ? (state.requestCount === 0 ? '/start' : '/requests') : path,
    isOperator,
    email,
    now,
    mode: clock.mode,
    next: next && next.time - now,
    api: isOperator ? addresses().api : '',
    accounts: isOperator
      ? [...state.accounts.keys()].filter((account) => account !== email).slice(0, MAX_ACCOUNTS)
      : [],
    counts: {
      ...(isOperator && { ...operatorCounts(console), '/deliveries': deliveries.length }),
      ...accountCounts(console, email),
    },
    failing: deliveries.filter(({ state: one }) => one === 'waiting').length,
  };
}

function operatorCounts({ service, recorder, sandbox }: ConsoleContext): Viewer['counts'] {
  const { state, jobs } = service;
  return {
    '/requests': state.log.length,
    '/jobs': jobs.saved.running.size,
    '/resources': [...state.accounts.values()].reduce((sum, account) => sum + resourceCount(account), 0),
    '/faults': sandbox.faults.list().length,
    '/accounts': state.accounts.size,
    '/session': recorder.stepCount,
  };
}

const resourceCount = (account: AccountRecord): number =>
  NAMESPACES.reduce((sum, [namespace]) => sum + account[namespace].size, 0);

function accountCounts({ service }: ConsoleContext, email = ''): Viewer['counts'] {
  const account = service.state.accounts.get(email);
  if (!account) return {};
  return {
    '/account/resources': resourceCount(account),
    '/account/webhooks': account.company.endpoints.length,
    '/account/tokens': listTokens(service, account).length,
  };
}
