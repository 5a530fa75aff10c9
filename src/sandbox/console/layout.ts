import { html } from 'hono/html';
import type { ClockMode } from '../clock.ts';
import { type Content, count, dateText, durationText, foreign, type Html } from './html.ts';

/** A page of the console. */
export interface Page {
  readonly title: string;
  readonly content: Content;
  /** Address that its live parts come from. @default its own */
  readonly source?: string;
}

/** The values that the frame around a page shows. */
export interface Viewer {
  readonly path: string;
  readonly isOperator: boolean;
  /** Email of the account that has logged in. */
  readonly email: string | undefined;
  /** Time of the sandbox's clock. */
  readonly now: number;
  readonly mode: ClockMode;
  /** Milliseconds until the next event. */
  readonly next: number | undefined;
  /** Address of the API, for operators. */
  readonly api: string;
  /** Other accounts, for operators. */
  readonly accounts: readonly string[];
  /** Numbers in the navigation by path; those of what has failed are alarms. */
  readonly counts: Readonly<Record<string, number>>;
  readonly failing: number;
}

/** A link of the navigation. */
type Link = readonly [path: string, text: string];

const OPERATOR_LINKS: readonly Link[] = [
  ['/start', 'Start'],
  ['/requests', 'Requests'],
  ['/deliveries', 'Deliveries'],
  ['/jobs', 'Jobs'],
  ['/resources', 'Resources'],
  ['/clock', 'Clock'],
  ['/faults', 'Faults'],
  ['/limits', 'Limits'],
  ['/accounts', 'Accounts'],
  ['/session', 'Session'],
];

const ACCOUNT_LINKS: readonly Link[] = [
  ['/account/resources', 'Resources'],
  ['/account/webhooks', 'Webhooks'],
  ['/account/tokens', 'Tokens'],
  ['/account/password', 'Password'],
];

/** Returns the document of a page. */
export function layout({ title, content, source }: Page, viewer: Viewer): Html {
  const hasFrame = viewer.isOperator || viewer.email !== undefined;
  // Without spaces between the elements: every page has them.
  const start = html`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title} – Sandbox</title><link rel="stylesheet" href="/console.css"><script src="/console.js" defer></script></head>`;
  const frame = hasFrame ? [topBar(viewer), sideNavigation(viewer)] : '';
  const from = source === undefined ? '' : html` data-source="${source}"`;
  return html`${start}<body${hasFrame ? '' : html` class="plain"`}><a class="skip" href="#main">Skip to the content</a>${frame}
<main id="main" tabindex="-1"${from}>${content}</main></body></html>`;
}

const speedOf = (mode: ClockMode): number => (typeof mode === 'object' ? mode.speed : mode === 'manual' ? 0 : 1);

/** Returns how a clock runs, in words. */
export const modeText = (mode: ClockMode): string =>
  mode === 'manual' ? 'paused' : mode === 'real' ? 'real time' : `×${count(mode.speed)}`;

/** Returns the time of the sandbox, which the script lets run. */
export const clockElement = (now: number, mode: ClockMode): Html =>
  html`<time class="num" data-now="${now}" data-speed="${speedOf(mode)}">${new Date(now).toISOString().slice(11, 19)}</time>`;

function topBar(viewer: Viewer): Html {
  const { isOperator, email, now, mode, next, api } = viewer;
  const address = isOperator
    ? html`<button class="chip addr" data-text="${api}"><span class="soft far">API</span>
<code>${api.replace(/^\w+:\/\//, '')}</code><span class="soft far" data-label>Copy</span></button>`
    : html`<span></span>`;
  const [name = '', domain = ''] = (email ?? '').split(/(?=@)/);
  const chip = html`<span class="sr">Clock</span>${clockElement(now, mode)}<span class="soft far">UTC, ${modeText(mode)}</span>`;
  const clock = isOperator
    ? html`<button popovertarget="clock-menu" class="chip" id="now" data-live>${chip}</button>`
    : html`<span class="chip" id="now" data-live>${chip}</span>`;
  const who = html`<span class="sr">Account</span><span>${name}<span class="far">${domain}</span></span>`;
  return html`<header class="top"><button class="menu chip" popovertarget="nav">Menu</button>${address}${clock}
<button popovertarget="account-menu" class="chip">${email === undefined ? 'Account' : who}</button>
${isOperator ? clockMenu(now, mode, next) : ''}${accountMenu(viewer)}</header>`;
}

