import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PageMap } from '../../src/polling/page-map.ts';

const SIZE = 100;

/** Pages read until a row is found, or until the map has no page more to offer. */
function search(rows: readonly number[], id: number): { readonly found: boolean; readonly read: number[] } {
  const map = new PageMap();
  const read: number[] = [];
  const since = performance.now();
  for (let page = map.guess(id, since); page !== undefined; page = map.guess(id, since)) {
    const ids = rows.slice((page - 1) * SIZE, page * SIZE);
    read.push(page);
    if (ids.includes(id)) return { found: true, read };
    map.note(page, ids, performance.now());
    expect(read.length).toBeLessThan(2_000);
  }
  return { found: false, read };
}

const ids = fc.uniqueArray(fc.integer({ min: 1, max: 10_000 }), { minLength: 1, maxLength: 3_000 });

describe('where a row may be', () => {
  it.each([
    ['rising', (a: number, b: number) => a - b],
    ['falling', (a: number, b: number) => b - a],
  ])('is found in few reads where ids are %s', (_, order) => {
    fc.assert(
      fc.property(ids, fc.nat(), (unsorted, pick) => {
        const rows = unsorted.toSorted(order);
        const { found, read } = search(rows, rows[pick % rows.length] ?? 0);
        expect(found).toBe(true);
        expect(read.length).toBeLessThanOrEqual(2 + 2 * Math.ceil(Math.log2(2 + rows.length / SIZE)));
        expect(new Set(read).size).toBe(read.length);
      }),
    );
  });

  it('is found in turn where they are in no order', () => {
    fc.assert(
      fc.property(ids, fc.nat(), (rows, pick) => {
        const { found, read } = search(rows, rows[pick % rows.length] ?? 0);
        expect(found).toBe(true);
        expect(read.length).toBeLessThanOrEqual(2 * Math.ceil(rows.length / SIZE) + 1);
      }),
    );
  });

  it('is nowhere, in the end, where it is not listed', () => {
    fc.assert(fc.property(ids, (rows) => !search(rows, 10_001).found));
  });

  it('may be a page that was read before the row was looked for', () => {
    const map = new PageMap();
    const read = performance.now();
    map.note(1, [30, 20, 10], read);
    expect(map.guess(40, read - 1)).toBeUndefined();
    expect(map.guess(40, read + 1)).toBe(1);
    expect(map.guess(25, read + 1)).toBe(1);
    expect(map.guess(5, read + 1)).toBe(2);
  });

  it('is unknown again once forgotten', () => {
    const map = new PageMap();
    map.note(1, [3, 2, 1], performance.now());
    expect(map.guess(1, 0)).toBeUndefined();
    map.clear();
    expect(map.guess(1, 0)).toBe(1);
    map.note(1, [3, 2, 1], performance.now() - 130_000);
    expect(map.guess(1, 0)).toBe(1);
  });
});
