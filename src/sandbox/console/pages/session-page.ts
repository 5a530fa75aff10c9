import { html } from 'hono/html';
import type { ConsoleContext } from '../console-context.ts';
import { formDialog, opener } from '../forms.ts';
import { badge, type Html, head, live, timeElement } from '../html.ts';
import type { Page } from '../layout.ts';
import { count, counted } from '../words.ts';

export function sessionPage({ recorder, service }: ConsoleContext): Page {
  const { startedAt, isFull } = recorder.recording;
  const began = timeElement(startedAt, service.clock.now());
  const state = isFull ? badge('warn', 'Full: restart it to record more') : badge('busy', 'Recording');
  const since = html`<span class="soft">since ${began}: ${counted(recorder.stepCount, 'request or call', 'requests and calls')}</span>`;
  return {
    title: 'Session',
    content: html`${head('Session', live('recording', html`${state} ${since}`))}
<div class="cols half"><section class="card" aria-labelledby="test-title"><h2 id="test-title">Test</h2>
<p class="hint" id="test" data-live>As a test for <code>npx vitest run recording.test.ts</code>, it continues with the state of ${began}, repeats each step at its time, and expects the same statuses.
The file contains tokens, passwords and secrets of the sandbox.</p>
<p class="acts"><a class="button primary" href="/recording.test.ts" download="recording.test.ts">Export as test</a>
${opener('again', 'Restart recording…')}</p></section>
<div>${STATE}${resetCard(began)}</div></div>${live('forms', dialogs(recorder.stepCount))}`,
  };
}

const STATE = html`<section class="card" aria-labelledby="state-title"><h2 id="state-title">State</h2>
<p class="hint">Accounts, tokens, resources, jobs, deliveries, the list of requests and the time, as a file.</p>
<p class="acts"><a class="button" href="/state.json" download="sandbox.json">Save the state</a>${opener('load', 'Load a state…')}</p></section>`;

const resetCard = (
  began: Html,
): Html => html`<section class="card" aria-labelledby="reset-title"><h2 id="reset-title">Reset</h2>
<p class="hint" id="back" data-live>Back to ${began}: its accounts and tokens, without what has happened since. Faults, limits and the time stay.</p>
<p>${opener('reset', 'Reset…', { style: 'danger' })}</p></section>`;

const dialogs = (steps: number): readonly Html[] => [
  formDialog('reset', 'Reset the sandbox?', 'POST /api/reset', 'Reset', {
    lead: 'This deletes the accounts, tokens and resources created since then, deliveries, requests and logins. To be able to return, save the state first.',
    style: 'danger primary',
  }),
  formDialog('load', 'Load a state', 'POST /api/state', 'Replace the state', {
    lead: 'Replaces accounts, tokens and resources, and ends all logins. The clock goes on to the time of the state, and never back. The recording restarts.',
    fields: html`<label>File <input type="file" accept=".json,application/json" required>
<small>Written by Save the state, by --state, or by sandbox.save()</small></label>`,
    style: 'danger primary',
  }),
  formDialog('again', 'Restart the recording?', 'POST /api/recording/restart', 'Restart recording', {
    lead: `The ${count(steps)} steps are discarded. The next test starts from the current state.`,
    style: 'danger primary',
  }),
];
