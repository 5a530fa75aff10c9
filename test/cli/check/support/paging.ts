import type { Paging } from '../../../../src/spec/contract.ts';
import { type Answer, failure } from './exchange.ts';

/** How a service pages, beyond what a contract says. */
export interface PagingRules {
  /** Rows per page if a request names none. @default 25 */
  readonly size?: number;
  /** Responds with 422 to a larger page, instead of reducing it. */
  readonly refusesLarge?: boolean;
  /** Has pages of the usual size only, whatever is requested. */
  readonly isFixed?: boolean;
  /** Rows that a list has at most. */
  readonly total?: number;
  /** Number of the first page. @default 1 */
  readonly firstPage?: number;
  /** Returns what a page has for the next one. @default the cursor itself */
  nextLink?(cursor: string): unknown;
}

interface Rows {
  readonly rows: readonly unknown[];
  /** For the field of the next cursor. */
  readonly next: unknown;
}

const STANDARD: Paging = { style: 'page', param: 'page', size: 'per_page' };
const STANDARD_CAP = 100;

const invalid = (field: string): Answer =>
  failure(422, 'The given data was invalid.', { errors: { [field]: [`The ${field} is invalid.`] } });

const cursorOf = (start: number): string => Buffer.from(`row:${start}`).toString('base64url');
const startOf = (cursor: string): number =>
  Number(/^row:(\d+)$/.exec(Buffer.from(cursor, 'base64url').toString())?.[1]);

/** Returns the rows of one page, or the refusal of a request for it. */
export function pageOf(
  all: readonly unknown[],
  query: URLSearchParams,
  { style, param, size: sizeParam, maxSize = STANDARD_CAP }: Paging = STANDARD,
  rules: PagingRules = {},
): Rows | Answer {
  const {
    size: usual = 25,
    refusesLarge = false,
    isFixed = false,
    firstPage = 1,
    nextLink = (cursor) => cursor,
  } = rules;
  const rows = all.slice(0, rules.total);
  const requested = sizeParam === undefined ? undefined : query.get(sizeParam);
  const size = requested === null || requested === undefined || isFixed ? Math.min(usual, maxSize) : Number(requested);
  if (!Number.isInteger(size) || size < 1 || (refusesLarge && size > maxSize)) return invalid(sizeParam ?? 'size');
  const rowsPerPage = Math.min(size, maxSize);
  const position = query.get(param);
  const start = startFor(style, position, rowsPerPage, firstPage);
  if (!Number.isInteger(start) || start < 0) return invalid(param);
  const end = start + rowsPerPage;
  return { rows: rows.slice(start, end), next: end < rows.length ? nextLink(cursorOf(end)) : null };
}

function startFor(style: Paging['style'], position: string | null, rowsPerPage: number, firstPage: number): number {
  if (position === null) return 0;
  if (style === 'cursor') return startOf(position);
  return style === 'offset' ? Number(position) : (Number(position) - firstPage) * rowsPerPage;
}
