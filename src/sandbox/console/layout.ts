import type { Context } from 'hono';
import { html } from 'hono/html';
import { type ClockMode, speedOf } from '../clock.ts';
import type { Env } from '../http/access.ts';
import { isDisabled } from '../webhook-deliveries.ts';
import type { ConsoleContext } from './console-context.ts';
import { type DeliveryGroup, groupDeliveries, STATES } from './delivery-groups.ts';
import { attributesOf, type Content, type Html, head } from './html.ts';
import { addressOf } from './lists.ts';
import { resourceCount } from './objects.ts';
import { findRequests } from './request-search.ts';
import { chosenAccount, shownAccounts, shownCompanies, shownLimits } from './shown-accounts.ts';
import { count, momentText, withAccount } from './words.ts';

export interface Page {
  readonly title: string;
  readonly content: Content;
}

/** Responds with a page; an operator sees it in the frame of the console. */
export async function render(
  console: ConsoleContext,
  context: Context<Env>,
  { title, content }: Page,
  status: 200 | 401 | 404 | 500 = 200,
): Promise<Response> {
  const { pathname, searchParams } = new URL(context.req.url);
  const isOperator = console.operators.has(context);
  const frame = isOperator
    ? [topBar(console, pathname, searchParams), sideNavigation(console, pathname, searchParams)]
    : '';
  const shown = typeof content === 'string' ? [head(title), content] : content;
  // Every page contains this text, so omit spaces between its elements.
  const start = html`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title} – Sandbox</title><link rel="stylesheet" href="/console.css"><script src="/console.js" defer></script></head>`;
  const page = await html`${start}<body><a class="skip" href="#main">Skip to the content</a>${frame}
<main id="main" tabindex="-1">${shown}</main></body></html>`;
  return context.html(keepAccount(String(page), searchParams.get('account')), status);
}

/** Adds the account filter to the links of a page that lead to another page. */
const keepAccount = (page: string, account: string | null): string =>
  page.replaceAll(/(?<=(?:href|data-then)=")\/(?![\w/]*\.)[^"]*/g, (href) => withAccount(href, account));

export const modeText = (mode: ClockMode): string =>
  mode === 'manual' ? 'paused' : mode === 'real' ? 'real time' : `×${count(mode.speed)}`;

export const clockElement = (now: number, mode: ClockMode): Html =>
  html`<time class="num" data-now="${now}" data-speed="${speedOf(mode)}">${momentText(now)}</time>`;

function topBar(console: ConsoleContext, path: string, query: URLSearchParams): Html {
  const { clock } = console.service;
  const { api } = console.addresses();
  return html`<header class="top"><button class="menu chip" popovertarget="nav">Menu</button>
<button class="chip addr far" data-text="${api}"><span class="soft far">API</span>
<code>${api.replace(/^\w+:\/\//, '')}</code><span class="soft far" data-label>Copy</span></button>
<div id="filter" data-live>${accountFilter(console, path, query)}</div>
<a href="/clock" class="button chip" id="now" data-live><span class="sr">Clock</span>${clockElement(clock.now(), clock.mode)}<span class="soft far">UTC, ${modeText(clock.mode)}</span></a></header>`;
}

/** Returns the filter of all pages; with one account, there is nothing to filter. */
function accountFilter(console: ConsoleContext, path: string, query: URLSearchParams): Html | '' {
  const accounts = [...console.service.state.accounts.values()];
  if (accounts.length < 2) return '';
  const chosen = chosenAccount(console, query)?.email ?? '';
  const link = (email: string, text: Content): Html => {
    const href = addressOf(path, query, { account: email, from: '' });
    return html`<li><a${attributesOf({ href, 'aria-current': email === chosen && 'true' })}>${text}</a></li>`;
  };
  const [name = '', domain = ''] = chosen.split(/(?<=@)/);
  const shown = chosen === '' ? 'All accounts' : html`${name}<span class="far">${domain}</span>`;
  return html`<button popovertarget="accounts-menu" class="chip"><span class="sr">Account filter: </span><span>${shown}</span></button>
<div id="accounts-menu" class="pop" popover><h2>Show</h2><ul>${link('', 'All accounts')}
${accounts.map(({ email }) => link(email, html`<bdi>${email}</bdi>`))}</ul></div>`;
}

