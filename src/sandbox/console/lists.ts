import { html } from 'hono/html';
import { type Choices, selection } from './forms.ts';
import { type Content, count, dateText, emptyState, type Html, linkButton } from './html.ts';

/** Labels of columns that need none to be understood, except by screen readers. */
const UNSEEN: readonly string[] = ['Actions', 'Choose', 'Assumed'];

/** Rows of a page of a list. */
const PAGE_SIZE = 50;

/** A column: its label, and classes that set its width, and hide it where there is little space. */
type Column = readonly [label: string, style?: string];

const classOf = (style: string): Html | '' => (style === '' ? '' : html` class="${style.trim()}"`);

/** Returns a cell. Where a row is a block, on phones, classes set its place (`main`, `side2`, `note2`, `gone`), and a label says what it is. */
export const cell = (content: Content, style = '', label = ''): Html =>
  html`<td role="cell"${classOf(style)}${label === '' ? '' : html` data-label="${label}"`}>${content}</td>`;

/** Returns a cell of two lines: what it is, and details or a reason; `cut` shortens these. */
export const twoLines = (first: Content, second: Content, style = ''): Html =>
  cell(
    html`<div class="l1">${first}</div>${second === '' ? '' : html`<div class="l2 soft${style.includes('cut') ? ' cut' : ''}">${second}</div>`}`,
    `two ${style.replace('cut', '')}`,
  );

/** Returns a row of cells. */
export const row = (cells: readonly Html[], style = ''): Html => html`<tr role="row"${classOf(style)}>${cells}</tr>`;

/** Returns a table, or what to do if it is empty. Each row is one of cells; roles, because on phones rows are blocks. */
export function table(caption: string, columns: readonly Column[], rows: readonly Html[], empty: Content): Html {
  if (rows.length === 0) return html`${empty}`;
  return html`<table role="table"><caption class="sr">${caption}</caption>
<colgroup>${columns.map(([, style = '']) => html`<col${classOf(style)}>`)}</colgroup>
<thead role="rowgroup"><tr role="row">${columns.map(headCell)}</tr></thead>
<tbody role="rowgroup">${rows.map((one) => html`${one}\n`)}</tbody></table>`;
}

function headCell([label, style = '']: Column): Html {
  const text = UNSEEN.includes(label) ? html`<span class="sr">${label}</span>` : label;
  return html`<th role="columnheader" scope="col"${classOf(style.includes('lo') ? 'lo' : '')}>${text}</th>`;
}

/** Puts a row with the date in front of the rows of another day. */
export function withDays<T>(
  entries: readonly T[],
  timeOf: (entry: T) => number,
  now: number,
  rowOf: (entry: T) => Html,
  columns: number,
): Html[] {
  const dayOf = (time: number): number => Math.floor(time / 86_400_000);
  let day = dayOf(now);
  return entries.flatMap((entry) => {
    const own = dayOf(timeOf(entry));
    const isOther = own !== day;
    day = own;
    const head = html`<tr role="row" class="day"><td role="cell" colspan="${columns}">${dateText(timeOf(entry))}</td></tr>`;
    return isOther ? [head, rowOf(entry)] : [rowOf(entry)];
  });
}

/** A page of a list that is sorted by a number, and the numbers that the pages around it begin at. */
export interface ListPage<T> {
  readonly rows: readonly T[];
  /** Position of the first row, from 1. */
  readonly first: number;
  readonly total: number;
  readonly newer: string | undefined;
  readonly older: string | undefined;
  readonly oldest: string | undefined;
}

/** Returns the page that a cursor in an address names: the rows after a key, in the order of the list. */
export function pageOf<T>(
  list: readonly T[],
  query: URLSearchParams,
  isAfter: (entry: T, cursor: string) => boolean,
  keyOf: (entry: T) => string,
): ListPage<T> {
  const cursor = query.get('before');
  const next = cursor === null ? 0 : list.findIndex((entry) => isAfter(entry, cursor));
  const start = next < 0 ? list.length : next;
  const keyBefore = (index: number): string | undefined => {
    const entry = list[index - 1];
    return index > 0 && entry !== undefined ? keyOf(entry) : undefined;
  };
  const hasMore = start + PAGE_SIZE < list.length;
  return {
    rows: list.slice(start, start + PAGE_SIZE),
    first: start + 1,
    total: list.length,
    newer: start === 0 ? undefined : (keyBefore(start - PAGE_SIZE) ?? ''),
    older: hasMore ? keyBefore(start + PAGE_SIZE) : undefined,
    oldest: hasMore ? keyBefore(list.length - (list.length % PAGE_SIZE || PAGE_SIZE)) : undefined,
  };
}

