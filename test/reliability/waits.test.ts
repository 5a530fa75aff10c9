import { fork } from 'node:child_process';
import { once } from 'node:events';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WaitTimeoutError } from '../../src/index.ts';
import { answer, type JobService, startJobService } from '../support/job-service.ts';
import { amount } from '../support/seeded.ts';
import { startVirtualTime, type VirtualTime } from '../support/virtual-time.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

let time: VirtualTime;
beforeEach(() => {
  time = startVirtualTime();
});
afterEach(() => time.end());

const waitFor = (service: JobService, ids: readonly number[]): Promise<PromiseSettledResult<unknown>[]> =>
  Promise.allSettled(ids.map((id) => service.client.audiences.wait(id)));

/** Kinds of trouble, and how long one of them can outlast its end. Milliseconds. */
const TROUBLE: readonly (readonly [string, () => Response | Promise<Response>, number])[] = [
  ['429', () => answer([], 429), 0],
  ['429 with `Retry-After: 20`', () => answer([], 429, { 'retry-after': '20' }), 20_000],
  ['500', () => answer([], 500), 0],
  ['503 with `Retry-After: 20`', () => answer([], 503, { 'retry-after': '20' }), 20_000],
  ['a page of a proxy', () => new Response('<html>Bad gateway</html>', { status: 502 }), 0],
  ['a cut connection', () => Promise.reject(new TypeError('fetch failed')), 0],
  ['half an answer', () => new Response('{"status":"succ'), 0],
  ['silence', () => new Promise<Response>(() => {}), 30_000],
];

describe('ten minutes of', () => {
  it.each(TROUBLE)(
    '%s fail no wait, and make none later than by themselves and one period',
    async (_, trouble, rest) => {
      const service = startJobService();
      const ids = service.add(300);
      const waiting = waitFor(service, ids);
      await time.pass(2 * MINUTE);
      service.interfere = trouble;
      await time.pass(5 * MINUTE);
      for (const id of ids) service.set(id, 104);
      await time.pass(5 * MINUTE);
      const before = service.reads.length;
      service.interfere = () => undefined;
      const ended = performance.now();
      const results = await time.until(waiting);
      expect(results.every(({ status }) => status === 'fulfilled')).toBe(true);
      // Three pages: a period of six seconds, of 12.4 where the share was cut to a quarter; and a tenth.
      expect(performance.now() - ended).toBeLessThanOrEqual(rest + 13_700);
      expect(before).toBeLessThanOrEqual(12 * 60);
      expect(time.timers()).toBe(0);
    },
  );
});

describe('a list that fails while single jobs are answered', () => {
  it('is left alone after a while: each job is read by itself, and found in the list once that works', async () => {
    const service = startJobService();
    const ids = service.add(20);
    const waiting = waitFor(service, ids);
    await time.pass(MINUTE);
    service.interfere = (url) => (url.searchParams.has('page') ? answer([], 503) : undefined);
    await time.pass(MINUTE);
    const [first = 0, ...others] = ids;
    service.set(first, 104);
    const ended = performance.now();
    while (service.client.waits.size === ids.length) await time.pass(1_000);
    expect(performance.now() - ended).toBeLessThan(45_000);
    service.interfere = () => undefined;
    await time.pass(MINUTE);
    service.reads.length = 0;
    for (const id of others) service.set(id, 104);
    await time.until(waiting);
    expect(service.reads.every(({ page }) => page === 1)).toBe(true);
  });
});

describe('a wait', () => {
  it('never runs hot, whatever statuses come', async () => {
    const status = fc.oneof(fc.integer(), fc.constantFrom(0, -1, 4, 5, 100, 103, 105, 399, 500, 1e9));
    await fc.assert(
      fc.asyncProperty(
        fc.array(status, { minLength: 1, maxLength: 30 }),
        fc.integer({ min: 1, max: 40 }),
        async (statuses, jobs) => {
          const service = startJobService({ latency: 0 });
          const ids = service.add(jobs);
          const waiting = waitFor(service, ids);
          const reads: number[] = [];
          for (const one of statuses) {
            for (const id of ids) service.set(id, one);
            await time.pass(10_000);
            reads.push(service.reads.length);
          }
          for (const [at, count] of reads.entries()) expect(count - (reads[at - 6] ?? 0)).toBeLessThanOrEqual(60);
          expect(reads.at(-1)).toBeLessThanOrEqual(statuses.length * 6 + 3);
          await service.client.close();
          await time.until(waiting);
          expect(time.timers()).toBe(0);
        },
      ),
      { numRuns: amount(20, 300) },
    );
  });

  it('of a process that sleeps for an hour looks at once when it wakes, once', async () => {
    const service = startJobService();
    const [id = 0] = service.add(1);
    const wait = service.client.audiences.wait(id);
    await time.pass(5 * MINUTE);
    const before = service.reads.length;
    service.set(id, 104);
    const slept = performance.now();
    await time.sleepThrough(HOUR);
    await time.until(wait);
    expect(performance.now() - slept - HOUR).toBeLessThan(100);
    expect(service.reads.length - before).toBeLessThanOrEqual(2);
  });

  it('counts the time that its process is awake', async () => {
    const service = startJobService();
    const [id = 0] = service.add(1);
    const wait = service.client.audiences.wait(id, { timeout: 10 * MINUTE }).catch((error: WaitTimeoutError) => error);
    await time.pass(5 * MINUTE);
    await time.sleepThrough(HOUR);
    const woken = performance.now();
    expect(await time.until(wait)).toMatchObject({ name: 'WaitTimeoutError', resource: { id } });
    expect(performance.now() - woken).toBeGreaterThan(3 * MINUTE);
  });

  it('that is one of a hundred thousand leaves nothing behind', async () => {
    const child = fork(new URL('../support/waits-process.ts', import.meta.url), { execArgv: ['--expose-gc'] });
    const [told] = await once(child, 'message');
    const { ended, size, heap } = told;
    expect(ended).toBe(100_000);
    expect(size).toBe(0);
    // What the first two tenths have warmed up is there to stay; ten bytes a wait may come on top.
    expect(heap.at(-1) - heap[1]).toBeLessThan(900_000);
  });
});
