import type { Bucket, RateLimit, RateLimits } from '../../spec/limits.ts';
import type { Optional } from '../../spec/wire-values.ts';
import { onAbort, sleep } from '../../util/abort.ts';
import { mergeRateLimits } from '../../util/rate-limits.ts';
import type { AcquireOptions, ClientLimiter, PermitLog, Priority, RateLimiter } from './permits.ts';

/**
 * Creates a limiter to share among clients of this process that use the same token. Without it, each client counts its
 * requests separately. For several processes, use `redisLimiter`.
 *
 * @param rateLimits Limits of the service. A bucket that you set replaces its default.
 * @throws {ConfigurationError} for an unknown bucket or an invalid limit.
 * @example
 * const limiter = memoryLimiter();
 * const [one, other] = [new AudienceClient({ token, limiter }), new AudienceClient({ token, limiter })];
 */
export function memoryLimiter(rateLimits: Optional<RateLimits> = {}): RateLimiter {
  const { acquire, pause } = createRateLimiter(mergeRateLimits(rateLimits));
  return { acquire, pause };
}

/** Creates the limiter of one process. With `false`, it grants every permit immediately, except during a pause. */
export function createRateLimiter(limits: RateLimits | false): ClientLimiter {
  return limiterOf((bucket) => (limits === false ? undefined : new SlidingWindowLog(limits[bucket])));
}

/**
 * Creates the permit log of a bucket. Without a log, only pauses limit the bucket. The log calls `pause` when another
 * process has paused the bucket.
 */
type CreateLog = (bucket: Bucket, scope: string, pause: (ms: number) => void) => PermitLog | undefined;

/** Creates a limiter whose buckets acquire their permits from logs. */
export function limiterOf(createLog: CreateLog): ClientLimiter {
  const buckets = new Map<string, { readonly bucket: RateLimitBucket; readonly log: PermitLog | undefined }>();

  function entryOf(name: Bucket, scope: string) {
    const key = `${name} ${scope}`;
    const existing = buckets.get(key);
    if (existing) return existing;
    // Delete idle buckets, which hold no state: each new token adds buckets.
    for (const [other, { bucket }] of buckets) if (bucket.isIdle) buckets.delete(other);
    const log = createLog(name, scope, (ms) => bucket.pause(ms));
    const bucket = new RateLimitBucket(log);
    const entry = { bucket, log };
    buckets.set(key, entry);
    return entry;
  }

  return {
    acquire: (name, { scope, ...request }) => entryOf(name, scope).bucket.acquire(request),
    tryAcquire: (name, scope) => entryOf(name, scope).bucket.tryAcquire(),
    pause(name, scope, ms) {
      const { bucket, log } = entryOf(name, scope);
      bucket.pause(ms);
      // Call the log here instead of in `bucket.pause`, which the log also calls. Otherwise, processes would pass a
      // pause back and forth.
      log?.pause?.(ms);
    },
  };
}

/** Error of a request whose `maxWait` is shorter than the pause of its bucket. */
export class PauseTooLongError extends Error {
  readonly retryAt: Date;
  constructor(ms: number) {
    super('The rate bucket is paused for longer than the call may wait.');
    this.name = 'PauseTooLongError';
    this.retryAt = new Date(Date.now() + ms);
  }
}

interface QueuedRequest {
  readonly since: number;
  readonly maxWait: number;
  /** Ends the sleep of the request, so that it checks for a permit. */
  wake(): void;
  /** Removes the request from its queue. */
  leave(): void;
  resolve(): void;
  reject(reason: unknown): void;
}

function rejectWith(request: QueuedRequest, reason: unknown): void {
  request.leave();
  request.reject(reason);
}

/** Maximum milliseconds between two permits for background requests while foreground requests are waiting. */
const MAX_BACKGROUND_DELAY_MS = 15_000;

/** Minimum milliseconds that a waiting request sleeps until its next check, unless it is woken earlier. */
const MIN_SLEEP_MS = 10;

/**
 * The rate bucket of one scope. Grants permits in order: to foreground requests first, but every 15 seconds to a
 * waiting background request.
 *
 * Each waiting request has its own timer, which grants the free permits to the first requests of the queues. No request
 * depends on the timer of another request: when a Worker request ends, the runtime drops its timers.
 */
