import { describe, expect, it } from 'vitest';
import type { AudienceClient, ClientOptions, RequestEvent, WaitEvent } from '../../../src/index.ts';
import { inVirtualTime } from '../../support/in-virtual-time.ts';
import { startJobService } from '../../support/job-service.ts';
import { failureOf } from '../../support/server.ts';

const ofType = <Type extends WaitEvent['type']>(events: readonly WaitEvent[], type: Type) =>
  events.filter((event): event is Extract<WaitEvent, { type: Type }> => event.type === type);

describe('in virtual time', () => {
  const time = inVirtualTime();

  /** Starts a service and a client that records the events of its waits, and the requests of its polls. */
  function start(options: ClientOptions = {}) {
    const events: WaitEvent[] = [];
    const requests: RequestEvent[] = [];
    const service = startJobService({
      client: { onWait: (event) => events.push(event), onRequest: (event) => requests.push(event), ...options },
    });
    return { ...service, events, requests };
  }

  describe('onWait', () => {
    it('reports the start, each poll with its call, each change, and the end of a wait', async () => {
      const { client, add, set, events, requests } = start();
      const [id = 0] = add(1);
      const waiting = client.audiences.wait(id);
      await time.pass(3_000);
      set(id, 101);
      await time.pass(5_000);
      set(id, 104);
      await time.until(waiting);
      const { waitId = '' } = events[0] ?? {};
      expect(waitId).toMatch(/^wait_\d+$/);
      expect(events.every((event) => event.waitId === waitId && event.kind === 'audience' && event.id === id)).toBe(
        true,
      );
      expect(events[0]?.type).toBe('started');
      expect(events.at(-1)?.type).toBe('ended');
      expect(ofType(events, 'changed').map(({ from, status, source }) => [from, status, source])).toEqual([
        [undefined, 100, 'poll'],
        [100, 101, 'poll'],
        [101, 104, 'poll'],
      ]);
      const polled = ofType(events, 'polled');
      expect(polled.map(({ callId }) => callId)).toEqual(requests.map(({ callId }) => callId));
      expect(requests.every(({ isPoll }) => isPoll)).toBe(true);
      expect(ofType(events, 'ended')).toMatchObject([{ outcome: 'completed', status: 104, source: 'poll' }]);
    });

    it('reports a poll of the list to all waits that it serves', async () => {
      const { client, add, events, requests, set } = start();
      const ids = add(3);
      const waiting = Promise.all(ids.map((id) => client.audiences.wait(id)));
      await time.pass(10_000);
      for (const id of ids) set(id, 104);
      await time.until(waiting);
      const polled = ofType(events, 'polled');
      expect(new Set(polled.map(({ source }) => source))).toEqual(new Set(['list']));
      for (const { callId } of requests) expect(polled.filter((event) => event.callId === callId)).toHaveLength(3);
      expect(new Set(ofType(events, 'ended').map(({ waitId }) => waitId)).size).toBe(3);
    });

    it.each([
      [107, 'needs-info'],
      [422, 'failed'],
    ] as const)('reports how a job has ended: %i is %s', async (status, outcome) => {
      const { client, add, set, events } = start();
      const [id = 0] = add(1);
      set(id, status);
      await time.until(failureOf(client.audiences.wait(id)));
      expect(ofType(events, 'ended')).toMatchObject([{ outcome, status }]);
    });

    it('reports a timeout, an abort, a watch that is left, a failed poll and a closed client, each once', async () => {
      const { client, add, events, remove } = start();
      const [id = 0, gone = 0] = add(2);
      await time.until(failureOf(client.audiences.wait(id, { timeout: 5_000 })));
      const controller = new AbortController();
      const aborted = failureOf(client.audiences.wait(id, { signal: controller.signal }));
      await time.pass(1_000);
      controller.abort();
      await aborted;
      const watch = client.audiences.watch(id)[Symbol.asyncIterator]();
      await time.until(watch.next());
      await watch.return?.();
      remove(gone);
      await time.until(failureOf(client.audiences.wait(gone)));
      const closed = failureOf(client.audiences.wait(id));
      await time.pass(1_000);
      await client.close();
      await closed;
      await failureOf(client.audiences.wait(id));
      await failureOf(client.audiences.wait(id, { timeout: 0 }));
      expect(ofType(events, 'ended').map(({ outcome }) => outcome)).toEqual([
        'timeout',
        'aborted',
        'aborted',
        'failure',
        'failure',
        'failure',
        'failure',
      ]);
      expect(ofType(events, 'started')).toHaveLength(7);
    });

    it('reports the end by a webhook, without a poll', async () => {
      const { client, add, set, show, events } = start();
      const [id = 0] = add(1);
      const waiting = client.audiences.wait(id);
      await time.pass(2_000);
      set(id, 104);
      client.waits.notify({ type: 'audience.completed', data: show(id) });
      await time.until(waiting);
      const [ended] = ofType(events, 'ended');
      expect(ended).toMatchObject({ outcome: 'completed', source: 'webhook' });
      expect(ended?.lateness).toBeLessThanOrEqual(1_000);
    });

    it('reports how late the end was noticed: by `updated_at`, at most since the job was last seen running', async () => {
      const { client, add, set, events } = start();
      const [id = 0] = add(1);
      const waiting = client.audiences.wait(id);
      await time.pass(600_000);
      const endedAt = performance.now();
      set(id, 104);
      await time.until(waiting);
      const late = performance.now() - endedAt;
      const [ended] = ofType(events, 'ended');
      expect(late).toBeGreaterThan(0);
      expect(ended?.lateness).toBeGreaterThanOrEqual(late);
      expect(ended?.lateness).toBeLessThan(late + 1_000);
    });

    it('takes a wrong time zone or clock of the service for at most the time between two polls', async () => {
      const { client, add, set, events } = start({ serverTimeZone: 'America/New_York' });
      const [id = 0] = add(1);
      const waiting = client.audiences.wait(id);
      await time.pass(60_000);
      set(id, 104);
      await time.until(waiting);
      expect(ofType(events, 'ended')[0]?.lateness).toBe(0);
      const {
        client: behind,
        add: addBehind,
        set: setBehind,
        events: others,
      } = start({ serverTimeZone: 'Asia/Tokyo' });
      const [other = 0] = addBehind(1);
      const waitingBehind = behind.audiences.wait(other);
      await time.pass(60_000);
      setBehind(other, 104);
      await time.until(waitingBehind);
      const [ended] = ofType(others, 'ended');
      expect(ended?.lateness).toBeGreaterThan(0);
      expect(ended?.lateness).toBeLessThan(10_000);
    });

    it('does not take a late event for a poll that shows the job running', async () => {
      const { client, add, set, show, events } = start({ serverTimeZone: 'Asia/Tokyo' });
      const [id = 0] = add(1);
      const waiting = client.audiences.wait(id);
      await time.pass(60_000);
      const running = { ...show(id), status: { id: 101, name: 'Building' } };
      set(id, 104);
      const endedAt = performance.now();
      await time.pass(900);
      client.waits.notify({ type: 'audience.completed', data: running });
      await time.until(waiting);
      expect(ofType(events, 'ended')[0]?.lateness).toBeGreaterThanOrEqual(performance.now() - endedAt);
    });

    it.each(['started', 'polled', 'changed'] as const)(
      'an `onWait` hook that aborts the wait when it is %s ends the wait',
      async (type) => {
        const controller = new AbortController();
        const seen: WaitEvent['type'][] = [];
        const updates: unknown[] = [];
        const { client, add } = start({
          onWait(event) {
            seen.push(event.type);
            if (event.type === type) controller.abort();
          },
        });
        const [id = 0] = add(1);
        const { signal } = controller;
        const waiting = failureOf(client.audiences.wait(id, { signal, onUpdate: (update) => updates.push(update) }));
        expect(await time.until(waiting)).toBe(signal.reason);
        expect(seen.at(-1)).toBe('ended');
        expect(seen.filter((one) => one === 'ended')).toHaveLength(1);
        expect(updates).toEqual([]);
      },
    );

    it('an `onWait` hook that throws is logged and harms no wait', async () => {
      const lines: string[] = [];
      const logger = { error: (line: string) => lines.push(line), warn() {}, info() {}, debug() {} };
      const { client, add, set } = start({
        logger,
        logLevel: 'error',
        onWait: () => {
          throw new Error('broken');
        },
      });
      const [id = 0] = add(1);
      set(id, 104);
      await time.until(client.audiences.wait(id));
      expect(lines).toEqual(Array(4).fill('`onWait` threw: broken'));
    });
  });

  it('a derived client reports the waits that it starts', async () => {
    const { client, add, set } = start();
    const events: WaitEvent[] = [];
    const derived: AudienceClient = client.withOptions({ onWait: (event) => events.push(event) });
    const [id = 0] = add(1);
    set(id, 104);
    await time.until(Promise.all([client.audiences.wait(id), derived.audiences.wait(id)]));
    expect(ofType(events, 'ended')).toHaveLength(1);
  });
});
