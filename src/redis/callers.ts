import type { Priority } from '../rate-limit/rate-limit-bucket.ts';
import { onAbort, startTimer } from '../util/abort.ts';

/** What a lane is asked for. */
export interface LaneRequest {
  readonly priority: Priority;
  readonly signal?: AbortSignal | undefined;
  readonly maxWait?: number | undefined;
}

/** A place in the log: its name there, and when it is due on the monotonic clock. */
export interface Slot {
  readonly id: string;
  readonly at: number;
}

/** One that wants a slot. */
export interface Caller {
  readonly priority: Priority;
  readonly since: number;
  /** The longest pause that it sits out. Milliseconds. */
  readonly maxWait: number;
  /** What is reserved for it. */
  slot?: Slot & { stopTimer(): void };
  /** Lets it go, or refuses it. */
  settle(error?: unknown): void;
}

/** Whose turn it is. */
export interface Turn {
  readonly callers: readonly Caller[];
  readonly priority: Priority;
  /** When the first of those in the background is served like a foreground one. */
  readonly overdueAt: number;
}

/** Slots asked for at once: a round trip serves all who wait, up to this many. */
const BATCH = 50;

/** A background caller that has waited so long is served as a foreground one. Milliseconds. */
const BACKGROUND_TURN = 15_000;

/** The callers of one bucket: those that wait, and those that have a slot reserved. */
export class Callers {
  readonly #nobodyWaits: () => void;
  #waiting = new Set<Caller>();
  readonly #reserved = new Set<Caller>();

  /** `nobodyWaits` is called when the last of those that wait has gone. */
  constructor(nobodyWaits: () => void) {
    this.#nobodyWaits = nobodyWaits;
  }

  /** How many wait for a slot. */
  get waiting(): number {
    return this.#waiting.size;
  }

  get all(): readonly Caller[] {
    return [...this.#waiting, ...this.#reserved];
  }

  /** Resolves when it may go. `leave` has to settle one that is aborted. */
  enter(
    { priority, signal, maxWait = Number.POSITIVE_INFINITY }: LaneRequest,
    leave: (caller: Caller, reason: unknown) => void,
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle: Caller['settle'] = (error) => {
        this.#waiting.delete(caller);
        this.#reserved.delete(caller);
        caller.slot?.stopTimer();
        off?.();
        if (this.#waiting.size === 0) this.#nobodyWaits();
        if (error === undefined) resolve();
        else reject(error);
      };
      const caller: Caller = { priority, since: performance.now(), maxWait, settle };
      const off = signal && onAbort(signal, () => leave(caller, signal.reason));
      this.#waiting.add(caller);
    });
  }

  /** Foreground callers and overdue ones, else the background. */
  turn(): Turn {
    const now = performance.now();
    const waiting = [...this.#waiting];
    const isUrgent = ({ priority, since }: Caller): boolean =>
      priority === 'foreground' || now - since >= BACKGROUND_TURN;
    const urgent = waiting.filter(isUrgent);
    if (urgent.length > 0) {
      return { callers: urgent.slice(0, BATCH), priority: 'foreground', overdueAt: Number.POSITIVE_INFINITY };
    }
    const overdueAt = (waiting[0]?.since ?? now) + BACKGROUND_TURN;
    return { callers: waiting.slice(0, BATCH), priority: 'background', overdueAt };
  }

  /** Keeps a slot for one that waits; `use` is called when it is due. `false` when it waits no more. */
  reserve(caller: Caller, slot: Slot, use: () => void): boolean {
    if (!this.#waiting.delete(caller)) return false;
    const wait = slot.at - performance.now();
    if (wait <= 0) {
      caller.settle();
      return true;
    }
    caller.slot = { ...slot, stopTimer: startTimer(wait, use) };
    this.#reserved.add(caller);
    return true;
  }

  /** Has those with slots before a time wait again, before all others; answers the names of their slots. */
  putBack(before: number): string[] {
    const callers = [...this.#reserved].filter(({ slot }) => slot && slot.at < before);
    const ids = callers.flatMap(({ slot }) => slot?.id ?? []);
    for (const caller of callers) {
      caller.slot?.stopTimer();
      delete caller.slot;
      this.#reserved.delete(caller);
    }
    this.#waiting = new Set([...callers, ...this.#waiting]);
    return ids;
  }
}
