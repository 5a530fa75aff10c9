import { html } from 'hono/html';
import type { SlidingWindow } from '../../sliding-window.ts';
import type { Company, Token } from '../../state.ts';
import type { ConsoleContext } from '../console-context.ts';
import { actionForm, advanceBy, formDialog, numberInput, opener } from '../forms.ts';
import { attributesOf, type Content, emptyState, foreign, type Html, head, live } from '../html.ts';
import type { Page } from '../layout.ts';
import { listView, search } from '../lists.ts';
import { chosenAccount, shownCompanies } from '../shown-accounts.ts';
import { windowTrack } from '../tracks.ts';
import { count, durationText } from '../words.ts';

const BUCKETS = ['read', 'write', 'mcp', 'login', 'mint'] as const;

/** A rolling window: its subject and its owner. */
interface Limit {
  /** Its rank; the budgets come first. */
  readonly key: number;
  readonly name: string;
  readonly owner: string;
  readonly account: string;
  readonly window: SlidingWindow;
  /** Set for a build budget. */
  readonly company?: Company;
}

/** Page with the limits of the service and their use. */
export function limitsPage(console: ConsoleContext, query: URLSearchParams): Page {
  const { limits } = console.service;
  return {
    title: 'Limits',
    content: html`${head('Limits')}<div class="cols"><div>${limitList(console, query)}</div>
<section class="card" aria-labelledby="change-title"><h2 id="change-title">Change the rates</h2>
<p class="hint">Requests of a token, or of an address (login, mint), in any interval. They apply immediately, also to tokens that exist.</p>
${live('rates', ratesForm(limits))}</section></div>${budgetDialog()}`,
  };
}

function limitList(console: ConsoleContext, query: URLSearchParams): readonly Html[] {
  const now = console.service.clock.now();
  const all = [...budgetsOf(shownCompanies(console, query)), ...bucketsOf(console, query)];
  return listView({
    path: '/limits',
    query,
    id: 'limits',
    placeholder: 'Limit, token, account or organization',
    matching: search(all, query, ({ name, owner, account }) => `${name} ${owner} ${account}`).toSorted(
      (a, b) => b.key - a.key,
    ),
    total: all.length,
    keyOf: ({ key }) => key,
    caption: 'Build budgets and rate buckets',
    columns: [
      [
        'Limit',
        '',
        ({ name, owner, account }) => html`<b>${name}</b> <small>${foreign(owner)} ${foreign(account, ' ')}</small>`,
        'main wrap',
      ],
      ['Used', 'w4', ({ window }) => usedText(window, now), 'wrap'],
      [
        'Before and after now',
        'w4',
        ({ name, owner, window }) => windowTrack(`${name}, ${owner}`, window, now),
        'full',
      ],
      ['Actions', 'w2', (limit) => actionsOf(limit, now), 'right'],
    ],
    empty: emptyState('No organizations', 'An account belongs to one, whose builds are counted.'),
  });
}

const budgetsOf = (companies: readonly Company[]): readonly Limit[] =>
  companies.flatMap((company) => {
    const { id, name, hourlyBuilds, dailyBuilds } = company;
    const shared = { owner: name, account: '', company };
    return [
      { ...shared, key: 1e9 - 2 * id, name: 'Builds in the last hour', window: hourlyBuilds },
      { ...shared, key: 1e9 - 2 * id - 1, name: 'Builds in the last day', window: dailyBuilds },
    ];
  });

function bucketsOf(console: ConsoleContext, query: URLSearchParams): readonly Limit[] {
  const { state, limits } = console.service;
  const chosen = chosenAccount(console, query);
  const tokens = [...state.tokens.values()].filter(({ account }) => !chosen || account === chosen);
  return tokens.flatMap((token) =>
    [...token.buckets].map(([name, window]) => ({
      key: keyOf(token, name),
      name: `Bucket ${name}, in the last ${durationText(limits[name].interval)}`,
      owner: `${token.kind} token ${token.id}`,
      account: token.account.email,
      window,
    })),
  );
}

const keyOf = ({ id }: Token, name: (typeof BUCKETS)[number]): number => id * BUCKETS.length + BUCKETS.indexOf(name);

function usedText(window: SlidingWindow, now: number): Html {
  const wait = window.retryAfter(now);
  const free = wait === 0 ? '' : html` <span class="warn">1 free in ${durationText(wait)}</span>`;
  return html`${count(window.count(now))} of ${count(window.limit)}${free}`;
}

function actionsOf({ name, owner, window, company }: Limit, now: number): Content {
  const wait = window.retryAfter(now);
  const advance = wait > 0 ? advanceBy(wait, 'Advance', 'small', `Advance until ${name} of ${owner} has one free`) : '';
  if (!company || window !== company.hourlyBuilds) return advance;
  const values = { company: owner, buildsPerHour: window.limit, buildsPerDay: company.dailyBuilds.limit };
  const change = { label: `Change the budget of ${owner}`, style: 'small', about: owner, values };
  return [advance, ' ', opener('budget', 'Change…', change)];
}

const budgetDialog = (): Html =>
  formDialog(
    'budget',
    html`The build budget of <bdi data-name>an organization</bdi>`,
    'POST /api/budget',
    'Set the budget',
    {
      fields: [
        html`<input type="hidden" name="company">`,
        numberInput('Builds an hour', 'buildsPerHour'),
        numberInput('Builds a day', 'buildsPerDay'),
      ],
    },
  );

function ratesForm(limits: ConsoleContext['service']['limits']): Html {
  const field = (label: string, name: string, value: number, factor?: number): Html =>
    html`<input${attributesOf({ type: 'number', min: 0, step: 'any', size: 5, required: true, 'aria-label': label, name, value, 'data-factor': factor })}>`;
  const rows = BUCKETS.map((name) => {
    const { limit, interval } = limits[name];
    const requests = field(`Requests (${name})`, `${name}.limit`, limit);
    return html`<div class="rate"><b>${name}</b>${requests} in ${field(`Seconds (${name})`, `${name}.interval`, interval / 1_000, 1_000)} s</div>`;
  });
  return actionForm('POST /api/limits', 'Set the rates', { fields: rows, style: 'primary' });
}
