/** Rows of a list, of which a page reads only its own. */
export interface Rows<T> {
  readonly length: number;
  slice(start: number, end: number): T[];
}

/** Ids of a map in the order of insertion, as far as a list has read them, and an iterator over the later ones. */
interface Order {
  readonly ids: number[];
  readonly later: Iterator<number>;
}

const orders = new WeakMap<ReadonlyMap<number, unknown>, Order>();

/** Returns the values of a map, newest first. Between two lists, it reads only the ids that were inserted. */
export function newestFirst<T>(map: ReadonlyMap<number, T>): Rows<T> {
  const order = orders.get(map) ?? { ids: [], later: map.keys() };
  orders.set(map, order);
  const { ids, later } = order;
  // An iterator of a map also visits entries that are inserted later, unless it has reached the end.
  while (ids.length < map.size) ids.push(later.next().value);
  const { length } = ids;
  const fromEnd = (index: number): number => Math.max(0, length - index);
  return {
    length,
    slice: (start, end) =>
      ids
        .slice(fromEnd(end), fromEnd(start))
        .reverse()
        .flatMap((id) => map.get(id) ?? []),
  };
}

/** Deletes an entry of a map that {@link newestFirst} lists. */
export function deleteRow(map: Map<number, unknown>, id: number): void {
  if (!map.delete(id)) return;
  const ids = orders.get(map)?.ids ?? [];
  const at = ids.indexOf(id);
  if (at >= 0) ids.splice(at, 1);
}
