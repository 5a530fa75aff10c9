/**
 * Mode of the sandbox's clock. `'real'` runs as fast as the machine's clock, `{ speed: 60 }` runs sixty times as fast,
 * and `'manual'` stands still. In every mode, `sandbox.advance(ms)` moves the clock forward.
 */
export type ClockMode =
  | 'real'
  | 'manual'
  | {
      /** Ratio of sandbox time to real time. */
      readonly speed: number;
    };

/** A task and its due time. Tasks with the same due time run in ascending `order`. */
export interface Scheduled<Task> {
  readonly time: number;
  readonly order: number;
  readonly task: Task;
}

/** Maximum delay of `setTimeout`, in milliseconds. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** Latest time for `advance`. The due times of later tasks then still have a four-digit year. */
export const MAX_TIME = Date.UTC(9_000, 0);

/** Number of tasks after which `advance` lets other events of the process run. */
const TASKS_AT_A_TIME = 2_000;

/** The sandbox's time and the tasks scheduled on it. Times are milliseconds since 1970. */
export class Clock<Task> {
  #mode: ClockMode;
  /** Milliseconds per millisecond of the machine's clock; 0 if the clock is manual. */
  #speed: number;
  #startedAt = performance.now();
  /** Time of the sandbox at `#startedAt`. `advance` moves it forward. */
  #start: number;
  /** Sorted by due time, the next task last. */
  readonly #tasks: Scheduled<Task>[] = [];
  readonly #run: (task: Task) => void;
  /** Due time of the running task, even if the task runs later. */
  #taskTime: number | undefined;
  #advanced: Promise<void> = Promise.resolve();
  #order = 0;
  #usesTimer = false;
  #isStopped = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Creates a clock that starts at `start`. `run` executes a due task. */
  constructor(mode: ClockMode, start: number, run: (task: Task) => void) {
    this.#mode = mode;
    this.#speed = speedOf(mode);
    this.#start = start;
    this.#run = run;
  }

  get mode(): ClockMode {
    return this.#mode;
  }

  setMode(mode: ClockMode): void {
    checkMode(mode);
    this.#start += this.#elapsed();
    this.#startedAt = performance.now();
    this.#mode = mode;
    this.#speed = speedOf(mode);
    this.#setTimer();
  }

  now(): number {
    return this.#taskTime ?? this.#start + this.#elapsed();
  }

  #elapsed(): number {
    return (performance.now() - this.#startedAt) * this.#speed;
  }

  /** Returns a number that orders tasks with the same due time. */
  nextOrder(): number {
    return this.#order++;
  }

  /** The scheduled tasks, the next task first. */
  get tasks(): Scheduled<Task>[] {
    return this.#tasks.toReversed();
  }

  get order(): number {
    return this.#order;
  }

  /**
   * Replaces the tasks with the tasks of a saved clock, whose next number was `nextOrder` and whose time was `now`.
   * Never moves the time back.
   */
  restore(tasks: readonly Scheduled<Task>[], nextOrder: number, now: number): void {
    this.#moveTo(now);
    this.#tasks.length = 0;
    this.#order = nextOrder;
    for (const { time, order, task } of tasks) this.schedule(time, task, order);
  }

