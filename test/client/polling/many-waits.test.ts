import { describe, expect, it } from 'vitest';
import { inVirtualTime } from '../../support/in-virtual-time.ts';
import {
  answer,
  type JobService,
  type JobServiceOptions,
  lateness,
  startJobService,
  waitFor,
} from '../../support/job-service.ts';
import { failureOf } from '../../support/server.ts';

const MINUTE = 60_000;

const time = inVirtualTime();

const start = (options?: JobServiceOptions): JobService => startJobService(options);

/** Short pages: what waits cost depends on the number of pages, not of rows. */
const SHORT = { cap: 10 };

describe('a single wait', () => {
  it('reads its job immediately, then every two to three seconds, and no list', async () => {
    const service = start();
    const [id = 0] = service.add(500);
    const began = performance.now();
    const waiting = waitFor(service, [id]);
    await time.pass(10 * MINUTE);
    service.set(id, 104);
    await time.until(waiting);
    expect(service.lists()).toEqual([]);
    expect(service.reads[0]?.at).toBe(began);
    expect(service.reads.length / 10).toBeGreaterThan(24);
    expect(service.mostInAMinute()).toBeLessThanOrEqual(31);
    const gaps = service.reads.slice(1).map(({ at }, index) => at - (service.reads[index]?.at ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThan(1_900);
    expect(Math.max(...gaps)).toBeLessThan(2_600);
    expect(await time.timersLeft()).toBe(0);
  });

  it('a second wait for the same job receives the last known state immediately and shares the requests of the first', async () => {
    const service = start();
    const [id = 0] = service.add(1);
    const first = waitFor(service, [id]);
    await time.pass(900);
    const statuses: number[] = [];
    const joined = service.client.audiences.wait(id, { onUpdate: ({ status }) => statuses.push(status.id) });
    await time.pass(50);
    expect(statuses).toEqual([100]);
    service.set(id, 104);
    await time.until(Promise.all([first, joined]));
    expect(service.reads.length).toBeLessThanOrEqual(3);
  });

  it('a wait for a job whose state is older than ten seconds reads it again, although webhooks are healthy', async () => {
    const service = start();
    const [id = 0, other = 0] = service.add(2);
    const waits = waitFor(service, [id, other]);
    await time.pass(1_000);
    const data = { ...service.show(other), status: { id: 104, name: 'Completed' } };
    service.client.waits.notify({ type: 'audience.completed', data });
    await time.pass(5_000);
    const join = () => service.client.audiences.wait(id);
    const reads = service.reads.length;
    const early = join();
    await time.pass(1_000);
    expect(service.reads).toHaveLength(reads);
    await time.pass(9_000);
    expect(service.reads).toHaveLength(reads);
    service.set(id, 104);
    const late = join();
    await time.pass(1_000);
    expect(service.reads).toHaveLength(reads + 1);
    await time.until(Promise.all([waits, early, late]));
  });
});

describe('several waits', () => {
  it('started together share one page from the first request on', async () => {
    const service = start();
    const ids = service.add(100);
    const waiting = waitFor(service, ids);
    await time.pass(400);
    expect(service.reads).toMatchObject([{ page: 1 }]);
    for (const id of ids) service.set(id, 104);
    await time.until(waiting);
    expect(service.lists()).toEqual([1, 1]);
    expect(service.singles()).toEqual([]);
  });

  it('read only the pages that several of them share; a job that is alone on its page is read on its own', async () => {
    const service = start(SHORT);
    service.add(200);
    // Newest first: pages 1 and 3, and one on page 10.
    const waited = [199, 198, 175, 176, 105];
    void waitFor(service, waited);
    await time.pass(2 * MINUTE);
    service.reads.length = 0;
    await time.pass(10 * MINUTE);
    expect(new Set(service.lists())).toEqual(new Set([1, 3]));
    expect(new Set(service.singles())).toEqual(new Set([105]));
    await service.client.close();
    expect(await time.timersLeft()).toBe(0);
  });

  it.each(['newest first', 'oldest first', 'shuffled'] as const)(
    'waits for jobs on 10 pages of a list of 30, %s, send at most 60 requests in any minute and see an end within a period',
    async (order) => {
      const service = start({ order, ...SHORT });
      const ids = service.add(300).slice(-100);
      const waiting = waitFor(service, ids);
      await time.pass(3 * MINUTE);
      const searchReads = service.reads.length;
      // Ten pages, or thirty if the rows are in no order.
      expect(await lateness(time, service, ids, waiting)).toBeLessThan(order === 'shuffled' ? 40_000 : 14_000);
      expect(searchReads).toBeLessThanOrEqual(180);
      expect(service.mostInAMinute()).toBeLessThanOrEqual(60);
      expect(service.singles().length).toBeLessThan(50);
    },
  );

  it.each(['newest first', 'shuffled'] as const)(
    'waits for ten jobs in the middle of 1,000 pages, %s, search a few pages and then read each job on its own',
    async (order) => {
      const service = start({ order, ...SHORT });
      service.add(10_000);
      const ids = Array.from({ length: 10 }, (_, at) => 3_137 + at);
      const waiting = waitFor(service, ids);
      await time.pass(10 * MINUTE);
      expect(new Set(service.lists()).size).toBeLessThanOrEqual(25);
      expect(await lateness(time, service, ids, waiting)).toBeLessThan(12_000);
      expect(service.mostInAMinute()).toBeLessThanOrEqual(60);
    },
  );

  it('waits for jobs that no page shows search the list again after five minutes', async () => {
    const service = start();
    const ids = service.add(10);
    let isListed = false;
    service.interfere = (url) => (url.searchParams.has('page') && !isListed ? answer([]) : undefined);
    void waitFor(service, ids);
    await time.pass(MINUTE);
    isListed = true;
    await time.pass(3 * MINUTE);
    expect(service.lists()).toEqual([1]);
    await time.pass(2 * MINUTE);
    service.reads.length = 0;
    await time.pass(MINUTE);
    expect(service.singles()).toEqual([]);
    await service.client.close();
  });

  it('waits for old jobs far down the list read these jobs in turn', async () => {
    const service = start(SHORT);
    const old = service.add(1_000).slice(0, 40);
    void waitFor(service, old);
    await time.pass(2 * MINUTE);
    service.reads.length = 0;
    await time.pass(2 * MINUTE);
    expect(service.lists()).toEqual([]);
    for (const id of old) expect([2, 3, 4]).toContain(service.singles().filter((read) => read === id).length);
    expect(service.mostInAMinute()).toBeLessThanOrEqual(60);
    await service.client.close();
  });

  it('begin with a read for a single new job, and with at most one search a second for several', async () => {
    const service = start(SHORT);
    void waitFor(service, service.add(100));
    await time.pass(MINUTE);
    service.reads.length = 0;
    const began = performance.now();
    const [id = 0] = service.add(1);
    void waitFor(service, [id]);
    await time.pass(3_000);
    expect(service.reads.find((read) => read.id === id)?.at).toBeLessThan(began + 2_500);
    await service.client.close();

    const idle = start();
    for (let batch = 0; batch < 30; batch++) {
      void waitFor(idle, idle.add(3));
      await time.pass(100);
    }
    for (const [index, { at }] of idle.reads.entries())
      expect((idle.reads[index + 1]?.at ?? Number.POSITIVE_INFINITY) - at).toBeGreaterThanOrEqual(1_000);
    expect(idle.singles()).toEqual([]);
    await idle.client.close();
  });

  it('waits for jobs on ten pages that have all ended resolve within a second, by ten requests', async () => {
    const service = start(SHORT);
    const ids = service.add(100);
    expect(await lateness(time, service, ids, waitFor(service, ids))).toBeLessThan(1_000);
    expect(service.lists().toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(service.singles()).toEqual([]);
  });

  it('are polled once more just before they time out, with one request for all on a page', async () => {
    const service = start(SHORT);
    const ids = service.add(30);
    const waiting = waitFor(service, ids, { timeout: 10 * MINUTE });
    // Healthy webhooks make polls rare.
    service.client.waits.notify({
      type: 'audience.completed',
      data: { ...service.show(1), status: { id: 104, name: '' } },
    });
    await time.pass(10 * MINUTE - 2_500);
    service.reads.length = 0;
    for (const id of ids) service.set(id, 104);
    const results = await time.until(waiting);
    expect(results.every(({ status }) => status === 'fulfilled')).toBe(true);
    expect(service.reads.length).toBeLessThanOrEqual(6);
  });

  it('waits for jobs that are read one by one are polled once more just before they time out, too', async () => {
    const service = start({ client: { waits: { via: 'get' } } });
    const [ended = 0, id = 0] = service.add(2);
    const waiting = waitFor(service, [ended, id], { timeout: 10 * MINUTE });
    await time.pass(MINUTE);
    const data = { ...service.show(ended), status: { id: 104, name: '' } };
    service.client.waits.notify({ type: 'audience.completed', data });
    await time.pass(9 * MINUTE - 2_500);
    service.reads.length = 0;
    service.set(id, 104);
    expect((await time.until(waiting)).every(({ status }) => status === 'fulfilled')).toBe(true);
    expect(service.reads).toMatchObject([{ id }]);
  });

  it('follow rows that move to other pages as new ones are added', async () => {
    const service = start({ cap: 50 });
    const ids = service.add(125);
    const waiting = waitFor(service, ids);
    for (let minute = 0; minute < 4; minute++) {
      await time.pass(MINUTE);
      service.add(15);
    }
    expect(await lateness(time, service, ids, waiting)).toBeLessThan(13_000);
    expect(service.singles().length).toBeLessThan(60);
  });

  it('read a job that is missing from its page on its own, and only that request ends its wait', async () => {
    const service = start();
    const ids = service.add(10);
    const [gone = 0, ...others] = ids;
    const lost = service.client.audiences.wait(gone);
    const caught = lost.catch((error: unknown) => error);
    const waiting = waitFor(service, others);
    await time.pass(MINUTE);
    service.remove(gone);
    expect(await time.until(caught)).toMatchObject({ name: 'NotFoundError', status: 404 });
    expect(service.singles()).toEqual([gone]);
    for (const id of others) service.set(id, 104);
    expect((await time.until(waiting)).every(({ status }) => status === 'fulfilled')).toBe(true);
  });

  it('waits for audiences and lookalikes share pages; estimates are read one by one', async () => {
    const service = start();
    const [one = 0, two = 0] = service.add(2);
    const { audiences, lookalikes } = service.client;
    const waiting = Promise.all([audiences.wait(one), lookalikes.wait(two)]);
    await time.pass(400);
    expect(service.reads).toMatchObject([{ page: 1 }]);
    for (const id of [one, two]) service.set(id, 104);
    await time.until(waiting);
    service.reads.length = 0;
    const estimates = Promise.all([service.client.estimates.wait(one), service.client.estimates.wait(two)]);
    await time.until(estimates);
    expect(service.reads).toMatchObject([{ id: one }, { id: two }]);
  });
});

describe('rows', () => {
  it('rows without a status are not used: each job is read on its own, and that is logged once', async () => {
    const warned: string[] = [];
    const log = (): void => {};
    const logger = { error: log, info: log, debug: log, warn: (message: string) => void warned.push(message) };
    const service = start({ rows: 'no status', client: { logger, logLevel: 'warn' } });
    const ids = service.add(5);
    const waiting = waitFor(service, ids);
    await time.pass(5 * MINUTE);
    for (const id of ids) service.set(id, 104);
    await time.until(waiting);
    expect(service.lists()).toEqual([1]);
    expect(warned).toEqual([expect.stringContaining('its rows have no `status`')]);
    expect(service.mostInAMinute()).toBeLessThanOrEqual(60);
  });

  it('rows that leave fields out show changes only: a resource that has changed is read', async () => {
    const service = start({ rows: 'status' });
    const ids = service.add(20);
    const waiting = Promise.all(ids.map((id) => service.client.audiences.wait(id)));
    await time.pass(5 * MINUTE);
    expect(service.singles()).toHaveLength(20);
    for (const id of ids) service.set(id, 104);
    for (const audience of await time.until(waiting)) expect(audience.created_by.name).toBe('Ada');
    expect(service.singles()).toHaveLength(40);
  });

  it('rows that leave a nested field out are not complete either', async () => {
    const service = start();
    service.interfere = (url) => {
      if (!url.searchParams.has('page')) return undefined;
      return answer([1, 2].map((id) => ({ ...service.show(id), created_by: {} })));
    };
    const waiting = Promise.all(service.add(2).map((id) => service.client.audiences.wait(id)));
    await time.pass(MINUTE);
    for (const id of [1, 2]) service.set(id, 104);
    for (const audience of await time.until(waiting)) expect(audience.created_by.name).toBe('Ada');
  });

  it.each([
    [50, 120, {}],
    [50, 120, { via: 'list' }],
  ] as const)('rows on pages that the service cuts to %i rows are found: %i jobs, %o', async (cap, count, waits) => {
    const service = start({ cap, client: { waits } });
    const ids = service.add(count);
    const waiting = waitFor(service, ids);
    await time.pass(MINUTE);
    expect(service.reads.length).toBeLessThan(60);
    service.reads.length = 0;
    expect(await lateness(time, service, ids, waiting)).toBeLessThan(10_000);
    expect((await waiting).map(({ status }) => status)).toEqual(ids.map(() => 'fulfilled'));
    expect(service.singles()).toEqual([]);
    expect(service.reads.length).toBeLessThan(20);
  });
});

describe('a list', () => {
  const failing = (service: JobService, list: number, single: number): void => {
    service.interfere = (url) => {
      const status = url.searchParams.has('page') ? list : single;
      return status === 200 ? undefined : answer([], status);
    };
  };

  it.each([403, 404])(
    'the scheduler leaves a list that responds with %i alone for ten minutes, then tries it again',
    async (status) => {
      const service = start();
      failing(service, status, 200);
      const ids = service.add(3);
      const waiting = waitFor(service, ids);
      await time.pass(9 * MINUTE);
      expect(service.lists()).toHaveLength(1);
      failing(service, 200, 200);
      await time.pass(3 * MINUTE);
      service.reads.length = 0;
      for (const id of ids) service.set(id, 104);
      expect((await time.until(waiting)).every(({ status: how }) => how === 'fulfilled')).toBe(true);
      expect(service.singles()).toEqual([]);
    },
  );

  it('a list that is refused while waits join loses no wait', async () => {
    const service = start();
    service.add(400);
    const waiting = [waitFor(service, [400, 399])];
    await time.pass(1_000);
    service.interfere = (url) => {
      const page = url.searchParams.get('page');
      if (page === '1') return answer([], 403);
      return page === null ? undefined : new Promise((resolve) => setTimeout(() => resolve(answer([])), 12_000));
    };
    waiting.push(waitFor(service, [250, 249, 248]));
    await time.pass(20_000);
    for (const id of [400, 399, 250, 249, 248]) service.set(id, 104);
    for (const results of await time.until(Promise.all(waiting)))
      expect(results.every(({ status }) => status === 'fulfilled')).toBe(true);
  });

  it('a list whose pages end with a 404 is used', async () => {
    const service = start(SHORT);
    service.interfere = (url) => (Number(url.searchParams.get('page')) > 2 ? answer([], 404) : undefined);
    const waiting = waitFor(service, service.add(15));
    await time.pass(MINUTE);
    for (const id of service.add(2)) void waitFor(service, [id, 999]);
    await time.pass(MINUTE);
    service.reads.length = 0;
    await time.pass(5 * MINUTE);
    expect(service.singles().length).toBeLessThan(service.lists().length);
    await service.client.close();
    await waiting;
  });

  it('a list that responds with 401 ends all waits: they have the same token', async () => {
    const service = start();
    failing(service, 401, 401);
    const ended = await time.until(waitFor(service, service.add(50)));
    for (const one of ended) expect(one).toMatchObject({ reason: { name: 'AuthenticationError' } });
    expect(service.reads).toHaveLength(1);
  });

  it('is never read with `via: "get"`, and for a single wait with `via: "list"`', async () => {
    const alone = start({ client: { waits: { via: 'list' } } });
    const apart = start({ client: { waits: { via: 'get' } } });
    void waitFor(alone, alone.add(1));
    void waitFor(apart, apart.add(3));
    await time.pass(MINUTE);
    expect(alone.singles()).toEqual([]);
    expect(apart.lists()).toEqual([]);
    expect(alone.lists().length).toBeGreaterThan(5);
    expect(apart.singles().length).toBeGreaterThan(5);
    await Promise.all([alone.client.close(), apart.client.close()]);
  });

  it('a wait with request options polls separately, and its polls have these options', async () => {
    const service = start();
    const [own = 0, ...others] = service.add(3);
    void waitFor(service, others);
    const sent = new Set<string | null>();
    service.interfere = (url, { headers }) => {
      if (url.pathname.endsWith(`/${own}`)) sent.add(headers.get('x-extra'));
      return undefined;
    };
    const waiting = service.client.audiences.wait(own, { request: { headers: { 'x-extra': 'yes' } } });
    await time.pass(MINUTE);
    service.set(own, 104);
    await time.until(waiting);
    expect(new Set(service.singles())).toEqual(new Set([own]));
    expect(sent).toEqual(new Set(['yes']));
    await service.client.close();
  });
});

describe('each wait', () => {
  it('is independent: an abort, a callback that throws or one that aborts another wait affects no third', async () => {
    const service = start();
    const [one = 0, two = 0, three = 0] = service.add(3);
    const { audiences } = service.client;
    const [first, second] = [new AbortController(), new AbortController()];
    const onUpdate = (): void => {
      second.abort('by another');
      throw new Error('broken');
    };
    const seen: string[] = [];
    const aborted = failureOf(audiences.wait(one, { signal: first.signal }));
    const throwing = audiences.wait(two, { onUpdate });
    const silenced = failureOf(
      audiences.wait(two, { signal: second.signal, onUpdate: ({ status }) => seen.push(status.name) }),
    );
    const third = audiences.wait(three);
    await time.pass(100);
    first.abort('enough');
    expect(await aborted).toBe('enough');
    expect(await silenced).toBe('by another');
    expect(seen).toEqual([]);
    for (const id of [one, two, three]) service.set(id, 104);
    expect(await time.until(Promise.all([throwing, third]))).toMatchObject([{ id: two }, { id: three }]);
  });

  it('repeats the first read of its job, if that was the read of another wait that was aborted', async () => {
    const service = start();
    const [id = 0] = service.add(1);
    const first = new AbortController();
    const aborted = failureOf(service.client.audiences.wait(id, { signal: first.signal }));
    await time.pass(20);
    const began = performance.now();
    const updates: number[] = [];
    const onUpdate = (): number => updates.push(performance.now() - began);
    const waiting = service.client.audiences.wait(id, { onUpdate });
    first.abort('enough');
    expect(await aborted).toBe('enough');
    await time.pass(2_100);
    expect(updates).toHaveLength(1);
    service.set(id, 104);
    await time.until(waiting);
  });

  it('sends nothing once it is aborted, even if its request was queued', async () => {
    const service = start({ client: { rateLimits: { read: { limit: 1, interval: 10 * MINUTE } } } });
    const ids = service.add(3);
    await time.until(service.client.audiences.get(1));
    const controller = new AbortController();
    const waits = ids.map((id) => failureOf(service.client.audiences.wait(id, { signal: controller.signal })));
    await time.pass(MINUTE);
    controller.abort('enough');
    expect(await Promise.all(waits)).toEqual(['enough', 'enough', 'enough']);
    await time.pass(30 * MINUTE);
    expect(service.reads).toHaveLength(1);
    expect(await time.timersLeft()).toBe(0);
  });

  it.each([0, 0.4, 1_500.5])(
    'each wait with a timeout of %d ms ends in time, not before and not much after',
    async (timeout) => {
      const service = start();
      const [id = 0] = service.add(1);
      const began = performance.now();
      const error = await time.until(failureOf(service.client.audiences.wait(id, { timeout })));
      expect(error).toMatchObject({ name: 'WaitTimeoutError', kind: 'audience', id });
      expect(performance.now() - began).toBeGreaterThanOrEqual(Math.floor(timeout));
      expect(performance.now() - began).toBeLessThan(timeout + 2);
      if (timeout === 0) expect(service.reads).toEqual([]);
    },
  );

  it('may wait indefinitely', async () => {
    const service = start();
    const [id = 0] = service.add(1);
    const wait = service.client.audiences.wait(id, { timeout: Number.POSITIVE_INFINITY });
    service.client.waits.notify({ type: 'audience.created', data: service.show(id) });
    await time.pass(5 * MINUTE);
    await time.sleepThrough(30 * 24 * 60 * MINUTE);
    service.set(id, 104);
    expect(await time.until(wait)).toMatchObject({ status: { id: 104 } });
  });
});

const indefinitely = { timeout: Number.POSITIVE_INFINITY };

/** Throws as soon as the data shows a job that has completed. */
function throwAtEnd(data: unknown): unknown {
  if (JSON.stringify(data).includes('"id":104')) throw new TypeError('no such field');
  return data;
}

describe('a `data` override that throws', () => {
  it('a `data` override that throws on a single resource ends its wait', async () => {
    const service = startJobService({ client: { operations: { 'audiences.get': { data: throwAtEnd } } } });
    const [id = 0] = service.add(1);
    const waiting = waitFor(service, [id], indefinitely);
    await time.pass(MINUTE);
    service.set(id, 104);
    const reason = { code: 'callback-failed', cause: expect.objectContaining({ message: 'no such field' }) };
    await time.pass(MINUTE);
    expect(await time.until(waiting)).toMatchObject([{ reason }]);
  });

  it('a `data` override that throws on a list makes the client read each resource on its own', async () => {
    const service = startJobService({ client: { operations: { 'audiences.list': { data: throwAtEnd } } } });
    const ids = service.add(10);
    const waiting = waitFor(service, ids, indefinitely);
    await time.pass(MINUTE);
    for (const id of ids) service.set(id, 104);
    await time.pass(MINUTE);
    expect(await time.until(waiting)).toMatchObject(ids.map((id) => ({ value: { id } })));
  });
});
