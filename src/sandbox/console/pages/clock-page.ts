import { html } from 'hono/html';
import { type ClockMode, speedOf } from '../../clock.ts';
import type { ConsoleContext } from '../console-context.ts';
import { type DueTask, dueTasks } from '../due-tasks.ts';
import { actionForm, advanceBy, advances, input } from '../forms.ts';
import { type HappenedAt, happenedText } from '../history.ts';
import { badge, emptyState, foreign, type Html, head, hint, live, timeElement } from '../html.ts';
import { clockElement, modeText, type Page } from '../layout.ts';
import { addressOf, listView, search, segments } from '../lists.ts';
import { isShown } from '../shown-accounts.ts';
import { chartCard, type Lane, type Mark, rangeOf } from '../tracks.ts';
import { clockText, count, dateText, keptText, relativeText } from '../words.ts';

export function clockPage(console: ConsoleContext, query: URLSearchParams): Page {
  const { service, history } = console;
  const { clock } = service;
  const now = clock.now();
  const isOwn = isShown(console, query);
  const all = [...dueTasks(service)];
  const due = all.filter(({ owner }) => isOwn(owner));
  const happened = history.all.filter(({ owner }) => isOwn(owner));
  const events = { due, happened, total: query.get('list') === 'past' ? history.all.length : all.length, now, query };
  // After an advance, the list shows what happened.
  const past = addressOf('/clock', query, { list: 'past', from: '', q: '' });
  return {
    title: 'Clock',
    content: html`${head('Clock', live('speed', speedButtons(clock.mode)))}
<div data-then="${past}"><div class="head"><div class="clock">${live('clock', clockElement(now, clock.mode))}</div>
<div class="acts">${live('next', toNext(all[0], now))}${advances()}${advanceForm()}</div></div>
<div class="hint">${live('date', `${dateText(now)}, UTC, ${modeText(clock.mode)}. Jobs, schedules, tokens, limits, idempotency keys, uploads and deliveries follow this clock; your client and your receiver do not.`)}</div>
${live('chart', timeChart(events))}${live('kept', hint(keptText('events', history.all.length, history.total)))}
${eventList(events)}</div>`,
  };
}

function speedButtons(mode: ClockMode): Html {
  const isPressed = (choice: ClockMode): string => String(speedOf(mode) === speedOf(choice));
  const speeds = [10, 60, 3_600].map((speed) => {
    const state = html`data-type="number" aria-pressed="${isPressed({ speed })}"`;
    return html`<button name="speed" value="${speed}" ${state}>×${count(speed)}</button>`;
  });
  return html`<form class="seg" method="post" data-action="POST /api/clock/mode" aria-label="Speed of the clock">
<button name="mode" value="manual" aria-pressed="${isPressed('manual')}">Paused</button>
<button name="mode" value="real" aria-pressed="${isPressed('real')}">Real time</button>${speeds}</form>`;
}

function toNext(next: DueTask | undefined, now: number): Html {
  if (!next) return html`<span class="soft">Nothing is due.</span>`;
  const text = `To the next event, ${relativeText(next.time - now)}`;
  return actionForm('POST /api/clock/next', text, { style: 'primary', label: `${text}: ${next.description}` });
}

/** A number of seconds, or numbers with units, also as words. */
const DURATION = String.raw`\s*(\d+(\.\d+)?|(\d+(\.\d+)?\s*(ms|min(ute)?s?|sec(ond)?s?|days?|hours?|[dhms])\s*)+)\s*`;

const advanceForm = (): Html =>
  html`<form class="acts" method="post" data-action="POST /api/clock/advance">${input(
    html`<span class="sr">Duration</span>`,
    'ms',
    {
      required: true,
      placeholder: '2 h 30 min',
      size: 9,
      'data-type': 'duration',
      pattern: DURATION,
      title: 'A duration such as 90s, 10 min, 1h30m or 3 days',
    },
  )}<button>Advance</button></form>`;

type TimedEvent = DueTask & Partial<HappenedAt>;

interface Events {
  readonly due: readonly DueTask[];
  readonly happened: readonly HappenedAt[];
  readonly total: number;
  readonly now: number;
  readonly query: URLSearchParams;
}