/** Returns an address with other parameters; an empty one is left out. */
export function addressOf(path: string, query: URLSearchParams, changes: Readonly<Record<string, string>>): string {
  const params = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === '') params.delete(name);
    else params.set(name, value);
  }
  return params.size > 0 ? `${path}?${params.toString()}` : path;
}

/** Returns the links to the pages around. */
export function pager<T>(
  path: string,
  query: URLSearchParams,
  page: ListPage<T>,
  names: readonly [newer: string, older: string, oldest: string] = ['Newer', 'Older', 'Oldest'],
): Html {
  const { rows, first, total } = page;
  if (total === 0) return html``;
  const link = (cursor: string | undefined, text: string): Html | '' =>
    cursor === undefined ? '' : linkButton(addressOf(path, query, { before: cursor }), text, 'small');
  const last = first + rows.length - 1;
  const links = [link(page.newer, names[0]), link(page.older, names[1]), link(page.oldest, names[2])];
  const position = html`<span class="num">${count(first)}–${count(last)} of ${count(total)}</span>`;
  return html`<nav class="pager" aria-label="Pages">${position}<span class="acts">${links}</span></nav>`;
}

/** A choice of a filter: its value, its text, and how many rows it has. */
export type Segment = readonly [value: string, text: string, count?: number];

/** Returns links of which the current one is marked. */
export function segments(
  label: string,
  path: string,
  query: URLSearchParams,
  name: string,
  choices: readonly Segment[],
): Html {
  const current = query.get(name) ?? '';
  const links = choices.map(([value, text, number]) => {
    const address = addressOf(path, query, { [name]: value, before: '' });
    const size = number === undefined ? '' : html` <span class="num">${count(number)}</span>`;
    return html`<a href="${address}"${value === current ? html` aria-current="true"` : ''}>${text}${size}</a>`;
  });
  return html`<nav class="seg" aria-label="${label}">${links}</nav>`;
}

/** Returns the filter of a list; it applies while somebody types, and is kept in the address. */
export function filterForm(
  path: string,
  query: URLSearchParams,
  {
    label,
    placeholder,
    kept = [],
    selections = [],
  }: {
    label: string;
    placeholder: string;
    /** Parameters that other parts of the page set. */
    kept?: readonly string[];
    selections?: readonly (readonly [label: string, name: string, choices: Choices])[];
  },
): Html {
  const hidden = kept.filter((name) => query.has(name));
  return html`<form class="filter" role="search" aria-label="${label}" method="get" action="${path}">
${hidden.map((name) => html`<input type="hidden" name="${name}" value="${query.get(name) ?? ''}">`)}
<input type="search" name="q" value="${query.get('q') ?? ''}" aria-label="Filter by text" placeholder="${placeholder}">
${selections.map(([text, name, choices]) => selection(name, choices, query.get(name) ?? '', text))}<noscript><button>Filter</button></noscript></form>`;
}

/** Returns that nothing matches a filter, and a link that clears it. */
export const noMatch = (path: string, things: string, total: number): Html =>
  emptyState(
    `No ${things} match`,
    `There are ${count(total)}, but none with this filter.`,
    html`<p class="acts">${linkButton(path, 'Clear the filter', 'small')}</p>`,
  );

/** Returns the words of a search in small letters, all of which must occur. */
export const wordsOf = (query: URLSearchParams): readonly string[] =>
  (query.get('q') ?? '').toLowerCase().split(/\s+/).filter(Boolean);

/** Returns whether a string contains all words, whatever their case. */
export function hasWords(words: readonly string[], text: string): boolean {
  if (words.length === 0) return true;
  const lower = text.toLowerCase();
  return words.every((word) => lower.includes(word));
}
