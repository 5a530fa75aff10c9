import { html } from 'hono/html';
import type { ConsoleContext } from '../console-context.ts';
import { formDialog, opener } from '../forms.ts';
import { commandLine } from '../highlight.ts';
import {
  badge,
  count,
  durationText,
  emptyState,
  facts,
  foreign,
  type Html,
  head,
  httpBadge,
  live,
  meter,
  note,
  timeElement,
} from '../html.ts';
import type { Page } from '../layout.ts';
import { cell, filterForm, hasWords, noMatch, pageOf, pager, row, table, wordsOf } from '../lists.ts';
import { MAX_BYTES, MAX_STEPS, type Step } from '../recorder.ts';
import { redactText } from '../redact-request.ts';

const PATH = '/session';

/** Maximum length of a call that is shown. */
const MAX_CALL = 500;

/** The steps since the recording began: to keep them as a test, to save and to load the state, to reset. */
export function sessionPage({ recorder, service }: ConsoleContext, query: URLSearchParams): Page {
  const { steps, startedAt, isFull, bytes } = recorder.recording;
  const now = service.clock.now();
  const words = wordsOf(query);
  const numbered = steps.map((step, index) => ({ step, index })).reverse();
  const matching = numbered.filter(({ step }) => hasWords(words, textOf(step)));
  const page = pageOf(
    matching,
    query,
    ({ index }, cursor) => index < Number(cursor),
    ({ index }) => String(index),
  );
  const began = timeElement(startedAt, now);
  return {
    title: 'Session',
    content: html`${head(
      'Session',
      live(
        'recording',
        html`${isFull ? badge('warn', 'Full') : badge('busy', 'Recording')} <span class="soft">since ${began}, ${count(steps.length)} steps</span>`,
      ),
      [
        html`<a class="button primary" href="/recording.test.ts" download="recording.test.ts">Export as test</a>`,
        opener('again', 'Restart recording…'),
      ],
    )}
<p class="lead">As a test for vitest, it continues with the state of ${began}, repeats each step at its time, and expects the same statuses.</p>
<div class="cols aside"><section aria-label="Steps">
${filterForm(PATH, query, { label: 'Filter of steps', placeholder: 'Path, call or status' })}
${live('steps', [
  isFull ? note('warn', 'The recording is full.', { details: ['Restart it to record more.'] }) : '',
  table(
    'Steps, the latest first',
    [['After', 'w8'], ['Step'], ['Expected', 'w8']],
    page.rows.map(({ step }) => rowOf(step, startedAt)),
    steps.length === 0
      ? emptyState(
          'Nothing has happened yet',
          'Send a request, or do something on these pages.',
          commandLine('send', 'npx aud audiences create --name Visitors --sandbox'),
        )
      : noMatch(PATH, 'steps', steps.length),
  ),
  pager(PATH, query, page),
])}</section>
<div class="cols">
<section class="card" aria-labelledby="recorded-title"><h2 id="recorded-title">Recorded</h2>
${live(
  'recorded',
  facts([
    ['Steps', meter('Steps', steps.length, MAX_STEPS)],
    ['Bodies', meter('Bodies in KiB', Math.round(bytes / 1024), MAX_BYTES / 1024, ' KiB')],
  ]),
)}
<p class="soft">The exported file contains tokens, passwords and secrets of the sandbox; the pages show none.</p></section>
<section class="card" aria-labelledby="state-title"><h2 id="state-title">State</h2>
<p class="soft">Accounts, tokens, resources, jobs, deliveries and the time, as a file.</p>
<p class="acts">${html`<a class="button" href="/state.json" download="sandbox.json">Save the state</a>`}${opener('load', 'Load a state…')}</p>
<p class="soft">To keep it from run to run:</p>${commandLine('keep', 'npx aud sandbox --state sandbox.json')}</section>
<section class="card" aria-labelledby="reset-title"><h2 id="reset-title">Reset</h2>
<p class="soft">Back to ${began}: its accounts and tokens, without what has happened since. Faults, limits and the time stay.</p>
<p>${opener('reset', 'Reset…', { style: 'danger' })}</p></section></div></div>
${formDialog({
  id: 'reset',
  title: 'Reset the sandbox?',
  lead: 'Resources created since, deliveries, requests and logins are gone. Save the state first to be able to return to it.',
  fields: '',
  action: 'POST /api/reset',
  submit: 'Reset',
  style: 'danger primary',
})}
${formDialog({
  id: 'load',
  title: 'Load a state',
  lead: 'Replaces accounts, tokens, resources and the time, and ends all logins. The recording restarts.',
  fields: html`<label>File <input type="file" accept=".json,application/json" required>
<small>Written by Save the state, by --export, or by sandbox.save()</small></label>`,
  action: 'POST /api/state',
  submit: 'Replace the state',
  style: 'danger primary',
})}
${formDialog({
  id: 'again',
  title: 'Restart the recording?',
  lead: `The ${count(steps.length)} steps are discarded. The next test begins with the present state.`,
  fields: '',
  action: 'POST /api/recording/restart',
  submit: 'Restart recording',
  style: 'danger primary',
})}`,
  };
}

const shownCall = ({ shown }: Extract<Step, { shown: string }>): string => redactText(`${shown.slice(0, MAX_CALL)};`);

const textOf = (step: Step): string => {
  if (!('request' in step)) return step.shown.slice(0, MAX_CALL);
  const { method, path, status, id } = step.request.entry;
  return `${method} ${path} ${status || 'no response'} ${id}`;
};

function rowOf(step: Step, startedAt: number): Html {
  const after = cell(durationText(step.started.time - startedAt));
  if (!('request' in step))
    return row([after, cell(html`<code>${foreign(shownCall(step))}</code>`, 'main cut'), cell('', 'side2')]);
  const { id, method, path, status } = step.request.entry;
  return row([
    after,
    cell(
      html`<a class="row" href="/requests/${id}"><b>${method}</b> <code><bdi title="${path}">${path}</bdi></code></a>`,
      'main cut',
    ),
    cell(httpBadge(status), 'side2'),
  ]);
}
