import type { Paging } from '../../spec/contract.ts';
import type { Query } from '../../spec/operations.ts';
import { valueAt } from '../../util/json.ts';

/**
 * Start of a page: the page number, the number of rows before the page, or a cursor. With cursors, `undefined` means
 * the first page.
 */
export type PageStart = string | number | undefined;

/** The query of a page, before its conversion to the paging style of the service. */
export type PageQuery = Query & { readonly page: number; readonly per_page: number };

/** Returns the maximum number of rows per page. `cap` is the documented maximum. */
export const largestPage = (cap: number, { maxSize = cap }: Paging): number => Math.min(cap, maxSize);

/**
 * Returns the start of a page from its number, if each page has `rows` rows. With cursors, only the start of the first
 * page is known.
 */
export function startOf(page: number, rows: number, { style }: Paging): PageStart {
  if (style === 'page') return page;
  return style === 'offset' ? (page - 1) * rows : undefined;
}

/** Returns the start of the next page. With cursors, `undefined` after the last page. */
export function nextStart(
  start: PageStart,
  rows: number,
  { style, param, next }: Paging,
  envelope: unknown,
): PageStart {
  if (style !== 'cursor') return Number(start) + (style === 'page' ? 1 : rows);
  const value = valueAt(envelope, String(next).split('.'));
  if (typeof value === 'number') return value;
  // Some services return the URL of the next page.
  return typeof value === 'string'
    ? (new URLSearchParams(value.split('?')[1]).get(param) ?? value) || undefined
    : undefined;
}

/** Returns the start of the page that is `pages` pages, of `rows` rows each, before another page. */
export const startBefore = (start: PageStart, pages: number, rows: number, { style }: Paging): number =>
  Math.max(0, Number(start) - (style === 'page' ? pages : pages * rows));

/** Returns the query to send for a page. Without a cursor, sends the caller's cursor. */
export function queryOf({ page, per_page, ...rest }: PageQuery, start: PageStart, { param, size }: Paging): Query {
  return { ...rest, ...(start !== undefined && { [param]: start }), ...(size !== undefined && { [size]: per_page }) };
}
