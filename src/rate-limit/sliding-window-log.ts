import pThrottle from 'p-throttle';
import type { RateLimit } from '../spec/limits.ts';

/** Requests may arrive closer together than they were sent, so the client keeps a longer interval than the service. */
const MARGIN_RATIO = 0.02;
const MIN_MARGIN_MS = 100;

/** Returns the interval that the client keeps, in milliseconds. */
export function withMargin(interval: number): number {
  return interval + Math.max(interval * MARGIN_RATIO, MIN_MARGIN_MS);
}

/** The permits of a rate bucket within its interval. */
export interface SlidingWindowLog {
  /** Returns the milliseconds until a permit is free. */
  wait(): number;
  take(): Promise<void>;
  /** Whether no permit counts any more. */
  isEmpty(): boolean;
}

/** The log of a bucket without a limit. */
export const unlimitedLog: SlidingWindowLog = { wait: () => 0, take: () => Promise.resolve(), isEmpty: () => true };

/**
 * Creates a log on p-throttle. A wait in p-throttle cannot be aborted, so it is called only when a permit is free by
 * the times of the last permits, which are kept on the monotonic clock.
 */
export function createSlidingWindowLog({ limit, interval }: RateLimit): SlidingWindowLog {
  const span = withMargin(interval);
  const createThrottle = () => pThrottle({ limit, interval: span, strict: true, weight: () => 1 })(() => {});
  const takenAt: number[] = [];
  let throttle = createThrottle();
  let lastWallTime = Date.now();
  let next = 0;
  let burst = 0;

  /** Requests of one turn of the event loop are sent by its end, which is when their permits begin to count. */
  function stampBurst(): void {
    const sentAt = performance.now();
    for (; burst > 0; burst--) takenAt[(next - burst + limit) % limit] = sentAt;
  }

  return {
    wait: () => Math.max(0, (takenAt[next] ?? Number.NEGATIVE_INFINITY) + span - performance.now()),
    isEmpty: () => performance.now() - (takenAt.at(next - 1) ?? Number.NEGATIVE_INFINITY) > span,
    async take() {
      const wallTime = Date.now();
      // p-throttle counts by the wall clock: after a step back its permits would lie in the future.
      if (wallTime < lastWallTime) throttle = createThrottle();
      lastWallTime = wallTime;
      await throttle();
      takenAt[next] = performance.now();
      next = (next + 1) % limit;
      if (burst === 0) setTimeout(stampBurst, 0);
      burst = Math.min(burst + 1, limit);
    },
  };
}
