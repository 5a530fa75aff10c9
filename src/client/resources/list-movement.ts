import type { Envelope } from '../../spec/wire-values.ts';
import { valueAt } from '../../util/json.ts';
import type { DeleteCount } from '../http/client-state.ts';

/**
 * Envelope paths at which services commonly return the number of rows of a list. The specification shows no such field.
 */
const TOTAL_PATHS = [['total'], ['meta', 'total'], ['pagination', 'total'], ['meta', 'pagination', 'total']] as const;

/** State of a list at the time of a page. */
export interface PageMoment {
  /** Delete requests of this client when it requested the page. */
  readonly requested: Readonly<DeleteCount>;
  /** Number of delete requests that this client had sent when it received the page. */
  readonly sent: number;
  /** Number of rows of the list, if the envelope contains it. */
  readonly total: number | undefined;
}

/** Returns the number of rows of a list according to the envelope. */
export function totalOf(envelope: Envelope): number | undefined {
  return TOTAL_PATHS.map((path) => valueAt(envelope, path)).find((total) => typeof total === 'number');
}

/** A page for {@link walkPages}. */
export interface MovingPage<T> {
  /** Rows that no earlier page has shown. */
  readonly items: readonly T[];
  /** Keys of all rows. */
  readonly keys: readonly unknown[];
  readonly at: PageMoment;
  readonly deletes: Readonly<DeleteCount>;
  readonly isLast: boolean;
  /** Number of rows of a full page. */
  readonly size: number;
  /** Number of pages before this page in the iteration. */
  readonly before: number;
  /**
   * Fetches the page that is `back` pages before the next page; 1 means this page. Drops rows whose keys are in `seen`.
   */
  fetch(seen: Set<unknown>, back: number): Promise<MovingPage<T>>;
}

/**
 * Number of gaps without progress after which the iteration continues. A total that does not count rows might shrink at
 * every read.
 */
const MAX_GAPS = 5;

/**
 * Iterates over the rows of all pages. If rows were deleted, later rows have moved to earlier pages, and the iteration
 * may have missed some of them. It then goes back to the page of the first possibly missed row, and afterwards
 * continues after the rows that it has already read.
 */
export async function* walkPages<T>(first: MovingPage<T>): AsyncGenerator<T, void> {
  const seen = new Set<unknown>();
  let page = first;
  /** The last page, from which `fetch` counts. */
  let furthest = first;
  /** Number of rows, from the start of the list, among which no row is missing. */
  let complete = 0;
  /** The page after the gap: the keys of its rows, and the minimum number of rows before its end. */
  let beyond = { keys: new Set<unknown>(), end: 0 };
  let gaps = 0;
  for (;;) {
    yield* page.items;
    const { size, before } = page;
    if (before * size <= complete || gaps === MAX_GAPS) {
      if (page.isLast) return;
      const meetsBeyond = page.keys.some((key) => beyond.keys.has(key));
      complete = Math.max(complete, (before + 1) * size, meetsBeyond ? beyond.end : 0);
      if (before >= furthest.before) gaps = 0;
    } else {
      beyond = { keys: new Set(page.keys), end: (before + 1) * size };
      gaps++;
    }
    if (before >= furthest.before) furthest = page;
    const deleted = page.deletes.sent - page.at.requested.ended;
    const next = size > 0 ? Math.max(0, Math.floor((complete - deleted) / size)) : before + 1;
    const read = await furthest.fetch(seen, furthest.before + 1 - next);
    const gone = Math.max(read.at.sent - page.at.requested.ended, shrinkage(page, read));
    complete -= gone;
    beyond.end -= gone;
    page = read;
  }
}

const shrinkage = (earlier: MovingPage<unknown>, later: MovingPage<unknown>): number =>
  Math.max(0, (earlier.at.total ?? 0) - (later.at.total ?? earlier.at.total ?? 0));
