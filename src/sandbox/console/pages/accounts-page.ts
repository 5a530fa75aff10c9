import { html } from 'hono/html';
import type { AccountRecord } from '../../state.ts';
import type { ConsoleContext } from '../console-context.ts';
import { formDialog, input, logInAs, opener } from '../forms.ts';
import { emptyState, foreign, type Html, head } from '../html.ts';
import type { Page } from '../layout.ts';
import { type Column, listView, search, twoLines } from '../lists.ts';
import { resourceCount } from '../objects.ts';
import { count } from '../words.ts';

/** The accounts and their organizations. */
export function accountsPage({ service, sandbox }: ConsoleContext, query: URLSearchParams): Page {
  const accounts = [...service.state.accounts.values()].reverse();
  const columns: readonly Column<AccountRecord>[] = [
    ['Account and organization', '', accountLines, 'two main'],
    ['Live tokens', 'w7', ({ email }) => sandbox.accounts.get(email).tokens().length, 'named'],
    ['Resources', 'w7', (account) => count(resourceCount(account)), 'named'],
    ['Actions', 'w8', ({ email }) => logInAs(email, { text: 'Log in as', style: 'small' }), 'acts'],
  ];
  const create = opener('account', 'Create an account…', { style: 'primary' });
  const list = listView({
    path: '/accounts',
    query,
    id: 'accounts',
    placeholder: 'Email or organization',
    matching: search(accounts, query, ({ email, company }) => `${email} ${company.name}`),
    total: accounts.length,
    keyOf: ({ id }) => id,
    caption: 'Accounts, the newest first',
    columns,
    empty: emptyState('No accounts', 'The API responds with 401 until there is one with a token.', create),
  });
  return { title: 'Accounts', content: [head('Accounts', '', create), list, accountDialog()] };
}

const accountLines = ({ email, company: { name, id } }: AccountRecord): Html =>
  twoLines(html`<b>${foreign(email)}</b>`, html`${foreign(name)} <span class="num">(${id})</span>`);

const accountDialog = (): Html =>
  formDialog('account', 'Create an account', 'POST /api/accounts', 'Create the account', {
    fields: [
      input('Email', 'email', { type: 'email', required: true, autocomplete: 'off' }),
      input('Password', 'password', { required: true, autocomplete: 'off' }),
      input(
        'Organization',
        'company',
        { placeholder: 'Example Company' },
        'A name that does not exist yet creates one',
      ),
    ],
  });
