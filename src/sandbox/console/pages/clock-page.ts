import { html } from 'hono/html';
import type { ConsoleContext } from '../console-context.ts';
import { type DueTask, dueTasks } from '../due-tasks.ts';
import { actionForm, input } from '../forms.ts';
import {
  count,
  dateText,
  durationText,
  emptyState,
  foreign,
  type Html,
  head,
  live,
  relativeText,
  timeElement,
} from '../html.ts';
import { advanceButtons, clockElement, modeText, type Page, speedButtons } from '../layout.ts';
import { cell, filterForm, hasWords, noMatch, pageOf, pager, row, table, twoLines, wordsOf } from '../lists.ts';
import { whatHappened } from './advance-report.ts';

const PATH = '/clock';

/** The clock, and what is due. */
export function clockPage({ service, history }: ConsoleContext, query: URLSearchParams): Page {
  const { clock } = service;
  const now = clock.now();
  const tasks = dueTasks(service);
  const [next] = tasks;
  const words = wordsOf(query);
  const matching = tasks.filter(({ description }) => hasWords(words, description));
  const page = pageOf(grouped(matching), query, isAfter, ({ time, order }) => `${time}_${order}`);
  const inNext = next === undefined ? 'Nothing is due.' : `Next event ${relativeText(next.time - now)}.`;
  return {
    title: 'Clock',
    content: html`${head('Clock', '', live('speed', speedButtons(clock.mode, [10, 60, 3600])))}
<div class="cols aside even">
<section class="card" aria-label="Time">${live(
      'clock',
      html`<p class="clock">${clockElement(now, clock.mode)} <span class="sr">UTC</span></p>
<p class="soft">${dateText(now)}, UTC, ${modeText(clock.mode)}. ${inNext}</p>`,
    )}
<p class="soft">Jobs, tokens, rate buckets, idempotency keys, presigned URLs and deliveries follow this clock.
Your client and your receiver follow the machine's.</p></section>
<section class="card" aria-labelledby="advance-title"><h2 id="advance-title">Advance</h2>
${live('next', next === undefined ? html`<p class="soft">Nothing is due.</p>` : toNext(next, now))}
${advanceButtons()}
${actionForm({
  action: 'POST /api/clock/advance',
  submit: 'Advance',
  layout: 'row',
  fields: input('Seconds', 'ms', { type: 'number', min: 0, step: 'any', required: true, 'data-factor': 1000 }),
})}</section></div>
${live('happened', history.latest ? whatHappened(history.latest) : '')}
<h2>Due</h2>
${filterForm(PATH, query, { label: 'Filter of what is due', placeholder: 'Kind, id, event or status' })}
${live('due', [
  table(
    'Due, the next one first',
    [['At', 'w11'], ['In', 'w8'], ['Event'], ['Actions', 'w9']],
    page.rows.map((task) => rowOf(task, now)),
    tasks.length === 0
      ? emptyState(
          'Nothing is due',
          'No job runs and no delivery waits. An advance still ages tokens, rate buckets and uploads.',
        )
      : noMatch(PATH, 'events', tasks.length),
  ),
  pager(PATH, query, page, ['Sooner', 'Later', 'Last']),
])}`,
  };
}

const toNext = ({ description, time }: DueTask, now: number): Html => html`
${actionForm({ action: 'POST /api/clock/next', submit: 'To the next event', style: 'primary wide' })}
<p class="soft">${foreign(description)}, ${relativeText(time - now)}</p>`;

function isAfter({ time, order }: DueTask, cursor: string): boolean {
  const [other = 0, rank = 0] = cursor.split('_').map(Number);
  return time > other || (time === other && order > rank);
}

/** A task, and what the tasks are about that do the same in the same second. */
interface DueGroup extends DueTask {
  readonly subjects: readonly string[];
}

/** Groups tasks of the same name that are due in the same second. */
function grouped(tasks: readonly DueTask[]): readonly DueGroup[] {
  const groups = Map.groupBy(tasks, ({ time, event }) => `${Math.floor(time / 1_000)} ${event}`);
  return [...groups.values()].flatMap(([first, ...more]) =>
    first ? [{ ...first, subjects: [first, ...more].map(({ subject }) => subject) }] : [],
  );
}

const MAX_SUBJECTS = 12;

const subjectsText = (subjects: readonly string[]): string =>
  `${subjects.slice(0, MAX_SUBJECTS).join(', ')}${subjects.length > MAX_SUBJECTS ? ', …' : ''}`;

function rowOf({ time, description: alone, event, subjects }: DueGroup, now: number): Html {
  const isGroup = subjects.length > 1;
  const description = isGroup ? `${count(subjects.length)} ${event}` : alone;
  return row([
    cell(timeElement(time, now), 'side2'),
    cell(html`<span class="soft">in ${durationText(time - now)}</span>`),
    isGroup
      ? twoLines(foreign(description), foreign(subjectsText(subjects)), 'main cut')
      : cell(foreign(description), 'main cut'),
    cell(
      actionForm({
        action: 'POST /api/clock/advance',
        submit: 'Advance to here',
        values: { ms: Math.max(0, Math.ceil(time - now)) },
        label: `Advance to here: ${description}`,
        style: 'small',
      }),
      'acts',
    ),
  ]);
}
