import type { Envelope } from '../../spec/wire-values.ts';
import { valueAt } from '../../util/json.ts';
import type { DeleteCount } from '../http/delete-counts.ts';

/** Places where services commonly state the number of rows of a list; none is documented. */
const TOTAL_PATHS = [['total'], ['meta', 'total'], ['pagination', 'total'], ['meta', 'pagination', 'total']] as const;

/** State of a list at the time of one of its pages. */
export interface PageMoment {
  /** Deletes of this client when the page was requested. */
  readonly requested: Readonly<DeleteCount>;
  /** Number of deletes that this client had sent when the page was received. */
  readonly sent: number;
  /** Number of rows of the list, if the envelope states it. */
  readonly total: number | undefined;
}

/** Returns the number of rows of a list that an envelope states. */
export function totalOf(envelope: Envelope): number | undefined {
  return TOTAL_PATHS.map((path) => valueAt(envelope, path)).find((total) => typeof total === 'number');
}

/** A page as {@link walkPages} reads it. */
export interface MovingPage<T> {
  readonly items: readonly T[];
  readonly at: PageMoment;
  readonly deletes: Readonly<DeleteCount>;
  readonly isLast: boolean;
  /** Rows of a full page. */
  readonly size: number;
  /** Number of pages of the iteration before this one. */
  readonly before: number;
  /** Fetches the page `back` pages before the next one: 1 is this page again. Rows whose keys are in `seen` are dropped. */
  fetch(seen: Set<unknown>, back: number): Promise<MovingPage<T>>;
}

/**
 * Iterates over the rows of all pages. If rows have left the list, the rows behind them have moved up. The walk then
 * reads their page again instead of the next page.
 */
export async function* walkPages<T>(first: MovingPage<T>): AsyncGenerator<T, void> {
  const seen = new Set<unknown>();
  let page = first;
  /** Rows that may have moved to earlier pages while this one was requested. */
  let missed = 0;
  for (;;) {
    yield* page.items;
    let latest = page;
    // Read backwards, because rows move up while others delete rows; then forwards, because rows move down while new
    // rows arrive.
    let last = 0;
    for (let back = 1; back >= 0 && missed > 0; back += last === 0 ? 1 : -1) {
      latest = await page.fetch(seen, back + 1);
      yield* latest.items;
      const moved = Math.max(page.deletes.sent - page.at.sent, shrinkage(page, latest));
      if (last === 0 && (back * page.size >= missed + moved || back >= page.before)) last = back;
    }
    if (page.isLast) return;
    const gone = Math.max(page.deletes.sent - page.at.requested.ended, shrinkage(page, latest));
    const back = Math.min(page.before + 1, pagesOf(gone, page));
    const next = await page.fetch(seen, back);
    const goneMeanwhile = Math.max(next.at.sent - next.at.requested.sent, shrinkage(page, next) - gone);
    missed = next.before > 0 ? goneMeanwhile - (back * page.size - gone) : 0;
    page = next;
  }
}

/** Returns the number of pages that have `rows` rows; 0 for lists that deletes do not move. */
const pagesOf = (rows: number, { size }: { readonly size: number }): number =>
  rows > 0 && size > 0 ? Math.ceil(rows / size) : 0;

const shrinkage = (earlier: MovingPage<unknown>, later: MovingPage<unknown>): number =>
  Math.max(0, (earlier.at.total ?? 0) - (later.at.total ?? earlier.at.total ?? 0));
