import { html } from 'hono/html';
import type { SandboxAccount } from '../../admin/account-admin.ts';
import type { AccountRecord } from '../../state.ts';
import type { ConsoleContext } from '../console-context.ts';
import { actionForm, formDialog, input, logInAs, opener, select } from '../forms.ts';
import { badge, emptyState, foreign, type Html, head, live, menu, timeElement } from '../html.ts';
import type { Page } from '../layout.ts';
import { table } from '../lists.ts';
import { resourceCount } from '../objects.ts';
import { accountField, shownAccounts } from '../shown-accounts.ts';
import { count } from '../words.ts';

export function accountsPage(console: ConsoleContext, query: URLSearchParams): Page {
  const { service, sandbox } = console;
  const now = service.clock.now();
  const accounts = shownAccounts(console, query);
  const create = opener('account', 'Create an account…', { style: accounts.length > 0 ? '' : 'primary' });
  const issue = accounts.length > 0 ? opener('issue', 'Issue a token…', { style: 'primary' }) : '';
  const tokens = accounts.flatMap(({ email }) => credentialsOf(sandbox.accounts.get(email)));
  const none = emptyState('No accounts', 'The API responds with 401 until an account has a token.');
  const list = table('Accounts, newest first', accounts.toReversed(), none, [
    ['Account', '', ({ email }) => html`<b>${foreign(email)}</b>`, 'main'],
    ['Organization', 'w5', ({ company: { name, id } }) => html`${foreign(name)} <small>id ${id}</small>`],
    ['Resources', 'w3', (account) => count(resourceCount(account))],
    ['Actions', 'w2', accountActions, 'right'],
  ]);
  tokens.sort((a, b) => b.id - a.id);
  const tokenTable = table('Live tokens and OAuth connections, newest first', tokens, NO_TOKENS, [
    ['Token', '', (one) => html`<b>${foreign(one.name)}</b> <small>${foreign(one.email)}</small>`, 'main'],
    ['Kind', 'w2', ({ kind }) => badge('', kind), 'state'],
    ['Expires', 'w5', ({ expiresAt }) => (expiresAt ? timeElement(expiresAt.getTime(), now) : 'never')],
    ['Actions', 'w3', revoke, 'right'],
  ]);
  return {
    title: 'Accounts and tokens',
    content: [
      head('Accounts and tokens', '', [create, live('issue-token', issue)]),
      live('accounts', list),
      html`<h2>Tokens and OAuth connections</h2>`,
      live('tokens', tokenTable),
      live('forms', dialogs(accountField(accounts), service.limits.activeTokens)),
    ],
  };
}

const accountActions = ({ email, id }: AccountRecord): Html =>
  menu(`account-${id}`, `Actions of ${email}`, [
    opener('issue', 'Issue a token…', { label: `Issue a token of ${email}`, values: { account: email } }),
    opener('password', 'Change password…', {
      label: `Change password of ${email}`,
      about: email,
      values: { account: email },
    }),
    logInAs(email),
  ]);

function credentialsOf(account: SandboxAccount) {
  const { email } = account;
  const tokens = account.tokens().map((one) => ({ ...one, email, name: `token ${one.id}` }));
  const oauth = { email, kind: 'oauth' };
  return [
    ...tokens,
    ...account.connections().map((one) => ({ ...one, ...oauth, name: `the connection of ${one.client}` })),
  ];
}

function revoke({ id, kind, name, email }: ReturnType<typeof credentialsOf>[number]): Html {
  const isOAuth = kind === 'oauth';
  const label = `Revoke ${name}`;
  const effect = isOAuth ? 'The client must ask for your consent again.' : 'The API will respond to it with 401.';
  return actionForm(`POST /api/${isOAuth ? 'connections' : 'tokens'}/revoke`, 'Revoke…', {
    values: { id, account: email },
    label,
    style: 'small danger',
    confirm: `${label}? ${effect}`,
  });
}

const NO_TOKENS = emptyState(
  'No live tokens',
  'The API responds with 401 until you issue one. An MCP client connects with your consent, at /oauth/authorize.',
);

const KINDS = ['api', 'mcp'].map((kind) => [kind, kind.toUpperCase()] as const);
const TYPED = { required: true, autocomplete: 'off' } as const;
const JOINS = 'Empty: the account joins Example Company. A new name creates an organization.';

const dialogs = (account: Html | '', max: number): readonly Html[] => [
  formDialog('account', 'Create an account', 'POST /api/accounts', 'Create the account', {
    fields: [
      input('Email', 'email', { type: 'email', ...TYPED }),
      input('Password', 'password', TYPED),
      input('Organization', 'company', { placeholder: 'Example Company' }, JOINS),
    ],
  }),
  formDialog('issue', 'Issue a token', 'POST /api/tokens', 'Issue', {
    lead: `The token is shown once. An account can have ${count(max)} live tokens of each kind.`,
    fields: [account, select('Kind', 'kind', KINDS)],
  }),
  formDialog('password', html`The password of <bdi data-name>an account</bdi>`, 'POST /api/password', 'Change it', {
    lead: 'A new password revokes every token and OAuth connection of the account, and ends its login.',
    fields: [html`<input type="hidden" name="account">`, input('New password', 'password', TYPED)],
  }),
];
