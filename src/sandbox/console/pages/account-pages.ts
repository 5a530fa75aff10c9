import { html } from 'hono/html';
import type { SandboxAccount } from '../../admin/account-admin.ts';
import type { AccountRecord } from '../../state.ts';
import type { ConsoleContext } from '../console-context.ts';
import { actionForm, formDialog, input, opener, select } from '../forms.ts';
import { badge, type Content, emptyState, foreign, type Html, head, live, note, timeElement } from '../html.ts';
import type { Page } from '../layout.ts';
import { cell, row, table } from '../lists.ts';

const KINDS = [
  ['api', 'API'],
  ['mcp', 'MCP'],
] as const;

/** The account's tokens and OAuth connections. */
export function tokensPage({ service }: ConsoleContext, account: SandboxAccount): Page {
  const now = service.clock.now();
  const expiry = (date: Date | undefined): Content => (date ? timeElement(date.getTime(), now) : 'never');
  const tokens = account.tokens().reverse();
  const connections = account.connections();
  return {
    title: 'Tokens',
    content: [
      head('Tokens', '', [
        live('revoke-all', tokens.length > 0 ? opener('revoke', 'Revoke all…', { style: 'danger' }) : ''),
        opener('issue', 'Issue a token…', { style: 'primary' }),
      ]),
      live(
        'tokens',
        table(
          'Live tokens, the newest first',
          [['Token'], ['Kind', 'w6'], ['Issued', 'w12'], ['Expires', 'w12'], ['Actions', 'w7']],
          tokens.map(({ id, kind, createdAt, expiresAt }) =>
            row([
              cell(html`<b>token ${id}</b>`, 'main'),
              cell(badge('', kind), 'side2'),
              cell(timeElement(createdAt.getTime(), now), '', 'Issued'),
              cell(expiry(expiresAt), '', 'Expires'),
              cell(
                actionForm({
                  action: 'POST /account/api/tokens/revoke',
                  submit: 'Revoke…',
                  values: { id },
                  label: `Revoke token ${id}`,
                  style: 'small danger',
                  confirm: [`Revoke token ${id}?`, 'Requests with it get 401 from then on.'],
                }),
                'acts',
              ),
            ]),
          ),
          emptyState(
            'No live tokens',
            'The API responds with 401 until you issue one.',
            html`<p class="acts">${opener('issue', 'Issue a token…')}</p>`,
          ),
        ),
      ),
      html`<h2>OAuth connections</h2>`,
      live(
        'connections',
        table(
          'OAuth connections',
          [['Client'], ['Expires', 'w12'], ['Actions', 'w7']],
          connections.map(({ id, client, expiresAt }) =>
            row([
              cell(foreign(client), 'main cut'),
              cell(expiry(expiresAt), '', 'Expires'),
              cell(
                actionForm({
                  action: 'POST /account/api/connections/revoke',
                  submit: 'Revoke…',
                  values: { id },
                  label: `Revoke the connection of ${client}`,
                  style: 'small danger',
                  confirm: [`Revoke the connection of ${client}?`, 'It has to ask for your consent again.'],
                }),
                'acts',
              ),
            ]),
          ),
          emptyState('No OAuth connections', 'An MCP client connects with your consent, at /oauth/authorize.'),
        ),
      ),
      formDialog({
        id: 'issue',
        title: 'Issue a token',
        lead: 'It is shown once. At most ten of a kind are live.',
        action: 'POST /account/api/tokens',
        submit: 'Issue',
        fields: select('Kind', 'kind', KINDS),
      }),
      formDialog({
        id: 'revoke',
        title: 'Revoke all tokens of a kind',
        lead: 'Requests with them get 401 from then on.',
        action: 'POST /account/api/tokens/revoke-all',
        submit: 'Revoke all',
        style: 'danger primary',
        fields: select('Kind to revoke', 'kind', KINDS),
      }),
    ],
  };
}

/** The form that changes the password. */
export function passwordPage({ email }: AccountRecord): Page {
  const content: Html = html`${head('Password')}<p class="lead">A new password revokes every token and OAuth connection, and ends all sessions.</p>
${actionForm({
  action: 'POST /account/api/password',
  submit: 'Change the password',
  style: 'primary',
  leave: '/login?changed',
  fields: [
    // Password managers need the name of the account.
    html`<input type="hidden" autocomplete="username" value="${email}">`,
    input('Current password', 'current', { type: 'password', required: true, autocomplete: 'current-password' }),
    input('New password', 'password', { type: 'password', required: true, autocomplete: 'new-password' }),
  ],
})}`;
  return { title: 'Password', content };
}

/** Values of the form that logs in. */
export interface LoginForm {
  /** The page to open then. */
  readonly next?: string;
  readonly email?: string;
  readonly problem?: string;
  /** `true` if the password has just been changed. */
  readonly isChanged?: boolean;
  /** Why the session of the browser has ended. */
  readonly ended?: string | undefined;
  /** Accounts that an operator can log in as without a password. */
  readonly accounts?: readonly string[];
}

/** The form that logs in. */
export function loginPage({
  next = '/account/resources',
  email = '',
  problem,
  isChanged = false,
  ended,
  accounts = [],
}: LoginForm): Page {
  return {
    title: 'Log in',
    content: html`<div class="centre">${head('Log in')}<p class="lead">As the owner of an account of the sandbox.</p>
${isChanged ? note('good', 'The password has changed, and all tokens are revoked.', { role: 'status' }) : ''}
${ended === undefined || isChanged ? '' : note('busy', `Your session has ended: ${ended}.`, { role: 'status' })}
${problem === undefined ? '' : note('bad', problem, { role: 'alert' })}
<form class="form" method="post" action="/login">
<input type="hidden" name="next" value="${next}">
${input('Email', 'email', { type: 'email', autocomplete: 'username', required: true, value: email })}
${input('Password', 'password', { type: 'password', autocomplete: 'current-password', required: true })}
<div class="acts"><button class="primary">Log in</button></div>
</form>
${accounts.length > 0 ? html`<p class="soft">Or without a password, as the operator:</p>` : ''}${accounts.map(
  (account) =>
    html`<form method="post" action="/login-as"><input type="hidden" name="account" value="${account}">
<input type="hidden" name="next" value="${next}"><button>Continue as ${account}</button></form>`,
)}</div>`,
  };
}
