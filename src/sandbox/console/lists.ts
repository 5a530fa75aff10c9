import { html } from 'hono/html';
import { attributesOf, type Content, emptyState, foreign, type Html, linkButton } from './html.ts';
import { count, counted } from './words.ts';

const PAGE_SIZE = 50;

/**
 * A column: its label, the class of its width, the content of its cells, and their classes. On small screens, a row is
 * a block: `main` and `state` set the place of a cell, and `full` gives it its own line. Other cells show their label,
 * and the whole row is the first link of `main`.
 */
export type Column<T> = readonly [label: string, width: string, content: (entry: T) => Content, style?: string];

/** The roles of the table are explicit, because its rows are blocks on small screens. */
export function table<T>(
  caption: string,
  entries: readonly T[],
  empty: Content,
  columns: readonly Column<T>[],
  more: (entry: T) => Content | undefined = () => undefined,
): Html {
  if (entries.length === 0) return html`${empty}`;
  const rows = entries.map((entry) => {
    const below = more(entry);
    const isOpen = below !== undefined;
    const row = html`<tr role="row"${attributesOf({ class: isOpen && 'on' })}>${columns.map((column) => cell(column, entry))}</tr>\n`;
    if (!isOpen) return row;
    return html`${row}<tr role="row" class="more"><td role="cell" colspan="${columns.length}">${below}</td></tr>`;
  });
  return html`<table role="table"><caption class="sr">${caption}</caption>
<colgroup>${columns.map(([, width]) => html`<col${attributesOf({ class: width })}>`)}</colgroup>
<thead role="rowgroup"><tr role="row">${columns.map(headCell)}</tr></thead><tbody role="rowgroup">${rows}</tbody></table>`;
}

export const accountColumn = <T>(isShown: boolean, emailOf: (entry: T) => string | undefined): Column<T>[] =>
  isShown ? [['Account', 'w4', (entry) => html`<small>${foreign(emailOf(entry) ?? '', ' ')}</small>`]] : [];

const headCell = <T>([label]: Column<T>): Html =>
  html`<th role="columnheader" scope="col">${label === 'Actions' ? html`<span class="sr">${label}</span>` : label}</th>`;

const cell = <T>([label, , content, style]: Column<T>, entry: T): Html =>
  html`<td role="cell"${attributesOf({ class: style, 'data-label': (style ?? 'wrap') === 'wrap' && label })}>${content(entry)}</td>`;

interface List<T> {
  readonly caption: string;
  readonly columns: readonly Column<T>[];
  readonly more?: (entry: T) => Content | undefined;
  /** Content of the page if there are no rows, even without a filter. */
  readonly empty: Content;
  readonly path: string;
  readonly query: URLSearchParams;
  /** Id of the element that the script updates. */
  readonly id: string;
  /** Plural noun for the rows. @default the id */
  readonly things?: string;
  readonly placeholder: string;
  /** The rows that match the filter, in the order of the page. */
  readonly matching: readonly T[];
  /** Number of rows before any filter applies, including the account filter. */
  readonly total: number;
  /** Key of a row. The address of a page contains the key of its first row, so that new rows do not move the page. */
  readonly keyOf: (entry: T) => string | number;
}

/** Returns the filter of a list, and its rows with links to the previous and next page. The address contains both states. */
export function listView<T>(list: List<T>): readonly [filter: Html, rows: Html] {
  const { id, things = id, total, caption, columns } = list;
  const [entries, pager] = pageOf(list);
  const empty = total === 0 ? list.empty : noMatch(list.path, things, total);
  const rows = table(caption, entries, empty, columns, list.more);
  return [filterForm(list, things), html`<section id="${id}" data-live="list">${rows}${pager}</section>`];
}

export const numberOf = (key: string | number): number => Number(String(key).replace(/^\D+/, ''));

function pageOf<T>(list: List<T>): readonly [rows: readonly T[], pager: Html | ''] {
  const { matching, path, query, keyOf } = list;
  const { length } = matching;
  const keys = matching.map((entry) => String(keyOf(entry)));
  const start = Math.max(0, keys.indexOf(query.get('from') ?? ''));
  const rows = matching.slice(start, start + PAGE_SIZE);
  const link = (index: number, text: string): Html =>
    linkButton(addressOf(path, query, { from: index > 0 ? (keys[index] ?? '') : '' }), text, 'small');
  const newer = start > 0 ? link(start - PAGE_SIZE, 'Previous') : '';
  const lastPage = length - (length % PAGE_SIZE || PAGE_SIZE);
  const older = start + PAGE_SIZE < length ? [link(start + PAGE_SIZE, 'Next'), link(lastPage, 'Last')] : '';
  const position = html`<span class="num">${count(start + 1)}–${count(start + rows.length)} of ${counted(length, 'row')}</span>`;
  const pager = html`<nav class="line soft" aria-label="Pages">${position}<span class="acts">${newer}${older}</span></nav>`;
  return [rows, length === 0 ? '' : pager];
}

/** Returns an address with changed parameters. Omits empty parameters except `account`: links without it get the account filter. */
export function addressOf(path: string, query: URLSearchParams, changes: Readonly<Record<string, string>>): string {
  const params = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === '' && name !== 'account') params.delete(name);
    else params.set(name, value);
  }
  return params.size > 0 ? `${path}?${params.toString()}` : path;
}

/** An option of a filter: its value, its text, and its number of rows or the length of its period. */
export type Segment = readonly [value: string, text: string, size: number | string];

export function segments(
  label: string,
  path: string,
  query: URLSearchParams,
  name: string,
  choices: readonly Segment[],
): Html {
  const current = query.get(name) ?? '';
  const links = choices.map(([value, text, size]) => {
    const href = addressOf(path, query, { [name]: value, from: '' });
    const link = attributesOf({ href, 'aria-current': value === current && 'true' });
    return html`<a${link}>${text} <span class="num">${typeof size === 'number' ? count(size) : size}</span></a>`;
  });
  return html`<nav class="seg" aria-label="${label}">${links}</nav>`;
}

/** The script applies the filter, returns to the first page, and keeps the other parameters of the address. */
const filterForm = <T>({ query, placeholder }: List<T>, things: string): Html =>
  html`<form class="filter" role="search" aria-label="Filter of ${things}">
<input type="search" name="q" value="${query.get('q') ?? ''}" aria-label="Filter by text" placeholder="${placeholder}"></form>`;

export const noMatch = (path: string, things: string, total: number): Html =>
  emptyState(
    `No ${things} match`,
    `The filter hides ${counted(total, 'entry', 'entries')}.`,
    linkButton(`${path}?account=`, 'Clear the filter', 'small'),
  );

/** Returns the words and the quoted phrases of a search in lower case. */
export const wordsOf = (query: URLSearchParams): readonly string[] =>
  (query.get('q') ?? '').toLowerCase().match(/(?<=")[^"]+(?="(?:\s|$))|[^\s"]+/g) ?? [];

export function search<T>(entries: readonly T[], query: URLSearchParams, textOf: (entry: T) => string): readonly T[] {
  const words = wordsOf(query);
  if (words.length === 0) return entries;
  return entries.filter((entry) => {
    const text = textOf(entry).toLowerCase();
    return words.every((word) => text.includes(word));
  });
}
