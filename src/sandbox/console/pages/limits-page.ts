import { html } from 'hono/html';
import type { Service } from '../../service.ts';
import type { SlidingWindow } from '../../sliding-window.ts';
import type { Company, Token } from '../../state.ts';
import type { ConsoleContext } from '../console-context.ts';
import { actionForm, formDialog, numberInput, opener, secondsInput } from '../forms.ts';
import { emptyState, facts, foreign, type Html, head, live, meter } from '../html.ts';
import type { Page } from '../layout.ts';
import { listView, search, table, twoLines } from '../lists.ts';
import { chosenAccount, shownCompanies } from '../shown-accounts.ts';
import { count, durationText } from '../words.ts';

const BUCKETS = ['read', 'write', 'mcp', 'login', 'mint'] as const;

/** The limits of the service, and how much of them is used. */
export function limitsPage(console: ConsoleContext, query: URLSearchParams): Page {
  const { limits } = console.service;
  return {
    title: 'Limits',
    content: [
      head('Limits', '', opener('change', 'Change limits…', { style: 'primary' })),
      live('limits', facts(BUCKETS.map((name) => [`Bucket ${name}`, limitText(limits[name])]))),
      html`<h2>Build budgets</h2>`,
      live('budgets', budgetTable(console.service, shownCompanies(console, query))),
      html`<h2>Rate buckets in use</h2>`,
      bucketList(console, query),
      limitsDialog(limits),
      budgetDialog(),
    ],
  };
}

const limitText = ({ limit, interval }: { readonly limit: number; readonly interval: number }): string =>
  `${count(limit)} in ${durationText(interval)}`;

const NO_ORGANIZATIONS = emptyState('No organizations', 'An account belongs to one, whose builds are counted.');

function budgetTable({ clock }: Service, companies: readonly Company[]): Html {
  const used = ({ name }: Company, window: SlidingWindow, time: string): Html =>
    meter(`${name}: builds in the last ${time}`, window.count(clock.now()), window.limit);
  return table('Build budgets', companies, NO_ORGANIZATIONS, [
    ['Organization', '', ({ name }) => foreign(name), 'main cut'],
    ['In an hour', 'w14', (company) => used(company, company.hourlyBuilds, 'hour'), 'named'],
    ['In a day', 'w14', (company) => used(company, company.dailyBuilds, 'day'), 'named'],
    ['Actions', 'w7', changeBudget, 'acts'],
  ]);
}

function bucketList(console: ConsoleContext, query: URLSearchParams): readonly Html[] {
  const { state, clock } = console.service;
  const account = chosenAccount(console, query);
  const used = [...state.tokens.values()]
    .filter((token) => !account || token.account === account)
    .flatMap((token) => [...token.buckets].map(([name, window]) => ({ token, name, window, key: keyOf(token, name) })))
    .sort((a, b) => b.key - a.key);
  const usedOf = (label: string, window: SlidingWindow): Html => meter(label, window.count(clock.now()), window.limit);
  return listView({
    path: '/limits',
    query,
    id: 'buckets',
    placeholder: 'Bucket, token or account',
    matching: search(used, query, ({ token, name }) => `${name} ${token.kind} ${token.id} ${token.account.email}`),
    total: used.length,
    keyOf: ({ key }) => key,
    caption: 'Rate buckets in use',
    columns: [
      ['Token and account', '', ({ token }) => twoLines(titleOf(token), foreign(token.account.email)), 'two main'],
      ['Bucket', 'w7', ({ name }) => name, 'side2'],
      ['Used', 'w14', ({ token, name, window }) => usedOf(`${name}, ${titleOf(token)}`, window)],
    ],
    empty: emptyState('No token has sent a request yet', 'Each token has its own buckets.'),
  });
}

const keyOf = ({ id }: Token, name: (typeof BUCKETS)[number]): number => id * BUCKETS.length + BUCKETS.indexOf(name);

const titleOf = ({ kind, id }: Token): string => `${kind} token ${id}`;

const changeBudget = ({ name, hourlyBuilds, dailyBuilds }: Company): Html =>
  opener('budget', 'Change…', {
    label: `Change the budget of ${name}`,
    style: 'small',
    about: name,
    values: { company: name, buildsPerHour: hourlyBuilds.limit, buildsPerDay: dailyBuilds.limit },
  });

const BUDGET_TITLE = html`The build budget of <bdi data-name>an organization</bdi>`;

const budgetDialog = (): Html =>
  formDialog('budget', BUDGET_TITLE, 'POST /api/budget', 'Set the budget', {
    fields: [
      html`<input type="hidden" name="company">`,
      numberInput('Builds an hour', 'buildsPerHour'),
      numberInput('Builds a day', 'buildsPerDay'),
    ],
  });

function limitsDialog(limits: ConsoleContext['service']['limits']): Html {
  const forms = BUCKETS.map((name) => {
    const { limit, interval } = limits[name];
    return actionForm('POST /api/limits', `Set ${name}`, {
      layout: 'row',
      fields: [
        numberInput(`Requests (${name})`, `${name}.limit`, { value: limit, required: true }),
        secondsInput(`Interval in seconds (${name})`, `${name}.interval`, { value: interval / 1000, required: true }),
      ],
    });
  });
  return html`<dialog id="change" aria-labelledby="change-title"><h2 id="change-title">Change limits</h2>
<p class="soft">Requests of a token, or of an address (login, mint), in any interval. They apply immediately.</p>
${live('limit-forms', forms)}<form method="dialog"><div class="acts"><button>Close</button></div></form></dialog>`;
}