export class RateLimitBucket {
  readonly #log: PermitLog | undefined;
  readonly #queues = { foreground: new Set<QueuedRequest>(), background: new Set<QueuedRequest>() };
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #backgroundGrantedAt = Number.NEGATIVE_INFINITY;
  /** Number of requests that have left each queue. */
  readonly #departed = { foreground: 0, background: 0 };
  /** Number of requests in both queues. */
  #waiting = 0;
  #isTaking = false;

  /** Without a log, only pauses limit the bucket. */
  constructor(log: PermitLog | undefined) {
    this.#log = log;
  }

  /** If a permit is free and no request waits, acquires the permit and returns true. */
  tryAcquire(): boolean {
    return this.#waiting === 0 && this.#pausedUntil <= performance.now() && this.#log?.takeFree?.() === true;
  }

  /** Resolves when the client may send the request. */
  async acquire({
    priority,
    signal,
    maxWait = Number.POSITIVE_INFINITY,
    onQueued,
  }: Omit<AcquireOptions, 'scope'>): Promise<void> {
    signal?.throwIfAborted();
    if (this.tryAcquire()) return;
    const since = performance.now();
    const pause = this.#pausedUntil - since;
    if (pause > maxWait) throw new PauseTooLongError(pause);
    await new Promise<void>((resolve, reject) => {
      const queue = this.#queues[priority];
      const leave = (): void => {
        queue.delete(request);
        this.#departed[priority]++;
        this.#waiting--;
        unsubscribe?.();
        request.wake();
      };
      const abort = (): void => {
        rejectWith(request, signal?.reason);
        // The next request may get its permit earlier than expected.
        wakeFirst(queue);
      };
      const request: QueuedRequest = { since, maxWait, leave, resolve, reject, wake: () => {} };
      const unsubscribe = signal && onAbort(signal, abort);
      const position = this.#departed[priority] + queue.size;
      const timeLeft = (): number => this.#expectedWait(priority, position);
      onQueued?.(timeLeft);
      queue.add(request);
      this.#waiting++;
      // The first request of a queue may get its permit before requests of the other queue.
      if (queue.size === 1) void this.#grantAll();
      void this.#lookUntilGranted(request, queue, timeLeft);
    });
  }