function eventList({ due, happened, total, now, query }: Events): readonly Html[] {
  const isPast = query.get('list') === 'past';
  const rows: readonly TimedEvent[] = isPast ? happened.toSorted((a, b) => b.time - a.time || b.order - a.order) : due;
  const choices = segments('Events', '/clock', query, 'list', [
    ['', 'Due', due.length],
    ['past', 'Happened', happened.length],
  ]);
  const list = listView({
    path: '/clock',
    query,
    id: 'due',
    things: 'events',
    placeholder: 'Kind, id, event or status',
    matching: search(rows, query, ({ description, result }) => `${description} ${result ? RESULTS[result][1] : ''}`),
    total,
    keyOf: ({ time, order }) => `${time}_${order}`,
    caption: isPast ? 'Past events, newest first' : 'Due events, soonest first',
    columns: [
      ['At', 'w4', ({ time }) => timeElement(time, now)],
      ['From now', 'w4', ({ time }) => relativeText(time - now), 'soft'],
      ['Event', '', eventCell, 'main full'],
      [isPast ? 'Result' : 'Actions', 'w4', (event) => resultOf(event, now), isPast ? 'state' : 'right'],
    ],
    empty: emptyState(
      isPast ? 'Nothing has happened' : 'Nothing is due',
      isPast
        ? 'Jobs, delivery attempts and other events since the console was opened appear here.'
        : 'No job, delivery attempt, scheduled build or deletion of an upload is due. An advance still ages tokens, rate buckets and idempotency keys.',
    ),
  });
  return [html`<div class="head"><h2>Events</h2>${live('events', choices)}</div>`, ...list];
}

const eventCell = ({ href, description }: TimedEvent): Html =>
  href === undefined ? foreign(description) : html`<a href="${href}">${foreign(description)}</a>`;

function resultOf({ time, description, result }: TimedEvent, now: number): Html {
  if (result) return badge(RESULTS[result][0], RESULTS[result][1]);
  return advanceBy(time - now, 'Advance to here', 'small', `Advance to here: ${description}`);
}

const RESULTS = {
  completed: ['good', 'completed'],
  succeeded: ['good', 'succeeded'],
  needsInfo: ['warn', 'Additional Info'],
  failed: ['bad', 'failed'],
  refused: ['bad', 'failed'],
  exhausted: ['bad', 'gave up'],
  disabled: ['bad', 'switched off'],
  resumed: ['good', 'resumed'],
  done: ['busy', 'done'],
} as const;

const HOUR_MS = 3_600_000;

function timeChart({ due, happened, now, query }: Events): Html | '' {
  // The chart omits the steps of a job.
  const ended = happened.filter(({ result, lane }) => result !== 'done' || lane !== 'Jobs');
  const names = new Set([...ended, ...due].map(({ lane }) => lane));
  if (names.size === 0) return '';
  const inLane = <T extends DueTask>(events: readonly T[], name: string) => events.filter(({ lane }) => lane === name);
  const lanes = [...names].map((name) => clockLane(name, inLane(ended, name), inLane(due, name)));
  const around = (ms: number) => ({ from: now - ms / 2, to: now + ms / 2, now });
  const ranges = [
    ['', 'All', rangeOf(lanes, now)],
    ['day', 'Day', around(24 * HOUR_MS)],
    ['hour', 'Hour', around(HOUR_MS)],
  ] as const;
  return chartCard('What happened and what is due', lanes, ranges, '/clock', query);
}

function clockLane(name: string, happened: readonly HappenedAt[], due: readonly DueTask[]): Lane {
  const past = happened.map(({ time, description, result }): Mark => {
    const [tone, text] = RESULTS[result];
    return { at: time, tone, result: text, title: `${clockText(time)}: ${description}: ${text}` };
  });
  const next = due.map(({ time, description }): Mark => {
    return { at: time, tone: 'busy', result: 'due', title: `${clockText(time)}: ${description}`, isDue: true };
  });
  const done = happened.filter(({ result }) => result === 'done').length;
  // A running job is due once, although its steps are events, too.
  const subjects = new Set(due.map(({ href, description }) => href ?? description)).size;
  const ended = happened.length > done ? happenedText(happened) : '';
  const label = [ended, done > 0 ? `${count(done)} done` : '', subjects > 0 ? `${count(subjects)} due` : ''];
  return { name: laneName(name), label: label.filter(Boolean).join(', '), marks: [...past, ...next] };
}

const LANE_PAGES = new Map([
  ['Jobs', '/jobs'],
  ['Schedules', '/resources?kind=schedules'],
  ['Uploads', '/requests?q=path:/uploads'],
]);

const laneName = (name: string): Html => html`<a href="${LANE_PAGES.get(name) ?? '/deliveries'}">${foreign(name)}</a>`;
