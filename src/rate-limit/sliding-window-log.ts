import pThrottle from 'p-throttle';
import type { RateLimit } from '../spec/limits.ts';

/** Requests stamped when sent may arrive closer together than they left: the interval is widened. */
const MARGIN_SHARE = 0.02;
const LEAST_MARGIN = 100;

/** The interval the client keeps, so that the service sees its own kept. Milliseconds. */
export function widened(interval: number): number {
  return interval + Math.max(interval * MARGIN_SHARE, LEAST_MARGIN);
}

/** When the next slot of a bucket is free, and the taking of it. */
export interface SlidingLog {
  /** Milliseconds until a slot is free. */
  wait(): number;
  /** Takes permits for at most `waiting` callers; resolves with their number, 0 if there is none yet. */
  take(waiting?: number): Promise<number>;
  /** No slot taken counts any more. */
  empty(): boolean;
}

/** The log of a bucket without a limit. */
export const unlimited: SlidingLog = { wait: () => 0, take: () => Promise.resolve(1), empty: () => true };

/**
 * p-throttle holds the log, on the wall clock. Its waits cannot be given up, so it is asked only
 * when a slot is free, which the times of the last grants tell on the monotonic clock.
 */
export function createSlidingLog({ limit, interval }: RateLimit): SlidingLog {
  const span = widened(interval);
  const fresh = () => pThrottle({ limit, interval: span, strict: true, weight: () => 1 })(() => {});
  const grants: number[] = [];
  let throttle = fresh();
  let lastWall = Date.now();
  let next = 0;
  let burst = 0;

  /** Requests granted in one turn of the event loop leave by its end: that is when their slots begin. */
  function stamp(): void {
    const left = performance.now();
    for (; burst > 0; burst--) grants[(next - burst + limit) % limit] = left;
  }

  return {
    wait: () => Math.max(0, (grants[next] ?? Number.NEGATIVE_INFINITY) + span - performance.now()),
    empty: () => performance.now() - (grants.at(next - 1) ?? Number.NEGATIVE_INFINITY) > span,
    async take() {
      const wall = Date.now();
      // A clock stepped back leaves slots in p-throttle's future that would block it later.
      if (wall < lastWall) throttle = fresh();
      lastWall = wall;
      await throttle();
      grants[next] = performance.now();
      next = (next + 1) % limit;
      if (burst === 0) setTimeout(stamp, 0);
      burst = Math.min(burst + 1, limit);
      return 1;
    },
  };
}
