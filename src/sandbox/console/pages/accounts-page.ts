import { html } from 'hono/html';
import { listTokens } from '../../tokens.ts';
import { actionForm, input, live, table } from '../html.ts';
import type { Page } from '../layout.ts';
import type { ConsoleContext } from '../operator-api.ts';

/** The accounts and their organizations. */
export function accountsPage({ service }: ConsoleContext): Page {
  const { state, limits } = service;
  const accounts = [...state.accounts.values()];
  return {
    title: 'Accounts',
    content: [
      live(
        'accounts',
        table(
          'Accounts, the oldest first',
          ['Email', 'Organization', 'Live tokens', 'Resources', 'Notifications', 'Action'],
          accounts.map((account) => [
            account.email,
            `${account.company.id} ${account.company.name}`,
            listTokens(service, account).length,
            account.audiences.size + account.activations.size + account.cohorts.size + account.estimates.size,
            account.notifications.length,
            html`<form class="inline" method="post" action="/login-as"><input type="hidden" name="email" value="${account.email}"><button aria-label="Log in as ${account.email}">Log in as</button></form>`,
          ]),
          'No accounts. Create one, then issue a token for it.',
        ),
      ),
      html`<h2>Create an account</h2>
${actionForm({
  action: 'POST /api/accounts',
  submit: 'Create the account',
  fields: [
    input('Email', 'email', { type: 'email', required: true }),
    input('Password', 'password', { required: true, autocomplete: 'off' }),
    input('Organization', 'company', { placeholder: 'Example Company' }),
  ],
})}
<h2>Create an organization</h2>
${actionForm({
  action: 'POST /api/companies',
  submit: 'Create the organization',
  fields: [
    input('Name', 'name', { required: true }),
    input('Builds an hour', 'buildsPerHour', { type: 'number', min: 0, placeholder: limits.buildsPerHour }),
    input('Builds a day', 'buildsPerDay', { type: 'number', min: 0, placeholder: limits.buildsPerDay }),
  ],
})}
<h2>Reset</h2>
<p>Returns to the state in which the recording began, by default when the console was opened: its accounts and tokens, without what happened since. Fault rules and the time stay.</p>
${actionForm({ action: 'POST /api/reset', submit: 'Reset', confirm: 'Reset the sandbox?' })}`,
    ],
  };
}
