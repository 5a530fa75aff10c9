import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { memoryDedupe } from '../../src/webhooks/index.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const MINUTE = 60_000;

describe('`memoryDedupe`', () => {
  it('lets one caller claim an event and remembers it for 24 hours when it is done', async () => {
    const store = memoryDedupe();
    const claimed = await store.claim('evt_1', MINUTE);
    if (typeof claimed === 'string') throw new Error('The event must be free.');
    expect(await store.claim('evt_1', MINUTE)).toBe('busy');
    expect(await store.claim('evt_2', MINUTE)).toEqual({ lease: expect.any(String) });
    await store.complete('evt_1', claimed.lease);
    expect(await store.claim('evt_1', MINUTE)).toBe('done');
    vi.advanceTimersByTime(24 * 60 * MINUTE - 1);
    expect(await store.claim('evt_1', MINUTE)).toBe('done');
    vi.advanceTimersByTime(1);
    expect(await store.claim('evt_1', MINUTE)).toEqual({ lease: expect.any(String) });
  });

  it('lets another caller claim an event that was released or whose lease has ended, and ignores the earlier lease', async () => {
    const store = memoryDedupe();
    const first = await store.claim('evt_1', MINUTE);
    if (typeof first === 'string') throw new Error('The event must be free.');
    await store.release('evt_1', first.lease);
    const second = await store.claim('evt_1', MINUTE);
    if (typeof second === 'string') throw new Error('The event was released.');
    await store.complete('evt_1', first.lease);
    await store.release('evt_1', first.lease);
    expect(await store.claim('evt_1', MINUTE)).toBe('busy');
    vi.advanceTimersByTime(MINUTE);
    expect(await store.claim('evt_1', MINUTE)).toEqual({ lease: expect.any(String) });
    await store.complete('evt_1', second.lease);
    expect(await store.claim('evt_1', MINUTE)).toBe('busy');
  });

  it('removes the oldest completed event above `max`', async () => {
    const store = memoryDedupe({ max: 3 });
    for (const id of ['1', '2', '3', '4']) {
      const claimed = await store.claim(id, MINUTE);
      if (typeof claimed !== 'string') await store.complete(id, claimed.lease);
    }
    expect(await store.claim('2', MINUTE)).toBe('done');
    expect(await store.claim('4', MINUTE)).toBe('done');
    expect(await store.claim('1', MINUTE)).toEqual({ lease: expect.any(String) });
  });

  it('never removes an event that is claimed', async () => {
    const store = memoryDedupe({ max: 2 });
    for (const id of ['1', '2', '3', '4']) await store.claim(id, MINUTE);
    for (const id of ['1', '2', '3', '4']) expect(await store.claim(id, MINUTE)).toBe('busy');
  });
});
