/** How the sandbox's time runs: with the machine's, faster, or only when told. */
export type ClockMode = 'real' | 'manual' | { readonly speed: number };

interface Due {
  readonly time: number;
  readonly order: number;
  readonly work: () => void;
}

/** The longest delay `setTimeout` can hold. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** Time of a sandbox, and work that is due at a time. Milliseconds since 1970. */
export class Clock {
  readonly #mode: ClockMode;
  readonly #speed: number;
  readonly #began = performance.now();
  readonly #start: number;
  readonly #due = new Set<Due>();
  #manual: number;
  #order = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** A clock that starts at the machine's time, or at `start`. */
  constructor(mode: ClockMode, start = Date.now()) {
    this.#mode = mode;
    this.#speed = typeof mode === 'object' ? mode.speed : 1;
    this.#start = start;
    this.#manual = start;
  }

  now(): number {
    if (this.#mode === 'manual') return this.#manual;
    return this.#start + (performance.now() - this.#began) * this.#speed;
  }

  /** Runs `work` when the time has come. Returns what calls it off. */
  at(time: number, work: () => void): () => void {
    const entry: Due = { time, order: this.#order++, work };
    this.#due.add(entry);
    this.#arm();
    return () => {
      this.#due.delete(entry);
      this.#arm();
    };
  }

  /** Runs what is due by now; called before each request, so that no timer needs to be exact. */
  settle(): void {
    this.#runUntil(this.now());
    this.#arm();
  }

  /**
   * Moves a manual clock forward; everything due on the way runs in order, at its own time, and `settle`
   * is awaited after each, because it may make more due.
   */
  async advance(ms: number, settle: () => Promise<void>): Promise<void> {
    if (this.#mode !== 'manual') throw new Error('`advance` needs a sandbox with `clock: "manual"`.');
    const target = this.#manual + ms;
    await settle();
    for (let next = this.#first(); next && next.time <= target; next = this.#first()) {
      this.#runUntil(next.time);
      await settle();
    }
    this.#manual = Math.max(this.#manual, target);
  }

  #runUntil(time: number): void {
    for (let next = this.#first(); next && next.time <= time; next = this.#first()) {
      this.#due.delete(next);
      this.#manual = Math.max(this.#manual, next.time);
      next.work();
    }
  }

  #first(): Due | undefined {
    let found: Due | undefined;
    for (const one of this.#due) {
      if (!found || one.time < found.time || (one.time === found.time && one.order < found.order)) found = one;
    }
    return found;
  }

  /** One timer for the earliest work; it does not keep the process alive. */
  #arm(): void {
    clearTimeout(this.#timer);
    const next = this.#mode === 'manual' ? undefined : this.#first();
    if (!next) return;
    const delay = Math.max(0, (next.time - this.now()) / this.#speed);
    this.#timer = setTimeout(() => this.settle(), Math.min(delay, LONGEST_TIMER));
    if (typeof this.#timer === 'object' && 'unref' in this.#timer) this.#timer.unref();
  }
}

/** The service's timestamps inside resources: `Y-m-d H:i:s`, UTC. */
export function wireTime(time: number): string {
  return new Date(time).toISOString().slice(0, 19).replace('T', ' ');
}

/** Expiry dates: ISO 8601 with offset. */
export function offsetTime(time: number): string {
  return new Date(time).toISOString().replace(/\.\d+Z$/, '+00:00');
}