function accountMenu({ isOperator, email, accounts }: Viewer): Html {
  const others = accounts.map(
    (account) => html`<li><form method="post" action="/login-as"><input type="hidden" name="account" value="${account}">
<button class="quiet small">${foreign(account)}</button></form></li>`,
  );
  const logInAs = isOperator && others.length > 0 ? html`<h3>Log in as</h3><ul>${others}</ul>` : '';
  const title = email === undefined ? 'No account' : html`<bdi>${email}</bdi>`;
  const action =
    email === undefined
      ? html`<p><a class="button small" href="/login">Log in with a password</a></p>`
      : html`<form class="acts" method="post" action="/logout"><button class="small">Log out</button></form>`;
  return html`<div id="account-menu" class="pop" popover><h2>${title}</h2>${logInAs}${action}</div>`;
}

const ADVANCES: readonly (readonly [ms: number, text: string])[] = [
  [60_000, '+1 min'],
  [600_000, '+10 min'],
  [3_600_000, '+1 h'],
  [86_400_000, '+1 d'],
];

/** Returns buttons that advance the clock. */
export const advanceButtons = (): Html =>
  html`<form class="acts" method="post" data-action="POST /api/clock/advance">${ADVANCES.map(
    ([ms, text]) => html`<button class="small" name="ms" value="${ms}" data-type="number">${text}</button>`,
  )}</form>`;

/** Returns buttons that set how the clock runs. */
export function speedButtons(mode: ClockMode, speeds: readonly number[]): Html {
  const isPressed = (choice: ClockMode): string => String(speedOf(mode) === speedOf(choice));
  return html`<form class="seg" method="post" data-action="POST /api/clock/mode" aria-label="Speed of the clock">
<button name="mode" value="manual" aria-pressed="${isPressed('manual')}">Paused</button>
<button name="mode" value="real" aria-pressed="${isPressed('real')}">Real time</button>${speeds.map(
    (speed) =>
      html`<button name="speed" value="${speed}" data-type="number" aria-pressed="${isPressed({ speed })}">×${count(speed)}</button>`,
  )}</form>`;
}

/** Returns the menu of the clock; the script adds the buttons that advance it, which need the script anyway. */
function clockMenu(now: number, mode: ClockMode, next: number | undefined): Html {
  const due = next === undefined ? 'Nothing is due.' : `Next event in ${durationText(next)}.`;
  return html`<div id="clock-menu" class="pop" popover>
<p class="soft" id="clock-text" data-live>${dateText(now)}, ${modeText(mode)}. ${due}</p><p><a href="/clock">All that is due</a></p></div>`;
}

function sideNavigation(viewer: Viewer): Html {
  const { isOperator, email } = viewer;
  const find = html`<form class="find" role="search" action="/find">
<input type="search" name="q" aria-label="Find by id" placeholder="Find by id (Ctrl K)"></form>`;
  const links = [
    isOperator ? group('Operator', '', OPERATOR_LINKS, viewer) : '',
    email === undefined ? '' : group('Account', email, ACCOUNT_LINKS, viewer),
  ];
  return html`<nav id="nav" class="side" popover aria-label="Console"><a class="brand" href="${isOperator ? '/start' : '/account'}">Sandbox</a>
${isOperator ? find : ''}<div id="nav-links" data-live>${links}</div></nav>`;
}

function group(title: string, email: string, links: readonly Link[], { path, counts, failing }: Viewer): Html {
  const isCurrent = (target: string): boolean => target === path || path.startsWith(`${target}/`);
  const numberOf = (target: string): Html | '' => {
    if (target === '/deliveries' && failing > 0) return html`<span class="alarm">${failing} failing</span>`;
    return counts[target] ? html`<span>${count(counts[target])}</span>` : '';
  };
  return html`<h2>${title}${email === '' ? '' : html` <bdi title="${email}">${email}</bdi>`}</h2><ul>${links.map(
    ([target, text]) =>
      html`<li><a href="${target}"${isCurrent(target) ? html` aria-current="page"` : ''}>${text}${numberOf(target)}</a></li>`,
  )}</ul>`;
}
