import { html } from 'hono/html';
import type { Company, Token } from '../../state.ts';
import type { ConsoleContext } from '../console-context.ts';
import { actionForm, formDialog, input, opener } from '../forms.ts';
import { count, durationText, emptyState, facts, foreign, type Html, head, live, meter } from '../html.ts';
import type { Page } from '../layout.ts';
import { cell, filterForm, hasWords, noMatch, pageOf, pager, row, table, twoLines, wordsOf } from '../lists.ts';

const PATH = '/limits';
const BUCKETS = ['read', 'write', 'mcp', 'login', 'mint'] as const;

/** The limits of the service, and how much of them is used. */
export function limitsPage({ service }: ConsoleContext, query: URLSearchParams): Page {
  const { state, clock, limits } = service;
  const now = clock.now();
  const words = wordsOf(query);
  const companies = [...state.companies.values()];
  const used = [...state.tokens.values()]
    .flatMap((token) => [...token.buckets].map(([name, window]) => ({ token, name, window })))
    .reverse();
  const matching = used.filter(({ token, name }) =>
    hasWords(words, `${name} ${token.kind} ${token.id} ${token.account.email}`),
  );
  const page = pageOf(
    matching,
    query,
    ({ token, name }, cursor) => keyOf(token, name) < cursor,
    ({ token, name }) => keyOf(token, name),
  );
  return {
    title: 'Limits',
    content: [
      head('Limits', '', opener('change', 'Change limits…', { style: 'primary' })),
      live(
        'limits',
        facts(
          BUCKETS.map(
            (name) =>
              [`Bucket ${name}`, `${count(limits[name].limit)} in ${durationText(limits[name].interval)}`] as const,
          ),
        ),
      ),
      html`<h2>Build budgets</h2>`,
      live(
        'budgets',
        table(
          'Build budgets',
          [['Organization'], ['This hour', 'w14'], ['Today', 'w14'], ['Actions', 'w7']],
          companies.map((company) =>
            row([
              cell(foreign(company.name), 'main cut'),
              cell(
                meter(
                  `${company.name}: builds in the last hour`,
                  company.hourlyBuilds.count(now),
                  company.hourlyBuilds.limit,
                ),
                '',
                'This hour',
              ),
              cell(
                meter(
                  `${company.name}: builds in the last day`,
                  company.dailyBuilds.count(now),
                  company.dailyBuilds.limit,
                ),
                '',
                'Today',
              ),
              cell(changeBudget(company), 'acts'),
            ]),
          ),
          emptyState('No organizations', 'An account belongs to one, whose builds are counted.'),
        ),
      ),
      html`<h2>Rate buckets in use</h2>${filterForm(PATH, query, { label: 'Filter of buckets', placeholder: 'Bucket, token or account' })}`,
      live('buckets', [
        table(
          'Rate buckets in use',
          [['Token and account'], ['Bucket', 'w7'], ['Used', 'w14']],
          page.rows.map(({ token, name, window }) =>
            row([
              twoLines(html`${token.kind} token ${token.id}`, foreign(token.account.email), 'main'),
              cell(name, 'side2'),
              cell(meter(`${name}, ${token.kind} token ${token.id}`, window.count(now), window.limit)),
            ]),
          ),
          used.length === 0
            ? emptyState('No token has sent a request yet', 'Each token has its own buckets.')
            : noMatch(PATH, 'buckets', used.length),
        ),
        pager(PATH, query, page),
      ]),
      limitsDialog(limits),
      budgetDialog(),
    ],
  };
}

const keyOf = ({ id }: Token, name: string): string => `${String(id).padStart(12, '0')}${name}`;

const changeBudget = ({ name, hourlyBuilds, dailyBuilds }: Company): Html =>
  opener('budget', 'Change…', {
    label: `Change the budget of ${name}`,
    style: 'small',
    about: name,
    values: { company: name, buildsPerHour: hourlyBuilds.limit, buildsPerDay: dailyBuilds.limit },
  });

const budgetDialog = (): Html =>
  formDialog({
    id: 'budget',
    title: html`The build budget of <bdi data-name>an organization</bdi>`,
    action: 'POST /api/budget',
    submit: 'Set the budget',
    fields: [
      html`<input type="hidden" name="company">`,
      input('Builds an hour', 'buildsPerHour', { type: 'number', min: 0 }),
      input('Builds a day', 'buildsPerDay', { type: 'number', min: 0 }),
    ],
  });

const limitsDialog = (limits: ConsoleContext['service']['limits']): Html =>
  html`<dialog id="change" aria-labelledby="change-title"><h2 id="change-title">Change limits</h2>
<p class="soft">Requests of a token, or of an address (login, mint), in any interval. They apply immediately.</p>
${live(
  'limit-forms',
  BUCKETS.map((name) =>
    actionForm({
      action: 'POST /api/limits',
      submit: `Set ${name}`,
      layout: 'row',
      fields: [
        input(`Requests (${name})`, `${name}.limit`, {
          type: 'number',
          min: 0,
          value: limits[name].limit,
          required: true,
        }),
        input(`Interval in seconds (${name})`, `${name}.interval`, {
          type: 'number',
          min: 0,
          step: 'any',
          value: limits[name].interval / 1000,
          'data-factor': 1000,
          required: true,
        }),
      ],
    }),
  ),
)}<form method="dialog"><div class="acts"><button>Close</button></div></form></dialog>`;
