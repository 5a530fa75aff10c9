import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { WaitTimeoutError } from '../../src/index.ts';
import { inVirtualTime } from '../support/in-virtual-time.ts';
import { answer, type JobService, lateness, startJobService, waitFor } from '../support/job-service.ts';
import { runs } from '../support/volume.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const time = inVirtualTime();

/** Short pages: what waits cost depends on the number of pages, not of rows. */
const SHORT = { cap: 10 };

/** Transient failures, and the milliseconds by which a poll may outlast their end. */
const FAILURES: readonly (readonly [string, () => Response | Promise<Response>, number])[] = [
  ['429 with `Retry-After: 20`', () => answer([], 429, { 'retry-after': '20' }), 20_000],
  ['503 with `Retry-After: 20`', () => answer([], 503, { 'retry-after': '20' }), 20_000],
  ['a lost connection', () => Promise.reject(new TypeError('fetch failed')), 0],
  ['no response', () => new Promise<Response>(() => {}), 30_000],
];

/** Half of a time of failures, in milliseconds. */
const HALF = runs(2, 5) * MINUTE;

describe(`${(2 * HALF) / MINUTE} minutes of`, () => {
  it.each(FAILURES)(
    '%s fail no wait, and delay none by more than their duration and one period',
    async (_, fail, rest) => {
      const service = startJobService(SHORT);
      const ids = service.add(30);
      const waiting = waitFor(service, ids);
      await time.pass(2 * MINUTE);
      service.interfere = fail;
      await time.pass(HALF);
      for (const id of ids) service.set(id, 104);
      await time.pass(HALF);
      const before = service.reads.length;
      service.interfere = () => undefined;
      const ended = performance.now();
      const results = await time.until(waiting);
      expect(results.every(({ status }) => status === 'fulfilled')).toBe(true);
      // Three pages take a period of six seconds, or of 12.4 at a quarter of the rate, and a tenth.
      expect(performance.now() - ended).toBeLessThanOrEqual(rest + 13_700);
      expect(before).toBeLessThanOrEqual((2 + (2 * HALF) / MINUTE) * 60);
      expect(await time.timersLeft()).toBe(0);
    },
  );
});

