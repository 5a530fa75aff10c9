import { html } from 'hono/html';
import type { SlidingWindow } from '../../sliding-window.ts';
import type { Company } from '../../state.ts';
import type { ConsoleContext } from '../console-context.ts';
import { actionForm, advanceBy, formDialog, numberInput, opener } from '../forms.ts';
import { attributesOf, type Content, emptyState, foreign, type Html, head, live } from '../html.ts';
import type { Page } from '../layout.ts';
import { table } from '../lists.ts';
import { chosenAccount, shownCompanies } from '../shown-accounts.ts';
import { windowTrack } from '../tracks.ts';
import { count, durationText } from '../words.ts';

const BUCKETS = ['read', 'write', 'mcp', 'login', 'mint'] as const;

interface Limit {
  readonly name: string;
  readonly owner: string;
  readonly account: string;
  readonly window: SlidingWindow;
  readonly company?: Company;
}

export function limitsPage(console: ConsoleContext, query: URLSearchParams): Page {
  const { limits } = console.service;
  return {
    title: 'Limits',
    content: html`${head('Limits')}<div class="cols">${live('limits', limitList(console, query))}
<section class="card" aria-labelledby="change-title"><h2 id="change-title">Change the rates</h2>
<p class="hint">Requests of a token, or of an address (login, mint), in any interval. They apply immediately, also to tokens that exist.</p>
${live('rates', ratesForm(limits))}</section></div>${budgetDialog()}`,
  };
}

function limitList(console: ConsoleContext, query: URLSearchParams): Html {
  const now = console.service.clock.now();
  const all = [...budgetsOf(shownCompanies(console, query)), ...bucketsOf(console, query)];
  return table('Build budgets and rate buckets', all, NO_LIMITS, [
    ['Limit', '', limitCell, 'main wrap'],
    ['Used', 'w4', ({ window }) => usedText(window, now), 'wrap'],
    ['Before and after now', 'w4', ({ name, owner, window }) => windowTrack(`${name}, ${owner}`, window, now), 'full'],
    ['Actions', 'w2', (limit) => actionsOf(limit, now), 'right'],
  ]);
}

const NO_LIMITS = emptyState('No organizations', 'An account belongs to one, whose builds are counted.');

const limitCell = ({ name, owner, account }: Limit): Html =>
  html`<b>${name}</b> <small>${foreign(owner)} ${foreign(account, ' ')}</small>`;

const budgetsOf = (companies: readonly Company[]): readonly Limit[] =>
  companies.flatMap((company) => {
    const { name, hourlyBuilds, dailyBuilds } = company;
    const shared = { owner: name, account: '', company };
    return [
      { ...shared, name: 'Builds in the last hour', window: hourlyBuilds },
      { ...shared, name: 'Builds in the last day', window: dailyBuilds },
    ];
  });

function bucketsOf(console: ConsoleContext, query: URLSearchParams): readonly Limit[] {
  const { state, limits } = console.service;
  const chosen = chosenAccount(console, query);
  const tokens = [...state.tokens.values()].filter(({ account }) => !chosen || account === chosen);
  return tokens.reverse().flatMap((token) =>
    [...token.buckets].map(([name, window]) => ({
      name: `Bucket ${name}, in the last ${durationText(limits[name].interval)}`,
      owner: `${token.kind} token ${token.id}`,
      account: token.account.email,
      window,
    })),
  );
}

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
