import { html } from 'hono/html';
import type { SlidingWindow } from '../sliding-window.ts';
import type { AccountRecord, Company } from '../state.ts';
import type { ConsoleContext } from './console-context.ts';
import { select } from './forms.ts';
import type { Html } from './html.ts';
import type { Owner } from './objects.ts';

export const chosenAccount = ({ service }: ConsoleContext, query: URLSearchParams): AccountRecord | undefined =>
  service.state.accounts.get(query.get('account') ?? '');

export function shownAccounts(console: ConsoleContext, query: URLSearchParams): readonly AccountRecord[] {
  const chosen = chosenAccount(console, query);
  return chosen ? [chosen] : [...console.service.state.accounts.values()];
}

/** Returns the organizations that a page shows: an organization may have no account. */
export function shownCompanies(console: ConsoleContext, query: URLSearchParams): readonly Company[] {
  const chosen = chosenAccount(console, query);
  return chosen ? [chosen.company] : [...console.service.state.companies.values()];
}

export interface Limit {
  readonly name: string;
  readonly owner: string;
  readonly window: SlidingWindow;
}

export function shownLimits(console: ConsoleContext, query: URLSearchParams): readonly Limit[] {
  const chosen = chosenAccount(console, query);
  const tokens = [...console.service.state.tokens.values()].filter(({ account }) => !chosen || account === chosen);
  return [
    ...shownCompanies(console, query).flatMap(({ name: owner, hourlyBuilds, dailyBuilds }) => [
      { name: 'Builds an hour', owner, window: hourlyBuilds },
      { name: 'Builds a day', owner, window: dailyBuilds },
    ]),
    ...tokens.reverse().flatMap(({ kind, id, account: { email }, buckets }) => {
      const owner = `${kind} token ${id}, ${email}`;
      return [...buckets].map(([name, window]) => ({ name: `Bucket ${name}`, owner, window }));
    }),
  ];
}

export function isShown(console: ConsoleContext, query: URLSearchParams): (owner: Owner | undefined) => boolean {
  const chosen = chosenAccount(console, query);
  return (owner) => !chosen || owner === chosen || owner === chosen.company;
}

/** Returns the form field for the account of an action, the newest one first. With a single account, the field is hidden. */
export function accountField(accounts: readonly AccountRecord[]): Html {
  const emails = accounts.map(({ email }) => email).reverse();
  if (emails.length < 2) return html`<input type="hidden" name="account" value="${emails[0] ?? ''}">`;
  return select(
    'Account',
    'account',
    emails.map((email) => [email, email]),
  );
}
