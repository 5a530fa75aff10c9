import { html } from 'hono/html';
import type { SandboxAccount } from '../../admin/account-admin.ts';
import { EVENT_TYPES } from '../../admin/webhook-admin.ts';
import type { AccountRecord } from '../../state.ts';
import { actionForm, badge, type Content, type Html, input, live, select, table, timeElement } from '../html.ts';
import type { Page } from '../layout.ts';
import type { ConsoleContext } from '../operator-api.ts';
import { deliveryTable, endpointTable } from './deliveries-page.ts';

/** The webhook endpoints of the account's organization. */
export function webhooksPage(console: ConsoleContext, { company }: AccountRecord): Page {
  const { endpoints } = company;
  const attempts = console.service.webhooks.attempts.filter(({ event }) => endpoints.includes(event.endpoint));
  return {
    title: 'Webhooks',
    content: [
      live('endpoints', endpointTable(console, endpoints, '/account/api')),
      html`<h2>Create an endpoint</h2>
${actionForm({
  action: 'POST /account/api/webhooks',
  submit: 'Create the endpoint',
  fields: [
    input('Name', 'name'),
    input('URL', 'url', { type: 'url', required: true, placeholder: 'https://example.com/webhooks' }),
    html`<fieldset><legend>Events (none: all)</legend>${EVENT_TYPES.map(
      (type) => html`<label><input type="checkbox" name="events" value="${type}" data-list> ${type}</label>`,
    )}</fieldset>`,
  ],
})}
<h2>Deliveries</h2>`,
      live('deliveries', deliveryTable(console, attempts, '/account/api')),
    ],
  };
}

const KINDS = [
  ['api', 'API'],
  ['mcp', 'MCP'],
] as const;

/** The account's tokens and OAuth connections. */
export function tokensPage({ service }: ConsoleContext, account: SandboxAccount): Page {
  const now = service.clock.now();
  const expiry = (date: Date | undefined): Content => (date ? timeElement(date.getTime(), now) : 'never');
  return {
    title: 'Tokens',
    content: [
      live('tokens', [
        table(
          'Live tokens, the oldest first',
          ['Token', 'Kind', 'Issued', 'Expires', 'Action'],
          account.tokens().map(({ id, kind, createdAt, expiresAt }) => [
            id,
            badge('quiet', kind),
            timeElement(createdAt.getTime(), now),
            expiry(expiresAt),
            actionForm({
              action: 'POST /account/api/tokens/revoke',
              submit: 'Revoke',
              values: { id },
              label: `Revoke token ${id}`,
            }),
          ]),
          'No live tokens. Issue one to call the API.',
        ),
      ]),
      html`<h2>Issue a token</h2>
${actionForm({ action: 'POST /account/api/tokens', submit: 'Issue', fields: select('Kind', 'kind', KINDS) })}
<h2>Revoke all tokens of a kind</h2>
${actionForm({
  action: 'POST /account/api/tokens/revoke-all',
  submit: 'Revoke all',
  fields: select('Kind to revoke', 'kind', KINDS),
  confirm: 'Revoke all live tokens of this kind?',
})}
<h2>OAuth connections</h2>`,
      live(
        'connections',
        table(
          'OAuth connections',
          ['Client', 'Expires', 'Action'],
          account.connections().map(({ id, client, expiresAt }) => [
            client,
            expiry(expiresAt),
            actionForm({
              action: 'POST /account/api/connections/revoke',
              submit: 'Revoke',
              values: { id },
              label: `Revoke the connection of ${client}`,
            }),
          ]),
          'No connections. A client connects by OAuth, with your consent.',
        ),
      ),
    ],
  };
}

/** The form that changes the password. */
export function passwordPage({ email }: AccountRecord): Page {
  const content: Html = html`<p>A new password revokes every token and OAuth connection, and ends all sessions.</p>
${actionForm({
  action: 'POST /account/api/password',
  submit: 'Change the password',
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
interface LoginForm {
  /** The page to open then. */
  readonly next?: string;
  readonly email?: string;
  readonly problem?: string;
  /** `true` if the password has just been changed. */
  readonly isChanged?: boolean;
}

/** The form that logs in. */
export function loginPage({ next = '/account', email = '', problem, isChanged = false }: LoginForm): Page {
  return {
    title: 'Log in',
    content: html`${isChanged ? html`<p role="status" class="good">The password has changed, and all tokens are revoked. Log in again.</p>` : ''}
${problem === undefined ? '' : html`<p role="alert" class="bad">${problem}</p>`}
<form class="fields" method="post" action="/login">
<input type="hidden" name="next" value="${next}">
${input('Email', 'email', { type: 'email', autocomplete: 'username', required: true, value: email })}
${input('Password', 'password', { type: 'password', autocomplete: 'current-password', required: true })}
<button>Log in</button>
</form>`,
  };
}