describe('a list that fails while single jobs can be read', () => {
  it('is replaced by reads of each job, and used again once it works', async () => {
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

describe('a list that keeps failing', () => {
  it.each([
    ['503', () => answer([], 503), {}],
    ['503, a bucket of 40', () => answer([], 503), { rateLimits: { read: { limit: 40, interval: MINUTE } } }],
    ['429 with `Retry-After: 3`', () => answer([], 429, { 'retry-after': '3' }), {}],
  ] as const)('a list that keeps failing with %s delays no job by more than a minute', async (_, refuse, client) => {
    const service = startJobService({ client });
    service.interfere = () => answer([], 429);
    const ids = service.add(3);
    const waiting = waitFor(service, ids);
    await time.pass(MINUTE);
    service.interfere = (url) => (url.searchParams.has('page') ? refuse() : undefined);
    expect(await lateness(time, service, ids, waiting)).toBeLessThan(MINUTE);
  });
});

describe('waits take turns', () => {
  it('the client reads ended jobs first if rows leave fields out', async () => {
    const service = startJobService({ rows: 'status', ...SHORT });
    const ids = service.add(100);
    const waiting = waitFor(service, ids);
    await time.pass(MINUTE);
    for (const id of ids.slice(0, 3)) service.set(id, 104);
    await time.pass(30_000);
    expect(service.client.waits.size).toBe(97);
    await service.client.close();
    await waiting;
  });

  it('any number of events without a resource makes the client read a job every two seconds at most', async () => {
    const service = startJobService();
    const waiting = waitFor(service, service.add(9).slice(0, 1));
    const other = service.client.estimates.wait(9).catch(() => {});
    await time.pass(1_000);
    service.reads.length = 0;
    for (let at = 0; at < 120; at++) {
      service.client.waits.notify({ type: 'audience.updated', data: { id: 1 } });
      await time.pass(500);
    }
    const reads = service.singles();
    expect(reads.filter((id) => id === 1).length).toBeLessThanOrEqual(31);
    expect(reads.filter((id) => id === 9).length).toBeGreaterThan(9);
    await service.client.close();
    await Promise.all([waiting, other]);
  });
});

describe('a wait is not delayed', () => {
  const estimatesOf = (service: JobService, respond: (id: number) => Response | Promise<Response>): void => {
    service.interfere = (url) =>
      url.pathname.includes('estimates') ? respond(Number(url.pathname.split('/').at(-1))) : undefined;
  };

  it('a `Retry-After` for another job delays no wait', async () => {
    const service = startJobService(SHORT);
    const ids = service.add(50);
    estimatesOf(service, () => answer([], 503, { 'retry-after': '120' }));
    const waiting = waitFor(service, ids);
    const other = service.client.estimates.wait(1).catch(() => {});
    await time.pass(5 * MINUTE);
    expect(await lateness(time, service, ids, waiting)).toBeLessThan(8_000);
    await service.client.close();
    await other;
  });

  it('any number of requests without a response delays no wait', async () => {
    const service = startJobService(SHORT);
    const ids = service.add(50);
    estimatesOf(service, () => new Promise(() => {}));
    const others = ids.map((id) => service.client.estimates.wait(id).catch(() => {}));
    const waiting = waitFor(service, ids);
    await time.pass(5 * MINUTE);
    expect(await lateness(time, service, ids, waiting)).toBeLessThan(20_000);
    await service.client.close();
    await Promise.all(others);
  });

  it.each([{ deadline: undefined }, { deadline: Number.POSITIVE_INFINITY }])(
    'requests with %j that never receive their token delay no wait',
    async (request) => {
      let hangs = false;
      const token = (): string | Promise<string> => (hangs ? new Promise(() => {}) : 'test-token');
      const service = startJobService({ client: { token } });
      const [own = 0, ...others] = service.add(11);
      const waiting = waitFor(service, others);
      await time.pass(10_000);
      hangs = true;
      void service.client.audiences.wait(own, { request: { ...request, headers: {} } }).catch(() => {});
      await time.pass(10_000);
      hangs = false;
      expect(await lateness(time, service, others, waiting)).toBeLessThan(130_000);
      await service.client.close();
    },
  );

  it('much by two hundred waits with request options', async () => {
    const service = startJobService(SHORT);
    const ids = service.add(300);
    const shared = waitFor(service, ids.slice(-100));
    const apart = waitFor(service, ids.slice(0, 200), { request: { headers: { 'x-extra': 'yes' } } });
    await time.pass(5 * MINUTE);
    // Pages have a third of the turns, first and regular reads the others.
    expect(await lateness(time, service, ids.slice(-100), shared)).toBeLessThan(35_000);
    await service.client.close();
    await apart;
  });

  it('a poll is never retried, whatever its request options are', async () => {
    const service = startJobService({ latency: 3_000 });
    service.interfere = () => answer([], 500);
    const waiting = waitFor(service, service.add(30), { request: { maxRetries: 20 } });
    await time.pass(5 * MINUTE);
    expect(service.mostInAMinute()).toBeLessThanOrEqual(60);
    await service.client.close();
    await waiting;
  });
});

describe('a token source', () => {
  it('a token source that hangs for a while delays no wait by more than two further minutes', async () => {
    let hangs = true;
    const token = (): string | Promise<string> => (hangs ? new Promise(() => {}) : 'test-token');
    const service = startJobService({ client: { token } });
    const waiting = waitFor(service, service.add(20));
    await time.pass(10 * MINUTE);
    hangs = false;
    for (let id = 1; id <= 20; id++) service.set(id, 104);
    const ended = performance.now();
    await time.until(waiting);
    expect(performance.now() - ended).toBeLessThan(2.2 * MINUTE);
  });

  it('a token source that fails ends waits that know no state yet; the others go on, and name it when they time out', async () => {
    let fails = true;
    const token = (): string => {
      if (fails) throw new Error('the vault is sealed');
      return 'test-token';
    };
    const service = startJobService({ client: { token } });
    const ids = service.add(2);
    expect(await time.until(waitFor(service, ids))).toMatchObject([
      { reason: { code: 'token-unavailable' } },
      { reason: { code: 'token-unavailable' } },
    ]);
    fails = false;
    const waiting = waitFor(service, ids, { timeout: 10 * MINUTE });
    await time.pass(MINUTE);
    fails = true;
    await time.pass(MINUTE);
    fails = false;
    service.set(1, 104);
    await time.pass(MINUTE);
    fails = true;
    expect(await time.until(waiting)).toMatchObject([
      { status: 'fulfilled' },
      {
        reason: {
          name: 'WaitTimeoutError',
          cause: { code: 'token-unavailable' },
          message: expect.stringContaining('vault'),
        },
      },
    ]);
  });
});

describe('a wait', () => {
  it('never polls in a tight loop, whatever the statuses are', async () => {
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
          expect(reads.at(-1)).toBeLessThanOrEqual(statuses.length * 6 + 15);
          await service.client.close();
          await time.until(waiting);
          expect(await time.timersLeft()).toBe(0);
        },
      ),
      { numRuns: runs(2, 20, 300) },
    );
  });

  it('polls once, immediately, when its process wakes up from an hour of sleep', async () => {
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
});
