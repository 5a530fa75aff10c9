import { html } from 'hono/html';
import type { SlidingWindow } from '../../sliding-window.ts';
import type { Company } from '../../state.ts';
import type { ConsoleContext } from '../console-context.ts';
import { actionForm, advanceBy, numberInput, select } from '../forms.ts';
import { attributesOf, emptyState, foreign, type Html, head, live, timeElement } from '../html.ts';
import type { Page } from '../layout.ts';
import { table } from '../lists.ts';
import { type Limit, shownCompanies, shownLimits } from '../shown-accounts.ts';
import { windowTrack } from '../tracks.ts';
import { count, durationText } from '../words.ts';

const BUCKETS = ['read', 'write', 'mcp', 'login', 'mint'] as const;

export function limitsPage(console: ConsoleContext, query: URLSearchParams): Page {
  const { limits } = console.service;
  return {
    title: 'Limits',
    content: html`${head('Limits')}<div class="cols">${live('limits', limitList(console, query))}
<div><section class="card" aria-labelledby="rates-title"><h2 id="rates-title">Change the rates</h2>
<p class="hint">Each token has its own read, write and mcp buckets. Each IP address has its own login and mint buckets. A change applies immediately, also to existing tokens.</p>
${live('rates', ratesForm(limits))}</section>
<section class="card" aria-labelledby="budget-title"><h2 id="budget-title">Change a build budget</h2>
${live('budget', budgetForm(shownCompanies(console, query)))}</section></div></div>`,
  };
}

function limitList(console: ConsoleContext, query: URLSearchParams): Html {
  const now = console.service.clock.now();
  return table('Build budgets and rate buckets', shownLimits(console, query), NO_LIMITS, [
    ['Limit', '', ({ name, owner }) => html`<b>${name}</b> <small>${foreign(owner)}</small>`, 'main wrap'],
    ['Used', 'w5', ({ window }) => usedText(window, now), 'wrap'],
    ['Over time', 'w4', ({ name, owner, window }) => windowTrack(`${name}, ${owner}`, window, now), 'full'],
    ['Actions', 'w2', (limit) => advanceTo(limit, now), 'right'],
  ]);
}

const NO_LIMITS = emptyState('No organizations', 'Create an account: the builds of its organization are limited.');

function usedText(window: SlidingWindow, now: number): Html {
  const wait = window.retryAfter(now);
  const { interval, times } = window.saved;
  const last = times.at(-1);
  const free = wait === 0 ? '' : html`, <span class="warn">1 free in ${durationText(wait)}</span>`;
  const all = last === undefined ? '' : html`, <small>all free at ${timeElement(last + interval, now)}</small>`;
  return html`${count(times.length)} of ${count(window.limit)}${free}${all}`;
}

function advanceTo({ name, owner, window }: Limit, now: number): Html | '' {
  const wait = window.retryAfter(now);
  return wait > 0 ? advanceBy(wait, 'Advance', 'small', `Advance until ${name} of ${owner} has one free`) : '';
}

function budgetForm(companies: readonly Company[]): Html {
  const choices = companies.map(({ name }) => [name, name] as const);
  return actionForm('POST /api/budget', 'Set the budget', {
    fields: [
      select('Organization', 'company', choices),
      numberInput('Builds an hour', 'buildsPerHour', { placeholder: 'unchanged' }),
      numberInput('Builds a day', 'buildsPerDay', { placeholder: 'unchanged' }),
    ],
  });
}

function ratesForm(limits: ConsoleContext['service']['limits']): Html {
  const field = (label: string, name: string, value: number, factor?: number): Html =>
    html`<input${attributesOf({ type: 'number', min: 0, step: 'any', required: true, 'aria-label': label, name, value, 'data-factor': factor })}>`;
  const rows = BUCKETS.map((name) => {
    const { limit, interval } = limits[name];
    const requests = field(`Requests (${name})`, `${name}.limit`, limit);
    return html`<div class="rate"><b>${name}</b>${requests} in ${field(`Seconds (${name})`, `${name}.interval`, interval / 1_000, 1_000)} s</div>`;
  });
  return actionForm('POST /api/limits', 'Set the rates', { fields: rows, style: 'primary' });
}
