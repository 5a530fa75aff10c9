import { html } from 'hono/html';
import type { ConsoleContext } from '../console-context.ts';
import { formDialog, opener } from '../forms.ts';
import { commandLine } from '../highlight.ts';
import {
  badge,
  type Content,
  emptyState,
  foreign,
  type Html,
  head,
  httpBadge,
  live,
  note,
  timeElement,
} from '../html.ts';
import type { Page } from '../layout.ts';
import { listView, search } from '../lists.ts';
import type { Recording, Step } from '../recorder.ts';
import { count, durationText } from '../words.ts';
import { SEND } from './requests-page.ts';

/** The steps since the recording began: to keep them as a test, to save and to load the state, to reset. */
export function sessionPage({ recorder, service }: ConsoleContext, query: URLSearchParams): Page {
  const { recording } = recorder;
  const { steps, startedAt, isFull } = recording;
  const began = timeElement(startedAt, service.clock.now());
  const state = isFull ? badge('warn', 'Full') : badge('busy', 'Recording');
  const since = html`<span class="soft">since ${began}, ${count(steps.length)} steps</span>`;
  const full = isFull ? note('warn', 'The recording is full.', { details: ['Restart it to record more.'] }) : '';
  return {
    title: 'Session',
    content: html`${head('Session', live('recording', html`${state} ${since}`), [
      html`<a class="button primary" href="/recording.test.ts" download="recording.test.ts">Export as test</a>`,
      opener('again', 'Restart recording…'),
    ])}
<p class="lead">As a test for <code>npx vitest run recording.test.ts</code>, it continues with the state of ${began}, repeats each step at its time, and expects the same statuses.
The file contains tokens, passwords and secrets of the sandbox; the pages show none.</p>
<div class="cols aside"><section aria-label="Steps">${live('full', full)}${stepList(recording, query)}</section>
<div class="cols">${STATE}${resetCard(began)}</div></div>${dialogs(steps.length)}`,
  };
}

function stepList({ steps, startedAt }: Recording, query: URLSearchParams): readonly Html[] {
  const numbered = steps.map((step, index) => ({ step, index })).reverse();
  return listView({
    path: '/session',
    query,
    id: 'steps',
    placeholder: 'Path, call or status',
    matching: search(numbered, query, ({ step }) => textOf(step)),
    total: steps.length,
    keyOf: ({ index }) => index,
    caption: 'Steps, the latest first',
    columns: [
      ['After', 'w8', ({ step }) => durationText(step.started.time - startedAt)],
      ['Step', '', ({ step }) => stepElement(step), 'main cut'],
      ['Expected', 'w8', ({ step }) => expected(step), 'side2'],
    ],
    empty: emptyState('Nothing has happened yet', 'Send a request, or do something on these pages.', SEND),
  });
}

/** Maximum length of a call that is shown. */
const MAX_CALL = 500;

function textOf(step: Step): string {
  if (!('request' in step)) return step.shown.slice(0, MAX_CALL);
  const { method, path, status, id } = step.request.entry;
  return `${method} ${path} ${status || 'no response'} ${id}`;
}

function stepElement(step: Step): Html {
  if (!('request' in step)) return html`<code>${foreign(`${step.shown.slice(0, MAX_CALL)};`)}</code>`;
  const { id, method, path } = step.request.entry;
  const target = html`<b>${method}</b> <code><bdi title="${path}">${path}</bdi></code>`;
  return html`<a class="row" href="/requests/${id}">${target}</a>`;
}

const expected = (step: Step): Content => ('request' in step ? httpBadge(step.request.entry.status) : '');

const STATE = html`<section class="card" aria-labelledby="state-title"><h2 id="state-title">State</h2>
<p class="soft">Accounts, tokens, resources, jobs, deliveries and the time, as a file.</p>
<p class="acts"><a class="button" href="/state.json" download="sandbox.json">Save the state</a>${opener('load', 'Load a state…')}</p>
<p class="soft">To keep it from run to run:</p>${commandLine('keep', 'npx aud sandbox --state sandbox.json')}</section>`;

const resetCard = (
  began: Html,
): Html => html`<section class="card" aria-labelledby="reset-title"><h2 id="reset-title">Reset</h2>
<p class="soft">Back to ${began}: its accounts and tokens, without what has happened since. Faults, limits and the time stay.</p>
<p>${opener('reset', 'Reset…', { style: 'danger' })}</p></section>`;

const dialogs = (steps: number): readonly Html[] => [
  formDialog('reset', 'Reset the sandbox?', 'POST /api/reset', 'Reset', {
    lead: 'This deletes the resources created since then, deliveries, requests and logins. To be able to return, save the state first.',
    style: 'danger primary',
  }),
  formDialog('load', 'Load a state', 'POST /api/state', 'Replace the state', {
    lead: 'Replaces accounts, tokens, resources and the time, and ends all logins. The recording restarts.',
    fields: html`<label>File <input type="file" accept=".json,application/json" required>
<small>Written by Save the state, by --export, or by sandbox.save()</small></label>`,
    style: 'danger primary',
  }),
  formDialog('again', 'Restart the recording?', 'POST /api/recording/restart', 'Restart recording', {
    lead: `The ${count(steps)} steps are discarded. The next test starts from the current state.`,
    style: 'danger primary',
  }),
];
