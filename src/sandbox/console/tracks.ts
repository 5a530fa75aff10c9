import { html } from 'hono/html';
import type { SlidingWindow } from '../sliding-window.ts';
import type { Content, Html } from './html.ts';
import { segments } from './lists.ts';
import { clockText, count, dateText, durationText, momentText, tally } from './words.ts';

type TrackTone = 'good' | 'warn' | 'bad' | 'busy';

export interface Mark {
  readonly at: number;
  readonly tone: TrackTone;
  /** Word for the result, which merged marks count. */
  readonly result: string;
  readonly title: string;
  readonly isDue?: boolean;
}

export interface Span {
  readonly from: number;
  readonly to: number;
  readonly tone: TrackTone;
  readonly title: string;
  readonly isPlanned?: boolean;
}

export interface Lane {
  readonly name: Content;
  readonly label: string;
  readonly marks?: readonly Mark[];
  readonly spans?: readonly Span[];
}

export interface TimeRange {
  readonly from: number;
  readonly to: number;
  readonly now: number;
}

export function rangeOf(lanes: readonly Lane[], now: number): TimeRange {
  const times = lanes.flatMap(({ marks = [], spans = [] }) => [
    ...marks.map(({ at }) => at),
    ...spans.flatMap(({ from, to }) => [from, to]),
  ]);
  // Do not spread the times as arguments: there may be thousands.
  return { from: times.reduce((a, b) => Math.min(a, b), now), to: times.reduce((a, b) => Math.max(a, b), now), now };
}

/** A period that the reader can choose: its value in the address, its name, and its limits. */
export type RangeChoice = readonly [value: string, text: string, range: TimeRange];

export function chartCard(
  title: string,
  lanes: readonly Lane[],
  ranges: readonly [RangeChoice, ...RangeChoice[]],
  path: string,
  query: URLSearchParams,
): Html {
  const [, , range] = ranges.find(([value]) => value === (query.get('span') ?? '')) ?? ranges[0];
  const choices = ranges.map(([value, text, { from, to }]) => [value, text, durationText(to - from)] as const);
  return html`<section class="card" aria-labelledby="chart-title"><div class="head"><h2 id="chart-title">${title}</h2>
${segments('Span', path, query, 'span', choices)}</div>${chart(lanes, range)}</section>`;
}

const MARGIN = 0.04;

/** Returns lanes below one another on one axis of time, each with its text beside it. Positions are percentages: text keeps its size at any width. */
export function chart(lanes: readonly Lane[], range: TimeRange): Html {
  const { from, now } = range;
  const length = Math.max(1_000, range.to - from);
  const x = (time: number): number => (MARGIN + ((time - from) / length) * (1 - 2 * MARGIN)) * 100;
  const ticks = ticksOf(from, from + length).map(([time, text]) => [x(time), text] as const);
  const grid = html`${ticks.map(([at]) => line('grid', at))}${isInside(x(now)) ? line('now', x(now)) : ''}`;
  const rows = lanes.map(({ name, label, marks = [], spans = [] }) => {
    const content = [
      spans.map((span) => spanElement(span, x)),
      clustersOf(marks, x).map((cluster) => clusterElement(cluster, x)),
    ];
    const isOutside = content.flat().every((element) => element === '');
    const text = isOutside ? `${label}, outside of this span` : label;
    return html`<div class="name">${name}</div><svg class="track" height="28" role="img" aria-label="${text}">${grid}${content}</svg><div class="soft" aria-hidden="true">${text}</div>`;
  });
  const axis = ticks.map(
    ([at, text], index) =>
      html`<text class="${index % 2 ? 'far' : ''}" x="${percent(at)}" y="15" text-anchor="middle">${text}</text>`,
  );
  const present = html`<text class="now" x="${percent(x(now))}" y="12" text-anchor="middle">now</text>`;
  return html`<div class="chart"><div class="lanes"><svg class="track" height="24" aria-hidden="true">${isInside(x(now)) ? present : ''}</svg>${rows}<svg class="track" height="20" aria-hidden="true">${axis}</svg></div></div>`;
}

/** Returns a chart of a rolling window before and after now, assuming no further requests. */
export function windowTrack(label: string, window: SlidingWindow, now: number): Html {
  const used = window.count(now);
  const { limit, interval, times } = window.saved;
  const length = durationText(interval);
  const x = (time: number): string => (((time - now) / interval + 1) * 500).toFixed(1);
  const y = (number: number): string => Math.max(0, 100 * (1 - number / Math.max(1, limit))).toFixed(1);
  const filled = `M0 100${times.map((time, index) => `H${x(time)}V${y(index + 1)}`).join('')}H500`;
  const emptied = times.map((time, index) => `H${x(time + interval)}V${y(used - index - 1)}`).join('');
  return html`<div class="rate"><svg class="track ${used >= limit ? 'warn' : 'busy'}" height="28" role="img" aria-label="${label}: ${count(used)} of ${count(limit)}"><title>The chart shows ${length} before and after now. The line at the top is the limit, ${count(limit)}.</title>
<line class="later" x2="100%" y1="2" y2="2"/><svg y="2" width="100%" height="24" viewBox="0 0 1000 100" preserveAspectRatio="none"><path class="area" d="${filled}V100Z"/><path class="edge" d="${filled}"/><path class="edge later" d="M500 ${y(used)}${emptied}H1000"/></svg>${line('now', 50)}</svg><small class="num">±${length}</small></div>`;
}

