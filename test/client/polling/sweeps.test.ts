import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Sweep } from '../../../src/client/polling/sweeps.ts';
import { runs } from '../../support/volume.ts';

const PAGE_SIZE = 100;

/** Runs a sweep over a list of ids; returns the pages read. */
function read(sweep: Sweep<number>, list: readonly number[], jobs: ReadonlySet<number>): number[] {
  const pages: number[] = [];
  for (let page = sweep.nextPage(); page !== undefined; page = sweep.nextPage()) {
    const rows = list.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE);
    pages.push(page);
    sweep.onPage(
      page,
      rows.filter((id) => jobs.has(id)),
      rows.length === 0,
    );
    expect(pages.length).toBeLessThan(1_000);
  }
  return pages;
}

const newestFirst = (count: number): number[] => Array.from({ length: count }, (_, index) => count - index);

describe('a sweep', () => {
  it.each([
    ['two new jobs', [3_000, 2_999], [1]],
    ['all jobs of one page', newestFirst(3_000).slice(0, 100), [1]],
    ['a thousand new jobs', newestFirst(3_000).slice(0, 1_000), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]],
    ['jobs with a page without any between them', [3_000, 2_999, 2_750, 2_749], [1, 2, 3]],
    ['two old jobs', [10, 11], [1, 2]],
    ['one job', [3_000], []],
  ])('reads the newest pages until it has found %s', (_, ids, pages) => {
    const jobs = new Set(ids);
    expect(read(new Sweep(jobs, [], 2), newestFirst(3_000), jobs)).toEqual(pages);
  });

  it('reads a page in vain for each job at most, and 25 in all', () => {
    const list = newestFirst(10_000);
    for (const [count, pages] of [
      [10, 10],
      [1_000, 25],
    ] as const) {
      const jobs = new Set(Array.from({ length: count }, (_, index) => index + 1));
      expect(read(new Sweep(jobs, [], 2), list, jobs)).toHaveLength(pages);
    }
  });

  it('reads the pages that jobs shared in the previous one, and no others while these show all jobs', () => {
    const jobs = new Set([2_750, 2_749, 1_500, 1_499]);
    const sweep = new Sweep(jobs, [3, 16], 2);
    expect(read(sweep, newestFirst(3_000), jobs)).toEqual([3, 16]);
    expect(sweep.shared).toEqual([3, 16]);
  });

  it('leaves a job that is alone on its page to its own polls', () => {
    const jobs = new Set([3_000, 2_999, 2_850]);
    const sweep = new Sweep(jobs, [], 2);
    expect(read(sweep, newestFirst(3_000), jobs)).toEqual([1]);
    expect([...sweep.missing]).toEqual([2_850]);
    expect(sweep.shared).toEqual([1]);
  });

  it('ends at an empty page', () => {
    const jobs = new Set([901, 902, 903, 904]);
    expect(read(new Sweep(jobs, [], 2), newestFirst(150), jobs)).toEqual([1, 2, 3]);
  });

  it('continues after a page that failed, and keeps it for the next sweep if jobs shared it', () => {
    const sweep = new Sweep(new Set([1, 2, 3, 4]), [1, 2], 2);
    expect(sweep.nextPage()).toBe(1);
    sweep.onFailure(1, 'other');
    expect(sweep.nextPage()).toBe(2);
    sweep.onPage(2, [1, 2], false);
    expect(sweep.nextPage()).toBe(3);
    sweep.onFailure(3, '429');
    expect(sweep.nextPage()).toBeUndefined();
    expect(sweep.shared).toEqual([1, 2]);
    expect(sweep.failure).toBe('429');
  });

  it('reads no more than two pages of a list that fails', () => {
    const sweep = new Sweep(newestFirst(1_000), [], 2);
    for (const page of [1, 2]) {
      expect(sweep.nextPage()).toBe(page);
      sweep.onFailure(page, 'other');
    }
    expect(sweep.nextPage()).toBeUndefined();
  });

  it('reads no page twice, and every job that it has found shares its page, whatever the order of the list', () => {
    const ids = fc.uniqueArray(fc.integer({ min: 1, max: 10_000 }), { minLength: 1, maxLength: 3_000 });
    fc.assert(
      fc.property(ids, fc.double({ min: 0, max: 1, noNaN: true }), (list, share) => {
        const jobs = new Set(list.filter((_, index) => index <= list.length * share));
        const first = new Sweep(jobs, [], 2);
        const pages = read(first, list, jobs);
        expect(new Set(pages).size).toBe(pages.length);
        expect(pages.length).toBeLessThanOrEqual(first.shared.length + 25);
        const listed = [...jobs].filter((id) => !first.missing.has(id));
        expect(listed.length).toBeGreaterThanOrEqual(2 * first.shared.length);
        // The next sweep finds the same jobs without a search.
        const second = new Sweep(listed, first.shared, 2);
        expect(read(second, list, new Set(listed)).every((page) => first.shared.includes(page))).toBe(true);
        expect(second.missing.size).toBe(0);
      }),
      { numRuns: runs(10, 100) },
    );
  });
});
