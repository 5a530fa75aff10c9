import { html } from 'hono/html';
import type { Content, Html } from './html.ts';

/** A page of the console. */
export interface Page {
  readonly title: string;
  readonly content: Content;
}

/** A link of the navigation. */
type Link = readonly [path: string, text: string];

const OPERATOR_LINKS: readonly Link[] = [
  ['/', 'Requests'],
  ['/deliveries', 'Deliveries'],
  ['/jobs', 'Jobs'],
  ['/clock', 'Clock'],
  ['/faults', 'Faults'],
  ['/limits', 'Limits'],
  ['/accounts', 'Accounts'],
  ['/recording', 'Recording'],
  ['/reference', 'Reference'],
];

const ACCOUNT_LINKS: readonly Link[] = [
  ['/account', 'Overview'],
  ['/account/resources', 'Resources'],
  ['/account/webhooks', 'Webhooks'],
  ['/account/tokens', 'Tokens'],
  ['/account/password', 'Password'],
];

/** The reader of a page. */
export interface Viewer {
  readonly path: string;
  readonly isOperator: boolean;
  /** Email of the account that has logged in. */
  readonly email: string | undefined;
  /** Time of the sandbox's clock, RFC 3339 UTC. */
  readonly now: string;
}

/** Returns the document of a page. */
export function layout({ title, content }: Page, { path, isOperator, email, now }: Viewer): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} – sandbox</title>
<link rel="stylesheet" href="/console.css">
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<script src="/console.js" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header>
<p class="brand">audience-activation <b>sandbox</b></p>
<p class="now" id="now" data-live>Clock <time datetime="${now}">${now.slice(0, 19).replace('T', ' ')}</time> UTC</p>
${isOperator ? navigation('Operator', 'Operator', OPERATOR_LINKS, path) : ''}
${email === undefined ? (path === '/login' ? '' : html`<p class="account"><a href="/login">Log in as the owner of an account</a></p>`) : accountNavigation(email, path)}
</header>
<main id="main" tabindex="-1">
<noscript><p class="empty">These pages can be read without JavaScript; their actions need it.</p></noscript>
<h1>${title}</h1>
${content}
</main>
<output id="notice" role="status" aria-live="polite"></output>
</body>
</html>`;
}

function navigation(title: string, label: string, links: readonly Link[], path: string): Html {
  const isCurrent = (target: string): boolean =>
    target === path ||
    (target === '/' ? path.startsWith('/requests') : target !== '/account' && path.startsWith(`${target}/`));
  return html`<nav aria-label="${label}"><b>${title}</b><ul>${links.map(
    ([target, text]) =>
      html`<li><a href="${target}"${isCurrent(target) ? html` aria-current="page"` : ''}>${text}</a></li>`,
  )}</ul></nav>`;
}

const accountNavigation = (email: string, path: string): Html => html`<div class="account">
${navigation('Account', `Account ${email}`, ACCOUNT_LINKS, path)}
<form method="post" action="/logout"><span>${email}</span> <button>Log out</button></form>
</div>`;
