import { html } from 'hono/html';
import { type Advance, type HappenedAt, happenedText } from '../history.ts';
import { badge, type Content, foreign, type Html, timeElement } from '../html.ts';
import { table, twoLines } from '../lists.ts';
import { capital, count, counted, durationText } from '../words.ts';

const MAX_ROWS = 20;

/** Things of one kind that happened in the same minute, the first one first. */
type Group = readonly [first: HappenedAt, ...more: HappenedAt[]];

/** Returns what happened during the latest advance of the clock. */
export function whatHappened(advance: Advance): Html {
  const { from, to, events } = advance;
  const byMinute = Map.groupBy(events, ({ at, what }) => `${Math.floor(at / 60_000)} ${what}`);
  const groups = [...byMinute.values()].flatMap(([first, ...more]): Group[] => (first ? [[first, ...more]] : []));
  const text = `await sandbox.advance(${Math.round(to - from)});`;
  return html`<section class="card" aria-labelledby="happened-title"><div class="head"><h2 id="happened-title">What happened</h2>
<span class="soft">from ${timeElement(from, from)} to ${timeElement(to, from)} (+${durationText(to - from)})</span>
<div class="acts"><button class="small" data-text="${text}">Copy ${text}</button></div></div>
<p>${capital(happenedText(advance))}.</p>${table({
    caption: 'What happened, the first one first',
    columns: [
      ['At', 'w12', ([{ at }]) => timeElement(at, from)],
      ['What', '', (group) => twoLines(titleOf(group), subjectsOf(group)), 'two main cut'],
      ['Result', 'w14', resultsOf, 'side2'],
    ],
    entries: groups.slice(0, MAX_ROWS),
  })}</section>`;
}

function titleOf({ length, 0: { what } }: Group): Html {
  if (what === 'disabled') return html`<b>Switched off</b>`;
  if (what === 'jobs') return html`<a class="row" href="/resources">${counted(length, 'job')} ended</a>`;
  return html`<a class="row" href="/deliveries">${counted(length, 'delivery', 'deliveries')} attempted</a>`;
}

/** Returns values with how often each occurs. */
const tally = <T>(values: readonly T[]): (readonly [T, number])[] =>
  [...Map.groupBy(values, (value) => value)].map(([value, same]) => [value, same.length] as const);

const subjectsOf = (group: Group): Content =>
  tally(group.map(({ subject }) => subject)).map(([subject, number], index) => {
    const times = group[0].what === 'disabled' ? '' : ` × ${count(number)}`;
    return [index === 0 ? '' : ', ', foreign(subject), times];
  });

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
