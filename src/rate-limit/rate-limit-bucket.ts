import type { RateLimit } from '../spec/limits.ts';
import { onAbort, startTimer } from '../util/abort.ts';
import { createSlidingWindowLog, type SlidingWindowLog, unlimitedLog } from './sliding-window-log.ts';

/** The queue of a rate bucket that a request waits in. */
export type Priority = 'foreground' | 'background';

/** A request for a permit. */
interface PermitRequest {
  readonly priority: Priority;
  readonly signal?: AbortSignal | undefined;
  readonly maxWait?: number | undefined;
}

interface QueuedRequest {
  readonly since: number;
  readonly maxWait: number;
  grant(): void;
  reject(reason: unknown): void;
}

/** A bucket is paused for longer than the call may wait. */
export class PauseTooLongError extends Error {
  readonly retryAt: Date;
  constructor(ms: number) {
    super('The rate bucket is paused for longer than the call may wait.');
    this.name = 'PauseTooLongError';
    this.retryAt = new Date(Date.now() + ms);
  }
}

/** Maximum time between two permits of the background queue while the foreground queue is never empty. Milliseconds. */
const MAX_BACKGROUND_DELAY_MS = 15_000;

/** The rate bucket of one token: grants permits one by one, foreground requests first. */
export class RateLimitBucket {
  readonly #log: SlidingWindowLog;
  readonly #queues = { foreground: new Set<QueuedRequest>(), background: new Set<QueuedRequest>() };
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #backgroundGrantedAt = Number.NEGATIVE_INFINITY;
  #isTaking = false;
  #stopTimer: (() => void) | undefined;

  /** Without a rate, only pauses limit it. */
  constructor(rate: RateLimit | undefined) {
    this.#log = rate ? createSlidingWindowLog(rate) : unlimitedLog;
  }

  /** Resolves when the request may be sent immediately. */
  acquire({ priority, signal, maxWait = Number.POSITIVE_INFINITY }: PermitRequest): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      if (this.#pauseLeft > maxWait) return reject(new PauseTooLongError(this.#pauseLeft));
      const queue = this.#queues[priority];
      const leave = (): void => {
        queue.delete(request);
        unsubscribe?.();
        if (this.#isEmpty) this.#clearTimer();
      };
      const request: QueuedRequest = {
        since: performance.now(),
        maxWait,
        grant() {
          leave();
          resolve();
        },
        reject(reason) {
          leave();
          reject(reason);
        },
      };
      const unsubscribe = signal && onAbort(signal, () => request.reject(signal.reason));
      queue.add(request);
      if (!this.#isTaking && !this.#stopTimer) void this.#pump();
    });
  }

  /** Pauses the bucket for `ms`; requests that may not wait so long are rejected immediately. */
  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, performance.now() + ms);
    const left = this.#pauseLeft;
    for (const queue of Object.values(this.#queues)) {
      for (const request of queue) if (left > request.maxWait) request.reject(new PauseTooLongError(left));
    }
  }

  /** Whether no request waits, no pause holds, and no permit counts any more. */
  get isIdle(): boolean {
    return this.#isEmpty && this.#pauseLeft === 0 && this.#log.isEmpty();
  }

  /** Takes one permit at a time, and sleeps while there is none. */
  async #pump(): Promise<void> {
    while (!this.#isEmpty) {
      const wait = Math.max(this.#pauseLeft, this.#log.wait());
      if (wait > 0) {
        this.#stopTimer = startTimer(wait, () => {
          this.#clearTimer();
          void this.#pump();
        });
        return;
      }
      this.#isTaking = true;
      await this.#log.take();
      this.#isTaking = false;
      // Discard a permit acquired before the pause: using it afterwards could exceed the limit.
      if (this.#pauseLeft === 0) this.#grantNext();
    }
  }

  #grantNext(): void {
    const now = performance.now();
    const [foreground] = this.#queues.foreground;
    const [background] = this.#queues.background;
    const waitingSince = background && Math.max(background.since, this.#backgroundGrantedAt);
    const isOverdue = waitingSince !== undefined && now - waitingSince >= MAX_BACKGROUND_DELAY_MS;
    const next = isOverdue ? background : (foreground ?? background);
    if (next !== undefined && next === background) this.#backgroundGrantedAt = now;
    next?.grant();
  }

  #clearTimer(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }

  get #isEmpty(): boolean {
    return this.#queues.foreground.size + this.#queues.background.size === 0;
  }

  get #pauseLeft(): number {
    return Math.max(0, this.#pausedUntil - performance.now());
  }
}
