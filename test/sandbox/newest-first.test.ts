import fc from 'fast-check';
import { expect, it } from 'vitest';
import { deleteRow, newestFirst } from '../../src/sandbox/newest-first.ts';
import { amount } from '../support/seeded.ts';

/** A map that counts the entries that are read from it. */
class CountedMap extends Map<number, string> {
  reads = 0;

  override get(id: number): string | undefined {
    this.reads++;
    return super.get(id);
  }

  override *keys(): MapIterator<number> {
    for (const id of super.keys()) yield this.#counted(id);
  }

  override *values(): MapIterator<string> {
    for (const value of super.values()) yield this.#counted(value);
  }

  #counted<T>(value: T): T {
    this.reads++;
    return value;
  }
}

it.each([2_000, 30_000])('a page of 25 of %i rows reads 25 rows, and one more after a create', (rows) => {
  const map = new CountedMap();
  for (let id = 0; id < rows; id++) map.set(id, `row ${id}`);
  const readsOf = (start: number): number => {
    map.reads = 0;
    expect(newestFirst(map).slice(start, start + 25)).toHaveLength(25);
    return map.reads;
  };
  readsOf(0);
  expect([readsOf(0), readsOf(rows / 2), readsOf(rows - 25)]).toEqual([25, 25, 25]);
  map.set(rows, 'a new row');
  expect(readsOf(0)).toBe(26);
  deleteRow(map, 0);
  expect(readsOf(0)).toBe(25);
});

it('pages are those of all rows, newest first, whatever is created and deleted between them', () => {
  const id = fc.integer({ min: 0, max: 30 });
  const bound = fc.integer({ min: 0, max: 40 });
  const step = fc.oneof(
    fc.record({ type: fc.constantFrom('create', 'delete'), id }),
    fc.record({ type: fc.constant('list'), start: bound, size: bound }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const map = new Map<number, object>();
      for (const each of steps) {
        if ('start' in each) {
          const all = [...map.values()].reverse();
          const rows = newestFirst(map);
          expect(rows.length).toBe(all.length);
          expect(rows.slice(each.start, each.start + each.size)).toEqual(all.slice(each.start, each.start + each.size));
        } else if (each.type === 'create') map.set(each.id, { id: each.id, order: map.size });
        else deleteRow(map, each.id);
      }
    }),
    { numRuns: amount(300, 5_000) },
  );
});
