import { html } from 'hono/html';
import type { SandboxAccount } from '../../admin/account-admin.ts';
import type { AccountRecord } from '../../state.ts';
import type { ConsoleContext } from '../console-context.ts';
import { actionForm, formDialog, input, logInAs, opener, select } from '../forms.ts';
import { badge, type Content, emptyState, foreign, type Html, head, live, timeElement } from '../html.ts';
import type { Page } from '../layout.ts';
import { listView, search, table, twoLines } from '../lists.ts';
import { resourceCount } from '../objects.ts';
import { accountField, shownAccounts } from '../shown-accounts.ts';
import { count } from '../words.ts';

/** The accounts with their organizations, their tokens and their OAuth connections. */
export function accountsPage(console: ConsoleContext, query: URLSearchParams): Page {
  const { service, sandbox } = console;
  const now = service.clock.now();
  const accounts = shownAccounts(console, query).toReversed();
  const owned = accounts.map(({ email }) => sandbox.accounts.get(email));
  const create = opener('account', 'Create an account…', { style: accounts.length > 0 ? '' : 'primary' });
  const issue = accounts.length > 0 ? opener('issue', 'Issue a token…', { style: 'primary' }) : '';
  const tokens = owned.flatMap((account) => account.tokens().map((token) => ({ ...token, account })));
  const revokeAll = tokens.length > 0 ? opener('revoke', 'Revoke all…', { style: 'small danger' }) : '';
  const connections = owned.flatMap((account) => account.connections().map((one) => ({ ...one, account })));
  const list = listView({
    path: '/accounts',
    query,
    id: 'accounts',
    placeholder: 'Email or organization',
    matching: search(accounts, query, ({ email, company }) => `${email} ${company.name}`),
    total: accounts.length,
    keyOf: ({ id }) => id,
    caption: 'Accounts, the newest first',
    columns: [
      ['Account and organization', '', accountLines, 'two main'],
      ['Resources', 'w7', (account) => count(resourceCount(account)), 'named'],
      ['Actions', 'w20', accountActions, 'acts'],
    ],
    empty: emptyState('No accounts', 'The API responds with 401 until there is one with a token.', create),
  });
  return {
    title: 'Accounts and tokens',
    content: [
      head('Accounts and tokens', '', [create, live('issue-token', issue)]),
      list,
      html`<div class="head"><h2>Tokens</h2><div class="acts">${live('revoke-all', revokeAll)}</div></div>`,
      live(
        'tokens',
        table(
          'Live tokens, the newest first',
          tokens.sort((a, b) => b.id - a.id),
          NO_TOKENS,
          [
            ['Token', '', ({ id, account }) => twoLines(html`<b>token ${id}</b>`, foreign(account.email)), 'two main'],
            ['Kind', 'w6', ({ kind }) => badge('', kind), 'side2'],
            ['Issued', 'w12', ({ createdAt }) => timeElement(createdAt.getTime(), now), 'named'],
            ['Expires', 'w12', ({ expiresAt }) => expiry(expiresAt, now), 'named'],
            ['Actions', 'w7', ({ id, account }) => revoke('tokens', id, account, `token ${id}`), 'acts'],
          ],
        ),
      ),
      html`<h2>OAuth connections</h2>`,
      live(
        'connections',
        table('OAuth connections', connections, NO_CONNECTIONS, [
          ['Client', '', ({ client, account }) => twoLines(foreign(client), foreign(account.email)), 'two main'],
          ['Expires', 'w12', ({ expiresAt }) => expiry(expiresAt, now), 'named'],
          [
            'Actions',
            'w7',
            (one) => revoke('connections', one.id, one.account, `the connection of ${one.client}`),
            'acts',
          ],
        ]),
      ),
      live('forms', dialogs(accountField(console, query))),
    ],
  };
}

const accountLines = ({ email, company: { name, id } }: AccountRecord): Html =>
  twoLines(html`<b>${foreign(email)}</b>`, html`${foreign(name)} <span class="num">(${id})</span>`);

const accountActions = ({ email }: AccountRecord): Html[] => [
  opener('password', 'Change password…', {
    label: `Change password of ${email}`,
    style: 'small',
    about: email,
    values: { account: email },
  }),
  logInAs(email),
];

const CONSEQUENCES = {
  tokens: 'Requests with it get 401 from then on.',
  connections: 'It has to ask for your consent again.',
} as const;

function revoke(what: keyof typeof CONSEQUENCES, id: number, { email }: SandboxAccount, name: string): Html {
  const label = `Revoke ${name}`;
  return actionForm(`POST /api/${what}/revoke`, 'Revoke…', {
    values: { id, account: email },
    label,
    style: 'small danger',
    confirm: [`${label}?`, CONSEQUENCES[what]],
  });
}

const expiry = (date: Date | undefined, now: number): Content => (date ? timeElement(date.getTime(), now) : 'never');

const NO_TOKENS = emptyState('No live tokens', 'The API responds with 401 until you issue one.');

const NO_CONNECTIONS = emptyState(
  'No OAuth connections',
  'An MCP client connects with your consent, at /oauth/authorize.',
);

const KINDS = [
  ['api', 'API'],
  ['mcp', 'MCP'],
] as const;

/** Returns the dialogs of the page; `account` is the field that names the account. */
const dialogs = (account: Html | ''): readonly Html[] => [
  formDialog('account', 'Create an account', 'POST /api/accounts', 'Create the account', {
    fields: [
      input('Email', 'email', { type: 'email', required: true, autocomplete: 'off' }),
      input('Password', 'password', { required: true, autocomplete: 'off' }),
      input('Organization', 'company', { placeholder: 'Example Company' }, 'A new name creates an organization'),
    ],
  }),
  formDialog('issue', 'Issue a token', 'POST /api/tokens', 'Issue', {
    lead: 'It is shown once. At most ten of a kind are live.',
    fields: [account, select('Kind', 'kind', KINDS)],
  }),
  formDialog('revoke', 'Revoke all tokens of a kind', 'POST /api/tokens/revoke-all', 'Revoke all', {
    lead: 'Requests with them get 401 from then on.',
    style: 'danger primary',
    fields: [account, select('Kind to revoke', 'kind', KINDS)],
  }),
  formDialog('password', html`The password of <bdi data-name>an account</bdi>`, 'POST /api/password', 'Change it', {
    lead: 'A new password revokes every token and OAuth connection of the account, and ends its login.',
    fields: [
      html`<input type="hidden" name="account">`,
      input('New password', 'password', { required: true, autocomplete: 'off' }),
    ],
  }),
];
