import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { BucketUse } from '../../src/otel/bucket-use.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

it('the use of a bucket is the requests of the last interval, as a share of the limit', () => {
  const use = new BucketUse();
  const rate = { limit: 4, interval: 1_000 };
  for (let request = 0; request < 3; request++) {
    use.add('read', rate);
    vi.advanceTimersByTime(400);
  }
  expect([...use.shares()]).toEqual([['read', 0.5]]);
  vi.advanceTimersByTime(1_000);
  expect([...use.shares()]).toEqual([['read', 0]]);
});

it('the use of a bucket is that of the limit that is used most, and twice the limit at most', () => {
  const use = new BucketUse();
  use.add('read', { limit: 100, interval: 1_000 });
  for (let request = 0; request < 9; request++) use.add('read', { limit: 2, interval: 1_000 });
  use.add('write', { limit: 0, interval: 1_000 });
  expect([...use.shares()]).toEqual([
    ['read', 2],
    ['write', 1],
  ]);
});