  /** Pauses the bucket for `ms` milliseconds. Immediately rejects requests that must not wait that long. */
  pause(ms: number): void {
    const now = performance.now();
    this.#pausedUntil = Math.max(this.#pausedUntil, now + ms);
    const left = this.#pausedUntil - now;
    for (const queue of Object.values(this.#queues)) {
      for (const request of queue) if (left > request.maxWait) rejectWith(request, new PauseTooLongError(left));
    }
  }

  /** Returns whether the bucket has no waiting request, no pause, and no permit in the current interval. */
  get isIdle(): boolean {
    return this.#waiting === 0 && this.#pausedUntil <= performance.now() && (this.#log?.isEmpty() ?? true);
  }

  /** Returns the expected milliseconds until a request gets its permit, from its position in its queue. */
  #expectedWait(priority: Priority, position: number): number {
    const before = Math.max(0, position - this.#departed[priority]);
    const ahead = priority === 'background' ? before + this.#queues.foreground.size : before;
    return Math.max(this.#pausedUntil - performance.now(), this.#log?.wait(ahead, priority) ?? 0);
  }

  /** Checks for a free permit whenever one is expected, with a separate timer, until the request has left the queue. */
  async #lookUntilGranted(
    request: QueuedRequest,
    queue: ReadonlySet<QueuedRequest>,
    timeLeft: () => number,
  ): Promise<void> {
    while (queue.has(request)) {
      await sleep(Math.max(Math.ceil(timeLeft()), MIN_SLEEP_MS), undefined, (wake) => {
        request.wake = wake;
      });
      if (queue.has(request)) await this.#grantAll();
    }
  }

  /** Grants the free permits. Then wakes the next request, so that it restarts its timer. */
  async #grantAll(): Promise<void> {
    if (this.#isTaking) return;
    while (this.#waiting > 0) {
      const { priority, wait } = this.#next();
      const queue = this.#queues[priority];
      if (wait > 0) {
        wakeFirst(queue);
        return;
      }
      this.#isTaking = true;
      const permits = this.#log ? await this.#log.take(queue.size, priority) : queue.size;
      this.#isTaking = false;
      // Discard permits acquired before a pause: using them afterwards could exceed the limit.
      if (this.#pausedUntil <= performance.now()) for (let n = 0; n < permits; n++) this.#grant(priority);
    }
  }

  /** Returns the queue to serve next, and the milliseconds until a permit may be free for it. */
  #next(): { readonly priority: Priority; readonly wait: number } {
    const now = performance.now();
    const pause = this.#pausedUntil - now;
    const waitOf = (priority: Priority): number =>
      this.#queues[priority].size === 0 ? Number.POSITIVE_INFINITY : Math.max(pause, this.#log?.wait(0, priority) ?? 0);
    const wait = { foreground: waitOf('foreground'), background: waitOf('background') };
    const [background] = this.#queues.background;
    const waitingSince = background && Math.max(background.since, this.#backgroundGrantedAt);
    const isOverdue = waitingSince !== undefined && now - waitingSince >= MAX_BACKGROUND_DELAY_MS;
    const isBackground = isOverdue ? wait.background <= wait.foreground : wait.background < wait.foreground;
    const priority = isBackground ? 'background' : 'foreground';
    return { priority, wait: wait[priority] };
  }

  #grant(priority: Priority): void {
    const [next] = this.#queues[priority];
    if (next && priority === 'background') this.#backgroundGrantedAt = performance.now();
    next?.leave();
    next?.resolve();
  }
}

function wakeFirst(queue: ReadonlySet<QueuedRequest>): void {
  const [first] = queue;
  first?.wake();
}

/**
 * Share by which the client's interval exceeds the service's interval, because requests may arrive closer together than
 * the client sent them.
 */
const MARGIN_RATIO = 0.02;
const MIN_MARGIN_MS = 100;

/** Maximum duration of a turn of the event loop, in milliseconds. After that, its timer counts as lost. */
const MAX_TURN_MS = 1_000;

/** Returns the interval that the client uses, in milliseconds. */
export function withMargin(interval: number): number {
  return interval + Math.max(interval * MARGIN_RATIO, MIN_MARGIN_MS);
}

/** The permits of one process: a sliding-window log on the monotonic clock. */
export class SlidingWindowLog implements PermitLog {
  readonly #limit: number;
  readonly #interval: number;
  readonly #takenAt: number[] = [];
  #next = 0;
  /** Number of permits acquired in the current turn of the event loop. */
  #burst = 0;
  #burstAt = 0;

  constructor({ limit, interval }: RateLimit) {
    this.#limit = limit;
    this.#interval = withMargin(interval);
  }

  wait(ahead = 0): number {
    const oldest = this.#takenAt[(this.#next + ahead) % this.#limit] ?? Number.NEGATIVE_INFINITY;
    const intervals = 1 + Math.floor(ahead / this.#limit);
    return Math.max(0, oldest + intervals * this.#interval - performance.now());
  }

  isEmpty(): boolean {
    return performance.now() - (this.#takenAt.at(this.#next - 1) ?? Number.NEGATIVE_INFINITY) > this.#interval;
  }

  takeFree(): boolean {
    return this.wait() === 0 && this.take() === 1;
  }

  /**
   * Acquires one permit, which must be free. The permit counts from the end of this turn of the event loop, when the
   * client sends the request.
   */
  take(): number {
    const now = performance.now();
    this.#takenAt[this.#next] = now;
    this.#next = (this.#next + 1) % this.#limit;
    // A Worker may have dropped the timer, because its request has ended.
    if (this.#burst === 0 || now - this.#burstAt > MAX_TURN_MS) {
      this.#burstAt = now;
      setTimeout(() => this.#stampBurst(), 0);
    }
    this.#burst = Math.min(this.#burst + 1, this.#limit);
    return 1;
  }

  #stampBurst(): void {
    const sentAt = performance.now();
    for (; this.#burst > 0; this.#burst--) {
      this.#takenAt[(this.#next - this.#burst + this.#limit) % this.#limit] = sentAt;
    }
  }
}
