import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JobEvent, UpdateSource } from '../../../src/index.ts';
import { inVirtualTime } from '../../support/in-virtual-time.ts';
import { answer, type JobService, startJobService } from '../../support/job-service.ts';
import { failureOf } from '../../support/server.ts';

const MINUTE = 60_000;

const time = inVirtualTime();
let service: JobService;
beforeEach(() => {
  service = startJobService();
});
afterEach(async () => {
  await service.client.close();
  expect(await time.timersLeft()).toBe(0);
});

const eventOf = (id: number, status: number, type = status === 104 ? 'audience.completed' : 'audience.failed') => {
  service.set(id, status);
  return { type, data: service.show(id) } satisfies JobEvent;
};
const silently = (ids: readonly number[]): Promise<unknown>[] =>
  ids.map((id) =>
    service.client.audiences.wait(id, { timeout: Number.POSITIVE_INFINITY }).catch((error: unknown) => error),
  );

describe('client.waits', () => {
  it('resumes a wait by the kind and id of its error', async () => {
    const [id = 0] = service.add(1);
    const error = await time.until(failureOf(service.client.audiences.wait(id, { timeout: 5_000 })));
    const { kind } = JSON.parse(JSON.stringify(error));
    expect(error).toMatchObject({ name: 'WaitTimeoutError', kind: 'audience', id });
    service.set(id, 104);
    expect(await time.until(service.client.waits.wait({ kind, id }))).toMatchObject({ id, status: { id: 104 } });
  });

  it.each([
    { kind: 'project', id: 1 },
    { kind: 'toString', id: 1 },
  ])('refuses %j, which is not a job', async (target) => {
    const wrong: { kind: 'audience'; id: number } = JSON.parse(JSON.stringify(target));
    expect(await failureOf(service.client.waits.wait(wrong))).toMatchObject({
      name: 'ConfigurationError',
      message: expect.stringContaining('must be one of audience, lookalike, estimate, activation, cohort'),
    });
  });

  it('counts waits and watches, also of clients made by `withOptions`', async () => {
    const [one = 0, two = 0] = service.add(2);
    const { client } = service;
    void silently([one, one, two]);
    void client
      .withOptions({ timeout: 1_000 })
      .audiences.wait(one)
      .catch(() => {});
    const watch = client.audiences.watch(two)[Symbol.asyncIterator]();
    await time.until(watch.next());
    expect(client.waits.size).toBe(5);
    await watch.return?.();
    expect(client.waits.size).toBe(4);
    await client.close();
    expect(client.waits.size).toBe(0);
  });
});

describe('an event', () => {
  it('ends its wait without a request, and is reported as the source', async () => {
    const [id = 0] = service.add(1);
    const seen: UpdateSource[] = [];
    const wait = service.client.audiences.wait(id, { onUpdate: (_, { source }) => seen.push(source) });
    await time.pass(400);
    expect(service.client.waits.notify(eventOf(id, 104))).toBe(true);
    expect(await wait).toMatchObject({ id, is_activation_allowed: true });
    expect(seen).toEqual(['poll', 'webhook']);
    expect(service.reads).toHaveLength(1);
  });

  it('ends every wait for its job, by an error if the job failed, also of a lookalike', async () => {
    const [failed = 0, cancelled = 0] = service.add(2);
    const { client } = service;
    const errors = [failureOf(client.audiences.wait(failed)), failureOf(client.audiences.wait(failed))];
    const stopped = failureOf(client.lookalikes.wait(cancelled));
    await time.pass(100);
    client.waits.notify(eventOf(failed, 107));
    for (const error of await Promise.all(errors)) expect(error).toMatchObject({ name: 'JobNeedsInfoError' });
    const { type, data } = eventOf(cancelled, 400);
    client.waits.notify({ type, data: { ...data, is_lookalike: true } });
    expect(await stopped).toMatchObject({ name: 'JobCancelledError', kind: 'lookalike' });
  });

  it('an event that is older than the last known state changes nothing', async () => {
    const [id = 0] = service.add(1);
    const old = eventOf(id, 404);
    await time.pass(10_000);
    service.set(id, 102);
    const wait = service.client.audiences.wait(id);
    await time.pass(1_000);
    expect(service.client.waits.notify(old)).toBe(false);
    service.set(id, 104);
    expect(await time.until(wait)).toMatchObject({ status: { id: 104 } });
  });

  it.each([
    ['that is missing', undefined],
    ['without data', { type: 'audience.completed' }],
    ['of no job', { type: 'webhook.test', data: { id: 1 } }],
    ['of another kind', { type: 'cohort.completed', data: { id: 1, status: { id: 4, name: 'Completed' } } }],
    ['of a job nobody waits for', { type: 'audience.completed', data: { id: 99 } }],
  ])('%s changes nothing', async (_, event) => {
    const [id = 0] = service.add(1);
    expect(id).toBe(1);
    void silently([id]);
    await time.pass(100);
    const passed: JobEvent = JSON.parse(JSON.stringify(event ?? null));
    expect(service.client.waits.notify(passed)).toBe(false);
    expect(service.client.waits.size).toBe(1);
  });

  it('an event whose data is incomplete makes the client fetch the resource immediately', async () => {
    const ids = service.add(10);
    const waits = silently(ids);
    await time.pass(1_900);
    service.set(3, 104);
    service.reads.length = 0;
    service.client.waits.notify({ type: 'audience.completed', data: { id: 3 } });
    expect(await time.until(waits[2] ?? Promise.reject())).toMatchObject({ id: 3, status: { id: 104 } });
    expect(service.reads[0]).toMatchObject({ id: 3 });
  });
});

