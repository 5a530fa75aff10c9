import type { Context } from 'hono';
import { html } from 'hono/html';
import type { ClockMode } from '../clock.ts';
import type { Env } from '../http/access.ts';
import type { ConsoleContext } from './console-context.ts';
import { groupDeliveries } from './delivery-groups.ts';
import { nextTask } from './due-tasks.ts';
import { logInAs } from './forms.ts';
import { attributesOf, type Content, type Html, head } from './html.ts';
import { resourceCount } from './objects.ts';
import { count, dateText, durationText } from './words.ts';

/** A page of the console. */
export interface Page {
  readonly title: string;
  readonly content: Content;
  /** Address that its live parts come from. @default its own */
  readonly source?: string;
}

/** The reader of a page, and its path. */
interface Viewer {
  readonly console: ConsoleContext;
  readonly path: string;
  readonly isOperator: boolean;
  /** Email of the account that has logged in. */
  readonly email: string | undefined;
}

/** Responds with a page, in the frame that its reader has. */
export function render(
  console: ConsoleContext,
  context: Context<Env>,
  { title, content, source }: Page,
  status: 200 | 401 | 404 | 429 | 500 = 200,
): Response | Promise<Response> {
  const isOperator = console.operators.has(context);
  const email = console.service.sessions.find(context.req.raw);
  const viewer = { console, path: context.req.path, isOperator, email };
  const hasFrame = isOperator || email !== undefined;
  const frame = hasFrame ? [topBar(viewer), sideNavigation(viewer)] : '';
  // Another tab may log in as another account: the script sends the one that the page is of.
  const account = viewer.path.startsWith('/account/') && email;
  const shown = typeof content === 'string' ? [head(title), content] : content;
  // Without spaces between the elements: every page has them.
  const start = html`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title} – Sandbox</title><link rel="stylesheet" href="/console.css"><script src="/console.js" defer></script></head>`;
  return context.html(
    html`${start}<body${attributesOf({ class: !hasFrame && 'plain' })}><a class="skip" href="#main">Skip to the content</a>${frame}
<main id="main" tabindex="-1"${attributesOf({ 'data-source': source, 'data-account': account })}>${shown}</main></body></html>`,
    status,
  );
}

/** Returns how many seconds of a clock pass in a second. */
export const speedOf = (mode: ClockMode): number => (typeof mode === 'object' ? mode.speed : mode === 'manual' ? 0 : 1);

/** Returns how a clock runs, in words. */
export const modeText = (mode: ClockMode): string =>
  mode === 'manual' ? 'paused' : mode === 'real' ? 'real time' : `×${count(mode.speed)}`;

/** Returns the time of the sandbox, which the script lets run. */
export const clockElement = (now: number, mode: ClockMode): Html =>
  html`<time class="num" data-now="${now}" data-speed="${speedOf(mode)}">${new Date(now).toISOString().slice(11, 19)}</time>`;

function topBar(viewer: Viewer): Html {
  const { isOperator, email, console } = viewer;
  const { clock } = console.service;
  const { api } = console.addresses();
  const address = isOperator
    ? html`<button class="chip addr" data-text="${api}"><span class="soft far">API</span>
<code>${api.replace(/^\w+:\/\//, '')}</code><span class="soft far" data-label>Copy</span></button>`
    : html`<span></span>`;
  const [name = '', domain = ''] = (email ?? '').split(/(?=@)/);
  const time = html`<span class="sr">Clock</span>${clockElement(clock.now(), clock.mode)}<span class="soft far">UTC, ${modeText(clock.mode)}</span>`;
  const chip = isOperator
    ? html`<button popovertarget="clock-menu" class="chip" id="now" data-live>${time}</button>`
    : html`<span class="chip" id="now" data-live>${time}</span>`;
  const who = html`<span class="sr">Account</span><span>${name}<span class="far">${domain}</span></span>`;
  return html`<header class="top"><button class="menu chip" popovertarget="nav">Menu</button>${address}${chip}
<button popovertarget="account-menu" class="chip" id="who" data-live>${email === undefined ? 'Account' : who}</button>
${isOperator ? clockMenu(console) : ''}${accountMenu(viewer)}</header>`;
}

/** Most accounts that the menu offers to log in as. */
const MAX_ACCOUNTS = 10;

