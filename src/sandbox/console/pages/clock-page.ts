import { html } from 'hono/html';
import type { ClockMode } from '../../clock.ts';
import type { ConsoleContext } from '../console-context.ts';
import { type DueTask, dueTasks } from '../due-tasks.ts';
import { actionForm, advanceBy, advances, secondsInput } from '../forms.ts';
import { type Advance, type HappenedAt, happenedText } from '../history.ts';
import { badge, type Content, emptyState, foreign, type Html, head, live, timeElement } from '../html.ts';
import { clockElement, modeText, type Page, speedOf } from '../layout.ts';
import { listView, search, table } from '../lists.ts';
import { isShown } from '../shown-accounts.ts';
import { capital, count, counted, dateText, durationText, relativeText } from '../words.ts';

/** The clock, and what is due. */
export function clockPage(console: ConsoleContext, query: URLSearchParams): Page {
  const { service, history } = console;
  const { clock } = service;
  const now = clock.now();
  const isOwn = isShown(console, query);
  const all = [...dueTasks(service)];
  const tasks = all.filter(({ owner }) => isOwn(owner));
  const own = (advance: Advance): Advance => ({
    ...advance,
    events: advance.events.filter(({ owner }) => isOwn(owner)),
  });
  const since = own(history.sinceLatest);
  const report = [
    since.events.length > 0 ? happenedSince(since) : '',
    history.latest ? afterAdvance(own(history.latest)) : '',
  ];
  return {
    title: 'Clock',
    content: html`${head('Clock', live('speed', speedButtons(clock.mode)))}
<div class="head"><div class="clock">${live('clock', clockElement(now, clock.mode))}</div>
<div class="acts">${live('next', toNext(all[0], now))}${advances()}${advanceForm()}</div></div>
<div class="hint">${live('date', `${dateText(now)}, UTC, ${modeText(clock.mode)}. Jobs, tokens, limits, keys, uploads and deliveries follow this clock; your client and your receiver do not.`)}</div>
${live('happened', report)}
<h2>Due</h2>${dueList(tasks, now, query)}`,
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

const advanceForm = (): Html =>
  actionForm('POST /api/clock/advance', 'Advance', {
    layout: 'row',
    fields: secondsInput('Seconds', 'ms', { required: true }),
  });

function dueList(tasks: readonly DueTask[], now: number, query: URLSearchParams): readonly Html[] {
  return listView({
    path: '/clock',
    query,
    id: 'due',
    things: 'events',
    placeholder: 'Kind, id, event or status',
    matching: grouped(search(tasks, query, ({ description }) => description)),
    total: tasks.length,
    keyOf: ({ time, order }) => `${time}_${order}`,
    isAfter,
    links: ['Sooner', 'Later', 'Last'],
    caption: 'Due, the next one first',
    columns: [
      ['At', 'w4', ({ time }) => timeElement(time, now)],
      ['In', 'w3', ({ time }) => html`<span class="soft">in ${durationText(time - now)}</span>`],
      ['Event', '', ({ title, subjects }) => html`${title} <small>${subjects}</small>`, 'main wrap'],
      ['Actions', 'w4', (group) => advanceTo(group, now), 'right'],
    ],
    empty: emptyState(
      'Nothing is due',
      'No job runs and no delivery waits. An advance still ages tokens, rate buckets and uploads.',
    ),
  });
}

function isAfter({ time, order }: DueTask, cursor: string): boolean {
  const [other = 0, rank = 0] = cursor.split('_').map(Number);
  return time > other || (time === other && order > rank);
}

const advanceTo = ({ time, description }: DueGroup, now: number): Html =>
  advanceBy(time - now, 'Advance to here', 'small', `Advance to here: ${description}`);

/** Tasks of the same name that are due in the same second: the first one, what they do, and what they are about. */
interface DueGroup extends DueTask {
  readonly title: Content;
  readonly subjects: Content;
}

const MAX_SUBJECTS = 12;

const link = ({ href }: DueTask, text: string): Html =>
  href === undefined ? foreign(text) : html`<a href="${href}">${foreign(text)}</a>`;

function grouped(tasks: readonly DueTask[]): readonly DueGroup[] {
  const groups = Map.groupBy(tasks, ({ time, event }) => `${Math.floor(time / 1_000)} ${event}`);
  return [...groups.values()].flatMap(([first, ...more]): DueGroup[] => {
    if (!first) return [];
    if (more.length === 0) return [{ ...first, title: link(first, first.description), subjects: '' }];
    const all = [first, ...more];
    const shown = all.slice(0, MAX_SUBJECTS).map((task, index) => [index > 0 ? ', ' : '', link(task, task.subject)]);
    const rest = all.length - MAX_SUBJECTS;
    const subjects = rest > 0 ? [shown, ` and ${count(rest)} more`] : shown;
    return [{ ...first, title: foreign(`${count(all.length)} ${first.event}`), subjects }];
  });
}

/** Most minutes that have a row; the ones after them have one together. */
const MAX_ROWS = 50;

/** Things of one kind that happened in the same minute, the first one first. */
type Group = readonly [first: HappenedAt, ...more: HappenedAt[]];

function afterAdvance(advance: Advance): Html {
  const { from, to } = advance;
  const text = `await sandbox.advance(${Math.round(to - from)});`;
  return html`<section class="card" aria-labelledby="happened-title"><div class="head"><h2 id="happened-title">What happened</h2>
<span class="soft">from ${timeElement(from, from)} to ${timeElement(to, from)} (+${durationText(to - from)})</span>
<div class="acts"><button class="small" data-text="${text}">Copy ${text}</button></div></div>${whatHappened(advance)}</section>`;
}

const happenedSince = (since: Advance): Html =>
  html`<section class="card" aria-labelledby="since-title"><h2 id="since-title">What happened since ${timeElement(since.from, since.to)}</h2>
${whatHappened(since)}</section>`;

function whatHappened(advance: Advance): Html {
  const { from, events } = advance;
  const byMinute = groupsOf(events, ({ at, what }) => `${Math.floor(at / 60_000)} ${what}`);
  // One row more would be one minute: it has the same place.
  const shown = byMinute.length > MAX_ROWS + 1 ? byMinute.slice(0, MAX_ROWS) : byMinute;
  const rest = groupsOf(byMinute.slice(shown.length).flat(), ({ what }) => what);
  const groups = [...shown, ...rest];
  return html`<p>${capital(happenedText(advance))}.</p>${table('What happened, the first one first', groups, '', [
    ['At', 'w5', (group) => timesOf(group, from)],
    ['What', '', (group) => html`${titleOf(group)} <small>${subjectsOf(group)}</small>`, 'main wrap'],
    ['Result', 'w5', resultsOf, 'state'],
  ])}`;
}

const groupsOf = (events: readonly HappenedAt[], keyOf: (event: HappenedAt) => string): Group[] =>
  [...Map.groupBy(events, keyOf).values()].flatMap(([first, ...more]): Group[] => (first ? [[first, ...more]] : []));

/** Returns the first and the last second of a group. */
function timesOf(group: Group, from: number): Content {
  const [{ at: first }] = group;
  const last = group.at(-1)?.at ?? first;
  const isOne = Math.floor(first / 1_000) === Math.floor(last / 1_000);
  return [timeElement(first, from), isOne ? '' : html`–${timeElement(last, first)}`];
}

function titleOf({ length, 0: { what } }: Group): Html {
  if (what === 'disabled') return html`<b>Switched off</b>`;
  if (what === 'jobs') return html`<a href="/jobs">${counted(length, 'job')} ended</a>`;
  return html`<a href="/deliveries">${counted(length, 'delivery', 'deliveries')} attempted</a>`;
}

const tally = <T>(values: readonly T[]): (readonly [T, number])[] =>
  [...Map.groupBy(values, (value) => value)].map(([value, same]) => [value, same.length] as const);

const subjectsOf = (group: Group): Content => {
  const subjects = tally(group.map(({ subject }) => subject));
  const shown = subjects.slice(0, MAX_SUBJECTS).map(([subject, number], index) => {
    const [kind, id] = subject.split(' ');
    const job = html`<a href="/resources/${id}">${kind} ${id}</a>`;
    const times = group[0].what === 'deliveries' ? ` × ${count(number)}` : '';
    return [index === 0 ? '' : ', ', group[0].what === 'jobs' ? job : foreign(subject), times];
  });
  const rest = subjects.length - MAX_SUBJECTS;
  return [shown, rest > 0 ? ` and ${count(rest)} more` : ''];
};

const RESULTS = {
  completed: ['ok', 'completed'],
  succeeded: ['ok', 'succeeded'],
  needsInfo: ['warn', 'need information'],
  failed: ['bad', 'failed'],
  exhausted: ['bad', 'exhausted'],
  disabled: ['bad', 'after 20 exhausted in a row'],
} as const;

const resultsOf = (group: Group): Content =>
  tally(group.map(({ result }) => result)).map(([result, number]) => {
    const [tone, text] = RESULTS[result];
    return html`${badge(tone, result === 'disabled' ? text : `${count(number)} ${text}`)} `;
  });
