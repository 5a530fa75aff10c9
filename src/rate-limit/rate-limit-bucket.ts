import { onAbort, startTimer } from '../util/abort.ts';
import { type SlidingLog, unlimited } from './sliding-window-log.ts';

/** Which queue of a bucket a request stands in. */
export type Priority = 'foreground' | 'background';

/** A request for a slot. */
interface LaneRequest {
  readonly priority: Priority;
  readonly signal?: AbortSignal | undefined;
  readonly maxWait?: number | undefined;
}

interface Waiter {
  readonly since: number;
  readonly maxWait: number;
  grant(): void;
  refuse(reason: unknown): void;
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

const GRANTED = Promise.resolve();

/** Background requests are served at least this often. Milliseconds. */
const BACKGROUND_TURN = 15_000;

/** The slots of one bucket of one token, handed out one by one. */
export class Lane {
  readonly #log: SlidingLog;
  readonly #queues = { foreground: new Set<Waiter>(), background: new Set<Waiter>() };
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #backgroundServed = Number.NEGATIVE_INFINITY;
  #taking = false;
  #stopTimer: (() => void) | undefined;

  constructor(log: SlidingLog) {
    this.#log = log;
  }

  /** Resolves when the request may be sent at once. */
  acquire({ priority, signal, maxWait = Number.POSITIVE_INFINITY }: LaneRequest): Promise<void> {
    if (this.#log === unlimited && this.#paused() === 0 && !signal?.aborted) return GRANTED;
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      if (this.#paused() > maxWait) return reject(new PauseTooLongError(this.#paused()));
      const queue = this.#queues[priority];
      const leave = (): void => {
        queue.delete(waiter);
        off?.();
        if (this.#empty()) this.#rest();
      };
      const waiter: Waiter = {
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
      const off = signal && onAbort(signal, () => waiter.refuse(signal.reason));
      queue.add(waiter);
      if (!this.#taking && !this.#stopTimer) void this.#pump();
    });
  }

  /** Holds the lane for `ms`, and refuses at once who would not wait so long. */
  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, performance.now() + ms);
    const left = this.#paused();
    for (const queue of Object.values(this.#queues)) {
      for (const waiter of queue) if (left > waiter.maxWait) waiter.refuse(new PauseTooLongError(left));
    }
  }

  /** Nobody waits, nothing is paused, and no slot counts any more. */
  idle(): boolean {
    return this.#empty() && this.#paused() === 0 && this.#log.empty();
  }

  /** Takes one slot at a time; sleeps, abortably, while there is none. */
  async #pump(): Promise<void> {
    while (!this.#empty()) {
      const wait = Math.max(this.#paused(), this.#log.wait());
      if (wait > 0) {
        this.#stopTimer = startTimer(wait, () => this.#wake());
        return;
      }
      this.#taking = true;
      const permits = await this.#log.take(this.#queues.foreground.size + this.#queues.background.size);
      this.#taking = false;
      // A slot taken before a pause would be used after it, too close to later ones: let it go.
      if (this.#paused() === 0) for (let n = 0; n < permits; n++) this.#serve();
    }
  }

  #serve(): void {
    const now = performance.now();
    const [first] = this.#queues.foreground;
    const [second] = this.#queues.background;
    const overdue = second && now - Math.max(second.since, this.#backgroundServed) >= BACKGROUND_TURN;
    const waiter = overdue ? second : (first ?? second);
    if (waiter !== undefined && waiter === second) this.#backgroundServed = now;
    waiter?.grant();
  }

  #rest(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }

  #wake(): void {
    this.#rest();
    void this.#pump();
  }

  #empty(): boolean {
    return this.#queues.foreground.size + this.#queues.background.size === 0;
  }

  #paused(): number {
    return Math.max(0, this.#pausedUntil - performance.now());
  }
}