function accountMenu({ isOperator, email, console }: Viewer): Html {
  const all = isOperator ? [...console.service.state.accounts.keys()] : [];
  const others = all.filter((account) => account !== email).slice(0, MAX_ACCOUNTS);
  const items = others.map((account) => html`<li>${logInAs(account, { style: 'quiet small' })}</li>`);
  const choice = items.length > 0 ? html`<h3>Log in as</h3><ul>${items}</ul>` : '';
  const title = email === undefined ? 'No account' : html`<bdi>${email}</bdi>`;
  const action =
    email === undefined
      ? html`<p><a class="button small" href="/login">Log in with a password</a></p>`
      : html`<form class="acts" method="post" action="/logout"><button class="small">Log out</button></form>`;
  return html`<div id="account-menu" class="pop" popover><h2>${title}</h2>${choice}${action}</div>`;
}

/** Returns the menu of the clock; the script adds the buttons that advance it, which need the script anyway. */
function clockMenu({ service }: ConsoleContext): Html {
  const next = nextTask(service);
  const now = service.clock.now();
  const due = next === undefined ? 'Nothing is due.' : `Next event in ${durationText(next.time - now)}.`;
  return html`<div id="clock-menu" class="pop" popover>
<p class="soft" id="clock-text" data-live>${dateText(now)}, ${modeText(service.clock.mode)}. ${due}</p>
<p><a href="/clock">All that is due</a></p></div>`;
}

/** A link of the navigation, and a number beside it. */
type Link = readonly [path: string, text: string, number?: number | undefined];

function sideNavigation(viewer: Viewer): Html {
  const { isOperator, email = '', console } = viewer;
  const find = html`<form class="find" role="search" action="/find">
<input type="search" name="q" aria-label="Find by id" placeholder="Find by id (Ctrl K)"></form>`;
  const links = [
    isOperator ? group('Operator', '', operatorLinks(console), viewer) : '',
    email === '' ? '' : group('Account', email, accountLinks(console, email), viewer),
  ];
  return html`<nav id="nav" class="side" popover aria-label="Console"><a class="brand" href="${isOperator ? '/start' : '/account'}">Sandbox</a>
${isOperator ? find : ''}<div id="nav-links" data-live>${links}</div></nav>`;
}

function operatorLinks({ service, recorder, sandbox }: ConsoleContext): readonly Link[] {
  const { state, jobs } = service;
  const resources = [...state.accounts.values()].reduce((sum, account) => sum + resourceCount(account), 0);
  return [
    ['/start', 'Start'],
    ['/requests', 'Requests', state.log.length],
    ['/deliveries', 'Deliveries'],
    ['/jobs', 'Jobs', jobs.saved.running.size],
    ['/resources', 'Resources', resources],
    ['/clock', 'Clock'],
    ['/faults', 'Faults', sandbox.faults.list().length],
    ['/limits', 'Limits'],
    ['/accounts', 'Accounts', state.accounts.size],
    ['/session', 'Session', recorder.stepCount],
  ];
}

function accountLinks({ service, sandbox }: ConsoleContext, email: string): readonly Link[] {
  const account = service.state.accounts.get(email);
  return [
    ['/account/resources', 'Resources', account && resourceCount(account)],
    ['/account/webhooks', 'Webhooks', account?.company.endpoints.length],
    ['/account/tokens', 'Tokens', account && sandbox.accounts.get(email).tokens().length],
    ['/account/password', 'Password'],
  ];
}

function group(title: string, email: string, links: readonly Link[], { path, console }: Viewer): Html {
  const { state } = console.service;
  // The first page is the one of requests, once there are some.
  const current = path === '/' ? (state.requestCount === 0 ? '/start' : '/requests') : path;
  const items = links.map(([target, text, number = 0]) => {
    const isCurrent = `${current}/`.startsWith(`${target}/`);
    const badge =
      target === '/deliveries' ? deliveryCount(console) : number > 0 ? html`<span>${count(number)}</span>` : '';
    return html`<li><a${attributesOf({ href: target, 'aria-current': isCurrent && 'page' })}>${text}${badge}</a></li>`;
  });
  const owner = email === '' ? '' : html` <bdi title="${email}">${email}</bdi>`;
  return html`<h2>${title}${owner}</h2><ul>${items}</ul>`;
}

/** Returns the number of deliveries, or of those that have failed and are attempted again. */
function deliveryCount({ service: { webhooks, clock } }: ConsoleContext): Html | '' {
  const deliveries = groupDeliveries(webhooks.attempts, clock.now());
  const failing = deliveries.filter(({ state }) => state === 'waiting').length;
  if (failing > 0) return html`<span class="alarm">${count(failing)} failing</span>`;
  return deliveries.length > 0 ? html`<span>${count(deliveries.length)}</span>` : '';
}
