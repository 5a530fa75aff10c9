import { html } from 'hono/html';
import type { SandboxAccount } from '../../admin/account-admin.ts';
import type { AccountRecord } from '../../state.ts';
import type { ConsoleContext } from '../console-context.ts';
import { actionForm, formDialog, input, logInAs, opener, select } from '../forms.ts';
import { badge, type Content, emptyState, foreign, type Html, head, live, note, timeElement } from '../html.ts';
import type { Page } from '../layout.ts';
import { table } from '../lists.ts';

/** The account's tokens and OAuth connections. */
export function tokensPage({ service }: ConsoleContext, account: SandboxAccount): Page {
  const now = service.clock.now();
  const tokens = account.tokens().reverse();
  const revokeAll = tokens.length > 0 ? opener('revoke', 'Revoke all…', { style: 'danger' }) : '';
  return {
    title: 'Tokens',
    content: [
      head('Tokens', '', [live('revoke-all', revokeAll), opener('issue', 'Issue a token…', { style: 'primary' })]),
      live('tokens', tokenTable(tokens, now)),
      html`<h2>OAuth connections</h2>`,
      live('connections', connectionTable(account, now)),
      ...dialogs(),
    ],
  };
}

const CONSEQUENCES = {
  tokens: 'Requests with it get 401 from then on.',
  connections: 'It has to ask for your consent again.',
} as const;

function revoke(what: keyof typeof CONSEQUENCES, id: number | string, name: string): Html {
  const label = `Revoke ${name}`;
  const confirm = [`${label}?`, CONSEQUENCES[what]] as const;
  return actionForm(`POST /account/api/${what}/revoke`, 'Revoke…', {
    values: { id },
    label,
    style: 'small danger',
    confirm,
  });
}

const expiry = (date: Date | undefined, now: number): Content => (date ? timeElement(date.getTime(), now) : 'never');

const NO_TOKENS = emptyState(
  'No live tokens',
  'The API responds with 401 until you issue one.',
  opener('issue', 'Issue a token…'),
);

const tokenTable = (tokens: ReturnType<SandboxAccount['tokens']>, now: number): Html =>
  table('Live tokens, the newest first', tokens, NO_TOKENS, [
    ['Token', '', ({ id }) => html`<b>token ${id}</b>`, 'main'],
    ['Kind', 'w6', ({ kind }) => badge('', kind), 'side2'],
    ['Issued', 'w12', ({ createdAt }) => timeElement(createdAt.getTime(), now), 'named'],
    ['Expires', 'w12', ({ expiresAt }) => expiry(expiresAt, now), 'named'],
    ['Actions', 'w7', ({ id }) => revoke('tokens', id, `token ${id}`), 'acts'],
  ]);

const NO_CONNECTIONS = emptyState(
  'No OAuth connections',
  'An MCP client connects with your consent, at /oauth/authorize.',
);

const connectionTable = (account: SandboxAccount, now: number): Html =>
  table('OAuth connections', account.connections(), NO_CONNECTIONS, [
    ['Client', '', ({ client }) => foreign(client), 'main cut'],
    ['Expires', 'w12', ({ expiresAt }) => expiry(expiresAt, now), 'named'],
    ['Actions', 'w7', ({ id, client }) => revoke('connections', id, `the connection of ${client}`), 'acts'],
  ]);

const KINDS = [
  ['api', 'API'],
  ['mcp', 'MCP'],
] as const;

const dialogs = (): readonly Html[] => [
  formDialog('issue', 'Issue a token', 'POST /account/api/tokens', 'Issue', {
    lead: 'It is shown once. At most ten of a kind are live.',
    fields: select('Kind', 'kind', KINDS),
  }),
  formDialog('revoke', 'Revoke all tokens of a kind', 'POST /account/api/tokens/revoke-all', 'Revoke all', {
    lead: 'Requests with them get 401 from then on.',
    style: 'danger primary',
    fields: select('Kind to revoke', 'kind', KINDS),
  }),
];

/** The form that changes the password. */
export function passwordPage({ email }: AccountRecord): Page {
  const lead = 'A new password revokes every token and OAuth connection, and ends all sessions.';
  const form = actionForm('POST /account/api/password', 'Change the password', {
    style: 'primary',
    leave: '/login',
    fields: [
      // Password managers need the name of the account.
      html`<input type="hidden" autocomplete="username" value="${email}">`,
      input('Current password', 'current', { type: 'password', required: true, autocomplete: 'current-password' }),
      input('New password', 'password', { type: 'password', required: true, autocomplete: 'new-password' }),
    ],
  });
  return { title: 'Password', content: [head('Password'), html`<p class="lead">${lead}</p>`, form] };
}

/** Values of the form that logs in. */
export interface LoginForm {
  /** The page to open then. */
  readonly next: string;
  readonly email?: string;
  readonly problem?: string;
  /** That a session of the browser has ended, and why. */
  readonly ended?: string | undefined;
}

/** The form that logs in; an operator can log in as `accounts` without a password. */
export function loginPage({ next, email = '', problem, ended }: LoginForm, accounts: readonly string[]): Page {
  const path = html`<input type="hidden" name="next" value="${next}">`;
  const others = accounts.map((account) => logInAs(account, { text: `Continue as ${account}`, next }));
  return {
    title: 'Log in',
    content: html`<div class="centre">${head('Log in')}<p class="lead">As the owner of an account of the sandbox.</p>
${ended === undefined ? '' : note('busy', ended, { role: 'status' })}
${problem === undefined ? '' : note('bad', problem, { role: 'alert' })}
<form class="form" method="post" action="/login">${path}
${input('Email', 'email', { type: 'email', autocomplete: 'username', required: true, value: email })}
${input('Password', 'password', { type: 'password', autocomplete: 'current-password', required: true })}
<div class="acts"><button class="primary">Log in</button></div></form>
${others.length > 0 ? html`<p class="soft">Or without a password, as the operator:</p>${others}` : ''}</div>`,
  };
}
