import { html } from 'hono/html';
import type { ClockMode } from '../../clock.ts';
import { dueTasks } from '../due-tasks.ts';
import { actionForm, durationText, facts, input, live, table, timeElement } from '../html.ts';
import type { Page } from '../layout.ts';
import type { ConsoleContext } from '../operator-api.ts';

const STEPS = [60_000, 600_000, 3_600_000, 86_400_000];
const MAX_TASKS = 100;

/** The clock, and what is due. */
export function clockPage({ service }: ConsoleContext): Page {
  const { clock } = service;
  const now = clock.now();
  const tasks = dueTasks(service);
  return {
    title: 'Clock',
    content: [
      live(
        'clock',
        facts([
          ['Time', html`<b>${new Date(now).toISOString()}</b>`],
          ['Runs', modeText(clock.mode)],
        ]),
      ),
      html`<h2>Advance</h2><div class="actions">
${STEPS.map((ms) => actionForm({ action: 'POST /api/clock/advance', submit: `+ ${durationText(ms)}`, values: { ms } }))}
${actionForm({ action: 'POST /api/clock/next', submit: 'To the next event' })}
</div>
${actionForm({
  action: 'POST /api/clock/advance',
  submit: 'Advance',
  fields: input('Seconds', 'ms', { type: 'number', min: 0, step: 'any', required: true, 'data-factor': 1000 }),
})}
<h2>Speed</h2><div class="actions">
${actionForm({ action: 'POST /api/clock/mode', submit: 'Pause', values: { mode: 'manual' } })}
${actionForm({ action: 'POST /api/clock/mode', submit: 'Real time', values: { mode: 'real' } })}
${[10, 60, 3600].map((speed) => actionForm({ action: 'POST /api/clock/mode', submit: `${speed} times`, values: { speed } }))}
</div>
<h2>Due</h2>`,
      live(
        'due',
        table(
          'Due, the next one first',
          ['Time', 'Event'],
          tasks.slice(0, MAX_TASKS).map(({ time, description }) => [timeElement(time, now), description]),
          'Nothing is due: no job runs, no delivery waits for its next attempt.',
        ),
      ),
    ],
  };
}

function modeText(mode: ClockMode): string {
  if (mode === 'manual') return 'paused: only "Advance" moves it';
  return mode === 'real' ? 'in real time' : `${mode.speed} times as fast as real time`;
}