describe('an event that arrives while a poll is in flight', () => {
  it('has the job read again, because that poll began before it', async () => {
    const [id = 0] = service.add(1);
    const wait = service.client.audiences.wait(id);
    await time.pass(1_000);
    const before = answer([service.show(id)]);
    service.interfere = () => new Promise((resolve) => setTimeout(() => resolve(before), 1_000));
    while (service.reads.length < 2) await time.pass(100);
    service.set(id, 104);
    service.interfere = () => undefined;
    service.client.waits.notify({ type: 'audience.completed', data: { id } });
    const notifiedAt = performance.now();
    expect(await time.until(wait)).toMatchObject({ status: { id: 104 } });
    expect(performance.now() - notifiedAt).toBeLessThan(3_000);
  });

  it('is not overwritten by the response to that poll', async () => {
    const [id = 0] = service.add(1);
    const seen: number[] = [];
    const walk = (async () => {
      for await (const { status } of service.client.audiences.watch(id)) seen.push(status.id);
    })();
    await time.pass(1_000);
    const before = answer([service.show(id)]);
    service.interfere = () => new Promise((resolve) => setTimeout(() => resolve(before), 1_000));
    while (service.reads.length < 2) await time.pass(100);
    service.interfere = () => undefined;
    service.client.waits.notify(eventOf(id, 102, 'audience.updated'));
    await time.pass(10_000);
    service.set(id, 104);
    await time.until(walk);
    expect(seen).toEqual([100, 102, 104]);
  });

  it('is delivered once to a wait that has just joined', async () => {
    const [id = 0] = service.add(1);
    void silently([id]);
    await time.pass(400);
    const seen: string[] = [];
    void service.client.audiences.wait(id, { onUpdate: (_, { source }) => seen.push(source) }).catch(() => {});
    service.client.waits.notify(eventOf(id, 102, 'audience.updated'));
    await time.pass(100);
    expect(seen).toEqual(['webhook']);
  });
});

describe('while webhooks arrive', () => {
  const readsIn = async (ms: number): Promise<number> => {
    service.reads.length = 0;
    await time.pass(ms);
    return service.reads.length;
  };

  it('waits poll once a minute; they return to normal when jobs end without an event', async () => {
    const ids = service.add(10);
    const waits = silently(ids);
    expect(await readsIn(5 * MINUTE)).toBeGreaterThan(120);
    service.client.waits.notify(eventOf(1, 104));
    expect(await readsIn(10 * MINUTE)).toBeLessThanOrEqual(11);
    // Polling finds the end that one lost event did not report, and stays slow.
    service.set(2, 104);
    await time.until(waits[1] ?? Promise.reject());
    expect(await readsIn(10 * MINUTE)).toBeLessThanOrEqual(11);
    service.client.waits.notify(eventOf(3, 104));
    for (const id of [4, 5]) service.set(id, 104);
    await time.pass(70_000);
    expect(await readsIn(5 * MINUTE)).toBeGreaterThan(120);
    service.client.waits.notify(eventOf(6, 104));
    expect(await readsIn(10 * MINUTE)).toBeLessThanOrEqual(11);
  });

  it('waits poll as often as without webhooks while these report progress only', async () => {
    void silently(service.add(10));
    await time.pass(1_000);
    expect(service.client.waits.notify(eventOf(1, 102, 'audience.updated'))).toBe(true);
    expect(await readsIn(5 * MINUTE)).toBeGreaterThan(100);
  });

  it('a new wait polls immediately', async () => {
    const [one = 0, two = 0] = service.add(2);
    void silently([one]);
    await time.pass(1_000);
    service.client.waits.notify(eventOf(one, 104));
    void silently([two]);
    expect(await readsIn(100)).toBe(1);
  });

  it('waits poll once a minute for an hour after the last one', async () => {
    void silently(service.add(10));
    await time.pass(1_000);
    service.client.waits.notify(eventOf(1, 104));
    await time.pass(50 * MINUTE);
    expect(await readsIn(5 * MINUTE)).toBeLessThanOrEqual(6);
    await time.pass(6 * MINUTE);
    expect(await readsIn(5 * MINUTE)).toBeGreaterThan(120);
  });
});
