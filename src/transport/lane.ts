import pThrottle from 'p-throttle';
import type { RateLimit } from '../limits.ts';
import { startTimer } from './signal.ts';

/** Which queue of a bucket a request stands in. */
export type Priority = 'foreground' | 'background';

interface Waiter {
  readonly priority: Priority;
  readonly since: number;
  readonly maxWait: number;
  grant(): void;
  refuse(reason: unknown): void;
}

/** What a lane is asked for. */
interface LaneRequest {
  readonly priority: Priority;
  readonly signal?: AbortSignal;
  readonly maxWait?: number;
}

/** A bucket is paused for longer than the call is willing to wait. */
export class PauseTooLongError extends Error {
  readonly retryAt: Date;
  constructor(ms: number) {
    super('The bucket is paused for longer than the call may wait.');
    this.name = 'PauseTooLongError';
    this.retryAt = new Date(Date.now() + ms);
  }
}

/** The slots of one bucket of one token, handed out one by one. */
export interface Lane {
  acquire(request: LaneRequest): Promise<void>;
  pause(ms: number): void;
  /** Nobody waits, nothing is paused, and no slot counts any more. */
  idle(): boolean;
}

/** Background requests are served at least this often. Milliseconds. */
const BACKGROUND_TURN = 15_000;

/** Requests stamped when sent may arrive closer together than they left: the interval is widened. */
const MARGIN_SHARE = 0.02;
const LEAST_MARGIN = 100;

/** The interval the client keeps, so that the service sees its own kept. */
export function widened(interval: number): number {
  return interval + Math.max(interval * MARGIN_SHARE, LEAST_MARGIN);
}

/** The sliding log of one lane: when the next slot is free, and the taking of it. */
interface Log {
  /** Milliseconds until a slot is free. */
  wait(): number;
  take(): Promise<void>;
}

const UNLIMITED: Log = { wait: () => 0, take: () => Promise.resolve() };

/**
 * p-throttle holds the log, on the wall clock. Its waits cannot be given up, so it is asked only
 * when a slot is free, which the times of the last grants tell on the monotonic clock.
 */
function createLog({ limit, interval }: RateLimit): Log {
  const span = widened(interval);
  const fresh = () => pThrottle({ limit, interval: span, strict: true, weight: () => 1 })(() => {});
  const grants: number[] = [];
  let throttle = fresh();
  let lastWall = Date.now();
  let next = 0;
  return {
    wait: () => Math.max(0, (grants[next] ?? Number.NEGATIVE_INFINITY) + span - performance.now()),
    async take() {
      const wall = Date.now();
      // A clock stepped back leaves slots in p-throttle's future that would block it later.
      if (wall < lastWall) throttle = fresh();
      lastWall = wall;
      await throttle();
      grants[next] = performance.now();
      next = (next + 1) % limit;
    },
  };
}

/** A lane for `rate`, or one that only pauses. */
export function createLane(rate: RateLimit | undefined): Lane {
  const log = rate ? createLog(rate) : UNLIMITED;
  const queues = { foreground: new Set<Waiter>(), background: new Set<Waiter>() };
  let pausedUntil = Number.NEGATIVE_INFINITY;
  let lastUse = Number.NEGATIVE_INFINITY;
  let backgroundServed = Number.NEGATIVE_INFINITY;
  let taking = false;
  let stopTimer: (() => void) | undefined;

  const empty = (): boolean => queues.foreground.size + queues.background.size === 0;
  const paused = (): number => Math.max(0, pausedUntil - performance.now());

  function next(): Waiter | undefined {
    const [first] = queues.foreground;
    const [second] = queues.background;
    const overdue = second && performance.now() - Math.max(second.since, backgroundServed) >= BACKGROUND_TURN;
    return overdue ? second : (first ?? second);
  }

  function serve(): void {
    const waiter = next();
    if (!waiter) return;
    lastUse = performance.now();
    if (waiter.priority === 'background') backgroundServed = lastUse;
    waiter.grant();
  }

  function rest(): void {
    stopTimer?.();
    stopTimer = undefined;
  }

  function wake(): void {
    rest();
    void pump();
  }

  /** Takes one slot at a time; sleeps, abortably, while there is none. */
  async function pump(): Promise<void> {
    if (taking || stopTimer) return;
    while (!empty()) {
      const wait = Math.max(paused(), log.wait());
      if (wait > 0) {
        stopTimer = startTimer(wait, wake);
        return;
      }
      taking = true;
      await log.take();
      taking = false;
      // A slot taken before a pause would be used after it, too close to later ones: let it go.
      if (paused() === 0) serve();
    }
  }

  function acquire({ priority, signal, maxWait = Number.POSITIVE_INFINITY }: LaneRequest): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      if (paused() > maxWait) return reject(new PauseTooLongError(paused()));
      const leave = (): void => {
        queues[priority].delete(waiter);
        signal?.removeEventListener('abort', abort);
        if (empty()) rest();
      };
      const abort = (): void => waiter.refuse(signal?.reason);
      const waiter: Waiter = {
        priority,
        since: performance.now(),
        maxWait,
        grant() {
          leave();
          resolve();
        },
        refuse(reason) {
          leave();
          reject(reason);
        },
      };
      signal?.addEventListener('abort', abort, { once: true });
      queues[priority].add(waiter);
      void pump();
    });
  }

  function pause(ms: number): void {
    pausedUntil = Math.max(pausedUntil, performance.now() + ms);
    const left = paused();
    for (const queue of Object.values(queues)) {
      for (const waiter of queue) if (left > waiter.maxWait) waiter.refuse(new PauseTooLongError(left));
    }
  }

  const idle = (): boolean =>
    empty() && paused() === 0 && performance.now() - lastUse > (rate ? widened(rate.interval) : 0);

  return { acquire, pause, idle };
}
