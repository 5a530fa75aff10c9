/** How the sandbox's time runs: with the machine's, faster, or only when told. */
export type ClockMode = 'real' | 'manual' | { readonly speed: number };

interface Due {
  readonly time: number;
  readonly order: number;
  readonly work: () => void;
}

/** The longest delay `setTimeout` can hold. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** The last date that JavaScript knows, in milliseconds. */
const LATEST_DATE = 8.64e15;

/** Time of a sandbox, and work that is due at a time. Milliseconds since 1970. */
export class Clock {
  readonly #mode: ClockMode;
  readonly #speed: number;
  readonly #began = performance.now();
  readonly #start: number;
  /** Sorted: the last is due first. */
  readonly #due: Due[] = [];
  /** Time of a clock that stands still. */
  #manual: number;
  /** Time of the work that runs: when it was due, though it may run later. */
  #dueTime: number | undefined;
  #advanced: Promise<void> = Promise.resolve();
  #order = 0;
  #timed = false;
  #stopped = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** A clock that starts at `start`. */
  constructor(mode: ClockMode, start: number) {
    this.#mode = mode;
    this.#speed = typeof mode === 'object' ? mode.speed : 1;
    this.#start = start;
    this.#manual = start;
  }

  now(): number {
    if (this.#dueTime !== undefined) return this.#dueTime;
    if (this.#mode === 'manual') return this.#manual;
    return this.#start + (performance.now() - this.#began) * this.#speed;
  }

  /** A number for works that, due at one time, run in the order of their numbers. */
  order(): number {
    return this.#order++;
  }

  /** Runs `work` when the time has come. Returns what calls it off. */
  at(time: number, work: () => void, order = this.order()): () => void {
    if (this.#stopped) return () => {};
    const entry: Due = { time, order, work };
    this.#due.splice(this.#placeOf(entry), 0, entry);
    this.#arm();
    return () => {
      const place = this.#placeOf(entry);
      if (this.#due[place] === entry) this.#due.splice(place, 1);
      this.#arm();
    };
  }

  /** Runs what is due by now; called before each request, so that no timer needs to be exact. */
  settle(): void {
    this.#runUntil(this.now());
    this.#arm();
  }

  /** From now on, what is due runs by itself; without, only when somebody looks, which leaves no timer behind. */
  keepTime(): void {
    this.#timed = true;
    this.#arm();
  }

  /** Calls off all that is due, now and later. */
  stop(): void {
    this.#stopped = true;
    this.#due.length = 0;
    this.#arm();
  }

  /**
   * Moves a manual clock forward; everything due on the way runs in order, at its own time, and `settle`
   * is awaited after each, because it may make more due. One advance follows the other.
   */
  async advance(ms: number, settle: () => Promise<void>): Promise<void> {
    if (this.#mode !== 'manual') throw new Error('`advance` needs a sandbox with `clock: "manual"`.');
    const advanced = this.#advanced.then(() => this.#advance(ms, settle));
    // The next one does not fail because this one did.
    this.#advanced = advanced.catch(() => {});
    await advanced;
  }

  async #advance(ms: number, settle: () => Promise<void>): Promise<void> {
    const target = this.#manual + ms;
    if (!(ms >= 0 && target <= LATEST_DATE))
      throw new Error(`\`advance\` takes milliseconds from 0, up to the last date there is, not ${ms}.`);
    await settle();
    for (let next = this.#due.at(-1); next && next.time <= target; next = this.#due.at(-1)) {
      this.#runUntil(next.time);
      await settle();
    }
    this.#manual = Math.max(this.#manual, target);
  }

  #runUntil(time: number): void {
    for (let next = this.#due.at(-1); next && next.time <= time; next = this.#due.at(-1)) {
      this.#due.pop();
      this.#manual = Math.max(this.#manual, next.time);
      // Work may look at the clock's other works, which run within it.
      const outer = this.#dueTime;
      this.#dueTime = next.time;
      try {
        next.work();
      } finally {
        this.#dueTime = outer;
      }
    }
  }

  /** Where an entry stands, or belongs: after all that are due later. */
  #placeOf({ time, order }: Due): number {
    let low = 0;
    for (let high = this.#due.length; low < high; ) {
      const middle = (low + high) >>> 1;
      const other = this.#due[middle];
      if (other && (other.time > time || (other.time === time && other.order > order))) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** One timer for the earliest work; it does not keep the process alive. */
  #arm(): void {
    if (!this.#timed || this.#mode === 'manual') return;
    clearTimeout(this.#timer);
    const next = this.#due.at(-1);
    if (!next) return;
    const delay = Math.max(0, (next.time - this.now()) / this.#speed);
    this.#timer = setTimeout(() => this.settle(), Math.min(delay, LONGEST_TIMER));
    letExit(this.#timer);
  }
}

/** Lets the process end though a timer is set, where there is a process. */
export function letExit(timer: ReturnType<typeof setTimeout>): void {
  if (typeof timer === 'object' && 'unref' in timer) timer.unref();
}

/** The service's timestamps inside resources: `Y-m-d H:i:s`, UTC. */
export function wireTime(time: number): string {
  return new Date(time).toISOString().slice(0, 19).replace('T', ' ');
}

/** Expiry dates: ISO 8601 with offset. */
export function offsetTime(time: number): string {
  return new Date(time).toISOString().replace(/\.\d+Z$/, '+00:00');
}