/** A link of the navigation, with a number or a problem beside it, and the state that the number counts. */
type Link = readonly [path: string, text: string, beside?: Html | number | undefined, state?: string];

function sideNavigation(console: ConsoleContext, path: string, query: URLSearchParams): Html {
  const find = html`<form class="find" role="search" action="/find">
<input type="search" name="q" aria-label="Find" placeholder="Find">
<input type="hidden" name="account" value="${query.get('account') ?? ''}"></form>`;
  const groups = linksOf(console, query).map((links) => group(links, path));
  return html`<nav id="nav" class="side" popover aria-label="Console"><a class="brand" href="/start">Sandbox</a>
${find}<div id="nav-links" data-live>${groups}</div></nav>`;
}

function linksOf(console: ConsoleContext, query: URLSearchParams): readonly (readonly Link[])[] {
  const { service, recorder, sandbox } = console;
  const accounts = shownAccounts(console, query);
  const own = new URLSearchParams({ account: query.get('account') ?? '' });
  const running = [...service.jobs.saved.running.values()].filter(({ account }) => accounts.includes(account));
  return [
    [
      ['/start', 'Start'],
      ['/requests', 'Requests', findRequests(console, own).length],
      ['/jobs', 'Jobs', running.length],
      ['/deliveries', 'Deliveries', ...deliveryAlarm(console, query)],
      ['/resources', 'Resources', accounts.reduce((sum, account) => sum + resourceCount(account), 0)],
    ],
    [
      ['/clock', 'Clock'],
      ['/limits', 'Limits', limitAlarm(console, query)],
      ['/faults', 'Faults', sandbox.faults.list().length],
    ],
    [
      ['/accounts', 'Accounts and tokens', accounts.length],
      ['/session', 'Session', recorder.stepCount],
    ],
  ];
}

function group(links: readonly Link[], path: string): Html {
  const items = links.map(([target, text, beside = 0, state = '']) => {
    const isCurrent = `${path}/`.startsWith(`${target}/`);
    const badge = typeof beside !== 'number' ? beside : beside > 0 ? html`<span>${count(beside)}</span>` : '';
    const href = addressOf(target, new URLSearchParams(), { state });
    return html`<li><a${attributesOf({ href, 'aria-current': isCurrent && 'page' })}>${text}${badge}</a></li>`;
  });
  return html`<ul>${items}</ul>`;
}

/** Returns the numbers of deliveries and endpoints with a problem, or else the number of deliveries. One problem has its tab. */
function deliveryAlarm(console: ConsoleContext, query: URLSearchParams): readonly [Html | number, state?: string] {
  const endpoints = shownCompanies(console, query).flatMap((company) => company.endpoints);
  const deliveries = groupDeliveries(console.service, chosenAccount(console, query));
  const number = (state: DeliveryGroup['state']): number => deliveries.filter((one) => one.state === state).length;
  const problems = [
    [endpoints.filter(isDisabled).length, 'off', ''],
    [number('waiting'), STATES.waiting, 'waiting'],
    [number('failed'), STATES.failed, 'failed'],
  ] as const;
  const [first, ...more] = problems.filter(([size]) => size > 0);
  if (!first) return [deliveries.length];
  const texts = [first, ...more].map(([size, text]) =>
    `${count(size)} ${text.toLowerCase()}`.replaceAll(' ', '\u00A0'),
  );
  return [html`<span class="bad">${texts.join(', ')}</span>`, more.length > 0 ? '' : first[2]];
}

function limitAlarm(console: ConsoleContext, query: URLSearchParams): Html | number {
  const now = console.service.clock.now();
  const full = shownLimits(console, query).filter(({ window }) => window.count(now) >= window.limit).length;
  return full > 0 ? html`<span class="warn">${count(full)} full</span>` : 0;
}
