import { html } from 'hono/html';
import { durationText, live, table } from '../html.ts';
import type { Page } from '../layout.ts';
import type { ConsoleContext } from '../operator-api.ts';

const MAX_ROWS = 200;

/** Maximum length of a call that is shown. */
const MAX_CALL = 500;

/** The steps since the recording began, and the test that repeats them. */
export function recordingPage({ recorder }: ConsoleContext): Page {
  const { steps, startedAt, isFull } = recorder.recording;
  const latest = steps.slice(-MAX_ROWS).reverse();
  return {
    title: 'Recording',
    content: [
      html`<p>Requests and actions since the recording began, as a test for vitest: it continues with the state of that time,
repeats every step at its time, and expects the same statuses. The file contains the tokens, passwords and secrets of the sandbox.</p>
<p class="actions"><a class="button" href="/recording.test.ts" download>Download the test</a></p>
<form method="post" action="/recording/restart"><button>Begin a new recording</button></form>`,
      live('steps', [
        isFull ? html`<p class="empty">The recording is full. Begin a new one to record more.</p>` : '',
        table(
          'Steps, the latest first',
          ['After', 'Step'],
          latest.map((step) => [
            durationText(step.started.time - startedAt),
            'request' in step
              ? `${step.request.entry.method} ${step.request.entry.path}`
              : html`<code>${step.shown.slice(0, MAX_CALL)};</code>`,
          ]),
          'Nothing has happened yet: send a request, or do something on these pages.',
        ),
      ]),
    ],
  };
}
