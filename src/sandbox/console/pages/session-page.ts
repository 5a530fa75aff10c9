import { html } from 'hono/html';
import type { ConsoleContext } from '../console-context.ts';
import { formDialog, opener } from '../forms.ts';
import { badge, type Content, type Html, head, live, timeElement } from '../html.ts';
import type { Page } from '../layout.ts';
import { counted } from '../words.ts';

export function sessionPage({ recorder, service }: ConsoleContext): Page {
  const { startedAt, isFull } = recorder.recording;
  const began = timeElement(startedAt, service.clock.now());
  const state = isFull ? badge('warn', 'Full: restart the recording') : badge('busy', 'Recording');
  const since = html`<span class="soft">since ${began}: ${counted(recorder.stepCount, 'step')}</span>`;
  return {
    title: 'Session',
    content: html`${head('Session', live('recording', html`${state} ${since}`))}<div class="cols half">
${card('test', 'Test', testText(began), html`<a class="button primary" href="/recording.test.ts" download="recording.test.ts">Export as test</a>${opener('again', 'Restart recording…')}`)}
<div>${card('state', 'State', STATE, html`<a class="button" href="/state.json" download="sandbox.json">Save the state</a>${opener('load', 'Load a state…')}`)}
${card('back', 'Reset', resetText(began), opener('reset', 'Reset…', { style: 'danger' }))}</div></div>${live('forms', dialogs(recorder.stepCount, began))}`,
  };
}

const card = (id: string, title: string, text: Content, actions: Html): Html =>
  html`<section class="card" aria-labelledby="${id}-title"><h2 id="${id}-title">${title}</h2>
<p class="hint" id="${id}" data-live>${text}</p><p class="acts">${actions}</p></section>`;

const testText = (began: Html): Html => html`The test starts from the state of ${began},
and its steps repeat the requests and calls since then, except <code>sandbox.setClock</code>, at their times. It expects the same HTTP statuses. Run it with <code>npx vitest run recording.test.ts</code>. It contains tokens, passwords and secrets of the sandbox.`;

const STATE =
  'The file contains accounts with their passwords, tokens, webhook secrets, build budgets, resources, jobs, deliveries, the list of requests and the time.';

const resetText = (began: Html): Html =>
  html`A reset restores the state of ${began}, without its requests. The time, the rate limits and the fault rules stay as they are.`;

const dialogs = (steps: number, began: Html): readonly Html[] => [
  formDialog('reset', 'Reset the sandbox?', 'POST /api/reset', 'Reset', {
    lead: html`This deletes all requests and logins, and the accounts, tokens, resources, webhook endpoints and deliveries since ${began}. To be able to return, save the state first; it has no headers and bodies of requests.`,
    style: 'danger primary',
  }),
  formDialog('load', 'Load a state', 'POST /api/state', 'Replace the state', {
    lead: 'The file replaces all that a state contains. All logins end, and the recording restarts. The clock moves forward to the time of the state, never back. Rate limits, and fault rules that can still apply, stay as they are. The console forgets the earlier events of Clock, status changes of jobs, and headers and bodies of requests.',
    fields: html`<label>File <input type="file" accept=".json,application/json" required>
<small>A file that Save the state or --state has written, or the JSON of sandbox.save()</small></label>`,
    style: 'danger primary',
  }),
  formDialog('again', 'Restart the recording?', 'POST /api/recording/restart', 'Restart recording', {
    lead: `This discards ${counted(steps, 'step')}. The next test starts from the current state.`,
    style: 'danger primary',
  }),
];
