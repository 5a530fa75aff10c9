import { html } from 'hono/html';
import { type Advance, type HappenedAt, happenedText } from '../history.ts';
import {
  badge,
  type Content,
  capital,
  count,
  durationText,
  foreign,
  type Html,
  type Tone,
  timeElement,
} from '../html.ts';
import { cell, row, table, twoLines } from '../lists.ts';

const MAX_ROWS = 20;

/** Returns what happened during the latest advance of the clock: what is of one kind and one minute in one line. */
export function whatHappened(advance: Advance): Html {
  const { from, to, events } = advance;
  const groups = [...Map.groupBy(events, ({ at, what }) => `${Math.floor(at / 60_000)} ${what}`).values()];
  const text = `await sandbox.advance(${to - from});`;
  return html`<section class="card" aria-labelledby="happened-title"><div class="head"><h2 id="happened-title">What happened</h2>
<span class="soft">from ${timeElement(from, from)} to ${timeElement(to, from)} (+${durationText(to - from)})</span>
<div class="acts"><button class="small" data-text="${text}">Copy ${text}</button></div></div>
<p>${capital(happenedText(advance))}.</p>${table(
    'What happened, the first one first',
    [['At', 'w12'], ['What'], ['Result', 'w14']],
    groups.slice(0, MAX_ROWS).map((group) => rowOf(group, from)),
    '',
  )}</section>`;
}

const TITLES: Readonly<Record<HappenedAt['what'], (number: number) => Content>> = {
  jobs: (number) => html`<a class="row" href="/resources">${count(number)} ${number === 1 ? 'job' : 'jobs'} ended</a>`,
  deliveries: (number) =>
    html`<a class="row" href="/deliveries">${count(number)} ${number === 1 ? 'delivery' : 'deliveries'} attempted</a>`,
  disabled: () => html`<b>Switched off</b>`,
};

const RESULTS: Readonly<Record<HappenedAt['result'], readonly [tone: Tone, text: string]>> = {
  completed: ['ok', 'completed'],
  succeeded: ['ok', 'succeeded'],
  needsInfo: ['warn', 'need information'],
  failed: ['bad', 'failed'],
  exhausted: ['bad', 'exhausted'],
  disabled: ['bad', 'after 20 exhausted in a row'],
};

/** Returns values with how often each occurs. */
const tally = <T>(values: readonly T[]): (readonly [T, number])[] =>
  [...Map.groupBy(values, (value) => value)].map(([value, same]) => [value, same.length] as const);

function rowOf(group: readonly HappenedAt[], from: number): Html {
  const [first] = group;
  if (!first) return html``;
  const subjects = tally(group.map(({ subject }) => subject));
  const isCounted = first.what !== 'disabled';
  return row([
    cell(timeElement(first.at, from)),
    twoLines(
      TITLES[first.what](group.length),
      subjects.map(([subject, number], index) => [
        index === 0 ? '' : ', ',
        foreign(subject),
        isCounted ? ` × ${count(number)}` : '',
      ]),
      'main cut',
    ),
    cell(
      tally(group.map(({ result }) => result)).map(([result, number]) => {
        const [tone, text] = RESULTS[result];
        return html`${badge(tone, isCounted ? `${count(number)} ${text}` : text)} `;
      }),
      'side2',
    ),
  ]);
}
