/** The order of the ids within a page. */
type Order = 'ascending' | 'descending' | 'none' | 'unknown';

/** What a page held when it was read. */
interface Sample {
  readonly first: number;
  readonly last: number;
  readonly rows: number;
  readonly order: Order;
  readonly at: number;
}

/** Rows move as others come and go: what was seen so long ago is forgotten. Milliseconds. */
const MEMORY = 120_000;

/**
 * Where in a list a row may be. No order is assumed: as long as the pages read show one, an id is
 * closed in between them, in a few reads of however many pages; otherwise pages are tried in turn.
 */
export class PageMap {
  readonly #samples = new Map<number, Sample>();

  /** A page was read at `at`. */
  note(page: number, ids: readonly number[], at: number): void {
    const first = ids[0] ?? Number.NaN;
    this.#samples.set(page, { first, last: ids.at(-1) ?? first, rows: ids.length, order: orderOf(ids), at });
  }

  /** A page worth reading for a row that is looked for since `since`; none where it is surely not listed. */
  guess(id: number, since: number): number | undefined {
    const now = performance.now();
    for (const [page, { at }] of this.#samples) if (now - at > MEMORY) this.#samples.delete(page);
    if (this.#samples.size === 0) return 1;
    const order = this.#order();
    return order === 'none' ? this.#nextInTurn() : this.#closeIn(order === 'ascending' ? id : -id, order, since);
  }

  /** Forgets all. */
  clear(): void {
    this.#samples.clear();
  }

  /** One order for all pages that show one; a list of single rows is taken to be the newest first. */
  #order(): 'ascending' | 'descending' | 'none' {
    const shown = new Set([...this.#samples.values()].map(({ order }) => order));
    if (shown.has('none') || (shown.has('ascending') && shown.has('descending'))) return 'none';
    return shown.has('ascending') ? 'ascending' : 'descending';
  }

  #nextInTurn(): number | undefined {
    const end = Math.min(
      ...[...this.#samples].map(([page, { rows }]) => (rows === 0 ? page : Number.POSITIVE_INFINITY)),
    );
    for (let page = 1; page < end; page++) if (!this.#samples.has(page)) return page;
    return undefined;
  }

  /** Halves the pages between the last one before the row and the first one after it. */
  #closeIn(place: number, order: 'ascending' | 'descending', since: number): number | undefined {
    const sign = order === 'ascending' ? 1 : -1;
    let before = 0;
    let after = Number.POSITIVE_INFINITY;
    for (const [page, { first, last, rows, at }] of this.#samples) {
      if (rows === 0 || place < sign * first) after = Math.min(after, page);
      else if (place > sign * last) before = Math.max(before, page);
      else return at < since ? page : undefined;
    }
    if (after === Number.POSITIVE_INFINITY) return before * 2;
    if (after - before > 1) return (before + after) >> 1;
    // Between two neighbours, or beyond an end: it may have come since they were read.
    return [before, after].find((page) => (this.#samples.get(page)?.at ?? since) < since);
  }
}

function orderOf(ids: readonly number[]): Order {
  if (ids.length < 2) return 'unknown';
  const rising = ids.filter((id, at) => at > 0 && id > (ids[at - 1] ?? id)).length;
  if (rising === ids.length - 1) return 'ascending';
  return rising === 0 ? 'descending' : 'none';
}
