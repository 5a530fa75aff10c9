import { html } from 'hono/html';
import type { Company } from '../../state.ts';
import { actionForm, type Html, input, live, meter } from '../html.ts';
import type { Page } from '../layout.ts';
import type { ConsoleContext } from '../operator-api.ts';

const BUCKETS = ['read', 'write', 'mcp', 'login', 'mint'] as const;

/** The limits of the service, and the build budgets of organizations. */
export function limitsPage({ service }: ConsoleContext): Page {
  const { state, clock, limits } = service;
  const now = clock.now();
  const used = [...state.tokens.values()].flatMap(({ id, kind, account, buckets }) =>
    [...buckets].map(([name, window]) =>
      meter(`${name}, ${kind} token ${id} of ${account.email}`, window.count(now), window.limit),
    ),
  );
  const companies = [...state.companies.values()];
  return {
    title: 'Limits',
    content: [
      html`<h2>Rate buckets in use</h2>`,
      live('buckets', used.length > 0 ? used : html`<p class="empty">No token has sent a request yet.</p>`),
      html`<h2>Build budgets</h2>`,
      live(
        'budgets',
        [...state.companies.values()].map((company) => budget(company, now)),
      ),
      live(
        'budget-forms',
        companies.map(({ name, hourlyBuilds, dailyBuilds }) =>
          actionForm({
            action: 'POST /api/budget',
            submit: `Set the budget of ${name}`,
            values: { company: name },
            fields: [
              input('Builds an hour', 'buildsPerHour', {
                type: 'number',
                min: 0,
                value: hourlyBuilds.limit,
              }),
              input('Builds a day', 'buildsPerDay', {
                type: 'number',
                min: 0,
                value: dailyBuilds.limit,
              }),
            ],
          }),
        ),
      ),
      html`<h2>Change limits</h2>`,
      live(
        'limits',
        BUCKETS.map((name) =>
          actionForm({
            action: 'POST /api/limits',
            submit: `Set ${name}`,
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
      ),
    ],
  };
}

/** Returns the build budget of an organization. */
export function budget({ name, hourlyBuilds, dailyBuilds }: Company, now: number): Html {
  return html`${meter(`${name}: builds in the last hour`, hourlyBuilds.count(now), hourlyBuilds.limit)}
${meter(`${name}: builds in the last day`, dailyBuilds.count(now), dailyBuilds.limit)}`;
}