  schedule(time: number, task: Task, order = this.nextOrder()): void {
    if (this.#isStopped) return;
    const isLater = (other: Scheduled<Task>): boolean =>
      other.time > time || (other.time === time && other.order > order);
    this.#tasks.splice(this.#tasks.findLastIndex(isLater) + 1, 0, { time, order, task });
    this.#setTimer();
  }

  cancel(isMatch: (task: Task) => boolean): void {
    const kept = this.#tasks.filter(({ task }) => !isMatch(task));
    this.#tasks.splice(0, this.#tasks.length, ...kept);
  }

  /** Runs the due tasks. The sandbox calls this before each request, so timers need not be exact. */
  runDue(): void {
    this.#runUntil(this.now());
    this.#setTimer();
  }

  /** Starts to run due tasks with a timer. A sandbox without a timer can be garbage-collected. */
  useTimer(): void {
    this.#usesTimer = true;
    this.#setTimer();
  }

  /** Cancels all tasks, and ignores later tasks. */
  stop(): void {
    this.#isStopped = true;
    this.#tasks.length = 0;
    this.#setTimer();
  }

  /**
   * Moves the clock forward. Runs due tasks in order, each at its due time. Awaits `settle` at the beginning and after
   * the tasks of each due time, because `settle` may schedule more tasks. Concurrent calls run one after the other.
   */
  async advance(ms: number, settle: () => Promise<void>): Promise<void> {
    const advanced = this.#advanced.then(() => this.#advance(ms, settle));
    // A failed call must not make the next call fail.
    this.#advanced = advanced.catch(() => {});
    await advanced;
  }

  async #advance(ms: number, settle: () => Promise<void>): Promise<void> {
    const target = this.now() + ms;
    if (!(ms >= 0 && target <= MAX_TIME))
      throw new Error(
        `\`ms\` of \`advance\` must be a number of milliseconds of 0 or more that keeps the clock before the year 9000, not ${ms}.`,
      );
    await settle();
    let count = 0;
    for (let next = this.#tasks.at(-1); next && next.time <= target; next = this.#tasks.at(-1)) {
      this.#moveTo(next.time);
      count += this.#runUntil(next.time, TASKS_AT_A_TIME);
      if (count >= TASKS_AT_A_TIME) {
        count = 0;
        await yieldToOthers();
      }
      await settle();
    }
    this.#moveTo(target);
    this.#setTimer();
  }

  #moveTo(time: number): void {
    if (time > this.now()) this.#start = time - this.#elapsed();
  }

  /** Runs the tasks that are due at `time`, at most `max`. Returns their number. */
  #runUntil(time: number, max = Number.POSITIVE_INFINITY): number {
    let count = 0;
    for (let next = this.#tasks.at(-1); next && next.time <= time && count < max; next = this.#tasks.at(-1)) {
      count++;
      this.#tasks.pop();
      // A task may call `runDue`, which runs other tasks.
      const outer = this.#taskTime;
      this.#taskTime = next.time;
      try {
        this.#run(next.task);
      } finally {
        this.#taskTime = outer;
      }
    }
    return count;
  }

  /** Sets a timer for the next task. The timer does not keep the process alive. */
  #setTimer(): void {
    clearTimeout(this.#timer);
    if (!this.#usesTimer || this.#speed === 0) return;
    const next = this.#tasks.at(-1);
    if (!next) return;
    const delay = Math.max(0, (next.time - this.now()) / this.#speed);
    this.#timer = setTimeout(() => this.runDue(), Math.min(delay, MAX_TIMER_MS));
    unref(this.#timer);
  }
}

export const speedOf = (mode: ClockMode): number => (typeof mode === 'object' ? mode.speed : mode === 'manual' ? 0 : 1);

/** Maximum `speed` of a clock. At this speed, the clock reaches the last valid `Date` after 100 days. */
const MAX_SPEED = 1e6;

export function checkMode(mode: ClockMode): void {
  const speed = typeof mode === 'object' ? mode?.speed : 1;
  if (!(typeof speed === 'number' && speed > 0 && speed <= MAX_SPEED))
    throw new Error(`\`clock.speed\` must be a number above 0 and up to ${MAX_SPEED}, not ${speed}.`);
  if (typeof mode !== 'object' && mode !== 'real' && mode !== 'manual')
    throw new Error(`\`clock\` must be 'real', 'manual' or { speed }, not ${String(mode)}.`);
}

/** Resolves when other events have run. Uses no timer, because tests may replace timers. */
function yieldToOthers(): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}

/** Lets the process exit while the timer is set. In browsers, timers have no `unref`. */
export function unref(timer: ReturnType<typeof setTimeout>): void {
  if (typeof timer === 'object' && 'unref' in timer) timer.unref();
}

/** Formats a timestamp of a resource: `Y-m-d H:i:s`, UTC. */
export function formatTimestamp(time: number): string {
  return new Date(time).toISOString().slice(0, 19).replace('T', ' ');
}

/** Formats an expiry time: ISO 8601 with offset. */
export function formatExpiry(time: number): string {
  return new Date(time).toISOString().replace(/\.\d+Z$/, '+00:00');
}
