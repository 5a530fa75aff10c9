import { html } from 'hono/html';
import { listTokens } from '../../tokens.ts';
import type { ConsoleContext } from '../console-context.ts';
import { formDialog, input, opener } from '../forms.ts';
import { count, emptyState, foreign, type Html, head, live } from '../html.ts';
import type { Page } from '../layout.ts';
import { cell, filterForm, hasWords, noMatch, pageOf, pager, row, table, twoLines, wordsOf } from '../lists.ts';

const PATH = '/accounts';

/** The accounts and their organizations. */
export function accountsPage({ service }: ConsoleContext, query: URLSearchParams): Page {
  const { state, limits } = service;
  const accounts = [...state.accounts.values()].reverse();
  const words = wordsOf(query);
  const matching = accounts.filter(({ email, company }) => hasWords(words, `${email} ${company.name}`));
  const page = pageOf(
    matching,
    query,
    ({ id }, cursor) => id < Number(cursor),
    ({ id }) => String(id),
  );
  return {
    title: 'Accounts',
    content: [
      head('Accounts', '', [
        opener('company', 'Create an organization…'),
        opener('account', 'Create an account…', { style: 'primary' }),
      ]),
      filterForm(PATH, query, { label: 'Filter of accounts', placeholder: 'Email or organization' }),
      live('accounts', [
        table(
          'Accounts, the newest first',
          [
            ['Account and organization'],
            ['Live tokens', 'w7'],
            ['Resources', 'w7'],
            ['Notifications', 'w8 lo'],
            ['Actions', 'w8'],
          ],
          page.rows.map((account) => {
            const { email, company, audiences, activations, cohorts, estimates, notifications } = account;
            return row([
              twoLines(
                html`<b>${foreign(email)}</b>`,
                html`${foreign(company.name)} <span class="num">(${company.id})</span>`,
                'main',
              ),
              cell(listTokens(service, account).length, '', 'Live tokens'),
              cell(count(audiences.size + activations.size + cohorts.size + estimates.size), '', 'Resources'),
              cell(notifications.length, 'lo', 'Notifications'),
              cell(logInAs(email), 'acts'),
            ]);
          }),
          accounts.length === 0
            ? emptyState(
                'No accounts',
                'The API responds with 401 until there is one with a token.',
                html`<p class="acts">${opener('account', 'Create an account…')}</p>`,
              )
            : noMatch(PATH, 'accounts', accounts.length),
        ),
        pager(PATH, query, page),
      ]),
      formDialog({
        id: 'account',
        title: 'Create an account',
        action: 'POST /api/accounts',
        submit: 'Create the account',
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
      }),
      formDialog({
        id: 'company',
        title: 'Create an organization',
        action: 'POST /api/companies',
        submit: 'Create the organization',
        fields: [
          input('Name', 'name', { required: true }),
          input('Builds an hour', 'buildsPerHour', { type: 'number', min: 0, placeholder: limits.buildsPerHour }),
          input('Builds a day', 'buildsPerDay', { type: 'number', min: 0, placeholder: limits.buildsPerDay }),
        ],
      }),
    ],
  };
}

const logInAs = (email: string): Html =>
  html`<form method="post" action="/login-as"><input type="hidden" name="account" value="${email}">
<button class="small" aria-label="Log in as ${email}">Log in as</button></form>`;