const percent = (x: number): string => `${x.toFixed(2)}%`;

const isInside = (x: number): boolean => x >= 0 && x <= 100;

const line = (style: string, x: number): Html =>
  html`<line class="${style}" x1="${percent(x)}" x2="${percent(x)}" y1="0" y2="28"/>`;

function spanElement({ from, to, tone, title, isPlanned = false }: Span, x: (time: number) => number): Html | '' {
  const [start, end] = [Math.max(0, x(from)), Math.min(100, x(to))];
  if (start > 100 || end < 0) return '';
  const style = `${tone} ${isPlanned ? 'later' : 'span'}`;
  const width = percent(Math.max(0.3, end - start));
  return html`<rect class="${style}" x="${percent(start)}" y="7" width="${width}" height="14" rx="2"><title>${title}</title></rect>`;
}

/** Minimum distance of two marks, in percent of the width: on a phone, their numbers do not touch. */
const MIN_DISTANCE = 8;

function clustersOf(marks: readonly Mark[], x: (time: number) => number): readonly (readonly Mark[])[] {
  const clusters: Mark[][] = [];
  for (const mark of marks.toSorted((a, b) => a.at - b.at)) {
    const [first] = clusters.at(-1) ?? [];
    const isClose = first && x(mark.at) - x(first.at) < MIN_DISTANCE && first.isDue === mark.isDue;
    if (isClose) clusters.at(-1)?.push(mark);
    else if (isInside(x(mark.at))) clusters.push([mark]);
  }
  return clusters;
}

const RANKS: readonly TrackTone[] = ['good', 'busy', 'warn', 'bad'];

/** Returns one mark for a cluster: its worst mark, with the number of marks and a bar from the first to the last one. */
function clusterElement(marks: readonly Mark[], x: (time: number) => number): Html {
  const [first, last] = [marks[0], marks.at(-1)];
  const [worst] = marks.toSorted((a, b) => RANKS.indexOf(b.tone) - RANKS.indexOf(a.tone));
  if (!first || !last || !worst) return html``;
  const { tone, isDue, title } = worst;
  const at = percent(x(first.at));
  // Numbers on both sides of the present do not touch.
  const [anchor, dx] = isDue ? ['start', 7] : ['end', -4];
  const style = `${tone} ${isDue ? 'open' : 'mark'}`;
  const all = `${count(marks.length)} from ${momentText(first.at)} to ${momentText(last.at)} (${tally(marks.map(({ result }) => result))}), among them: ${title}`;
  const text = html`<title>${marks.length > 1 ? all : title}</title>`;
  const shape =
    tone === 'bad'
      ? html`<rect class="${style}" x="${at}" y="9" width="10" height="10" rx="1" transform="translate(-5)">${text}</rect>`
      : html`<circle class="${style}" cx="${at}" cy="14" r="5">${text}</circle>`;
  if (marks.length === 1) return shape;
  return html`<line class="${tone} bar" x1="${at}" x2="${percent(Math.min(100, x(last.at)))}" y1="14" y2="14">${text}</line>${shape}<text x="${at}" dx="${dx}" y="6" text-anchor="${anchor}">${count(marks.length)}</text>`;
}

const MINUTE = 60_000;
const DAY = 86_400_000;
const STEPS = [
  ...[1_000, 5_000, 15_000, MINUTE, 5 * MINUTE, 15 * MINUTE, 60 * MINUTE, 120 * MINUTE, 360 * MINUTE],
  ...[1, 2, 7, 30, 90, 365, 3_650].map((days) => days * DAY),
];

const MAX_TICKS = 7;

function ticksOf(from: number, to: number): readonly (readonly [time: number, text: string])[] {
  const step = STEPS.find((one) => (to - from) / one < MAX_TICKS) ?? 36_500 * DAY;
  const first = Math.ceil(from / step);
  return Array.from({ length: Math.max(0, Math.floor(to / step) - first + 1) }, (_, index) => {
    const time = (first + index) * step;
    return [time, step < DAY ? clockText(time, step < MINUTE ? 8 : 5) : dateText(time, to)];
  });
}
