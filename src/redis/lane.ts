import type { RateLimit } from '../limits.ts';
import { PauseTooLongError, type Priority } from '../transport/lane.ts';
import { onAbort, startTimer } from '../transport/signal.ts';
import { createSlidingLog, type SlidingLog } from '../transport/sliding-log.ts';
import type { Health } from './health.ts';
import { HORIZON, type Reservation, type SharedLog, type Wish } from './reserve.ts';

/** A caller that wants a slot. */
interface Caller {
  readonly priority: Priority;
  readonly since: number;
  readonly maxWait: number;
  /** Its reservation: the name in the log, and when it is due on the monotonic clock. */
  slot?: { readonly id: string; readonly at: number; stopTimer(): void };
  settle(error?: unknown): void;
}

/** What a lane is asked for. */
interface LaneRequest {
  readonly priority: Priority;
  readonly signal?: AbortSignal | undefined;
  readonly maxWait?: number | undefined;
}

/** What a lane works with. */
export interface LaneSetup {
  readonly log: SharedLog;
  readonly health: Health;
  readonly key: string;
  readonly limit: number;
  /** The interval that is kept, margin included. Milliseconds. */
  readonly span: number;
  /** How late a slot may be used. Milliseconds. */
  readonly patience: number;
  /** What this process may send while Redis is away; nothing without it. */
  readonly share: RateLimit | undefined;
}

/** Slots asked for at once: a round trip serves all who wait, up to this many. */
const BATCH = 50;

/** A background caller that has waited so long is served as a foreground one. Milliseconds. */
const BACKGROUND_TURN = 15_000;

/** Answers take differently long, so pauses that they tell of end differently late. Milliseconds. */
const SAME_PAUSE = 100;

/** What this process has granted by itself is in no log. */
const LOCAL = 'local';

/** The name of a slot in the log. */
const nameOf = (id: string, slot: number): string => `${id}:${slot + 1}`;

/** The callers of this process for one bucket, who share the questions to Redis. */
export class SharedLane {
  readonly #setup: LaneSetup;
  #queue = new Set<Caller>();
  readonly #reserved = new Set<Caller>();
  readonly #againAt = { foreground: Number.NEGATIVE_INFINITY, background: Number.NEGATIVE_INFINITY };
  #local: SlidingLog | undefined;
  #busy = false;
  #asked = 0;
  /** How often slots were given back. */
  #returned = 0;
  /** How long an answer takes at least. Milliseconds. */
  #quickest = 0;
  #stopTimer: (() => void) | undefined;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  /** Where the last slot came from, and when it was for. */
  #granted = { log: '', at: Number.NEGATIVE_INFINITY };

  constructor(setup: LaneSetup) {
    this.#setup = setup;
  }

  /** Nobody waits, and nothing that was granted counts any more. */
  idle(): boolean {
    const waiting = this.#busy || this.#queue.size + this.#reserved.size > 0;
    return !waiting && this.#known().known === '' && this.#paused() === 0 && (this.#local?.empty() ?? true);
  }

  /** Resolves when the request may be sent at once. */
  acquire({ priority, signal, maxWait = Number.POSITIVE_INFINITY }: LaneRequest): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      if (this.#paused() > maxWait) return reject(new PauseTooLongError(this.#paused()));
      const settle: Caller['settle'] = (error) => {
        this.#queue.delete(caller);
        this.#reserved.delete(caller);
        caller.slot?.stopTimer();
        off?.();
        // A timer that nobody waits for would keep the process alive.
        if (this.#queue.size === 0) this.#rest();
        if (error === undefined) resolve();
        else reject(error);
      };
      const caller: Caller = { priority, since: performance.now(), maxWait, settle };
      const off = signal && onAbort(signal, () => this.#abandon(caller, signal.reason));
      this.#queue.add(caller);
      this.wake();
    });
  }

  /** Holds the bucket for all who share it. */
  pause(ms: number): void {
    const { log, health } = this.#setup;
    this.#hold(ms);
    log.pause(this.#setup, ms).then(
      () => health.answered(),
      (error) => health.failed(error),
    );
  }

  /** Goes on with whoever waits. */
  wake(): void {
    if (this.#busy) return;
    this.#rest();
    if (this.#queue.size === 0) return;
    this.#busy = true;
    const work = this.#setup.health.downSince === undefined ? this.#ask() : this.#serveLocally();
    void work.then((wait) => {
      this.#busy = false;
      if (wait > 0 && this.#queue.size > 0) this.#stopTimer = startTimer(wait, () => this.wake());
      else this.wake();
    });
  }

  #rest(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }

  /** Asks Redis for slots for those whose turn it is; tells when to go on. */
  async #ask(): Promise<number> {
    // All who come in this turn of the event loop are asked for together.
    await undefined;
    const { callers, wait, priority } = this.#next();
    if (callers.length === 0 || wait > 0) return wait;
    const { log, health, key, limit, span } = this.#setup;
    const id = `${crypto.randomUUID().slice(0, 13)}-${this.#asked++}`;
    const question = { key, limit, span, count: callers.length, background: priority === 'background', id };
    const returned = this.#returned;
    const asked = performance.now();
    try {
      const reservation = await log.reserve({ ...question, ...this.#known() });
      health.answered();
      // What has been given back since may be free now.
      if (returned === this.#returned) this.#againAt[priority] = performance.now() + reservation.again;
      this.#distribute(reservation, this.#isLate(performance.now() - asked) ? [] : callers, id);
    } catch (error) {
      health.failed(error);
      // It may be answered yet, when nobody listens any more.
      this.#giveBack(callers.map((_, slot) => nameOf(id, slot)));
    }
    return 0;
  }

  /**
   * Whether an answer has lain about, so that its slots would be used too close to later ones. What always takes so long
   * moves all slots alike: the next one that does is not late.
   */
  #isLate(took: number): boolean {
    const late = took - this.#quickest > this.#setup.patience;
    this.#quickest = late ? took : Math.min(this.#quickest, took);
    return late;
  }

  /** Who is to be asked for next: foreground callers and overdue ones, else the background. */
  #next(): { readonly callers: readonly Caller[]; readonly wait: number; readonly priority: Priority } {
    const now = performance.now();
    const isUrgent = ({ priority, since }: Caller): boolean =>
      priority === 'foreground' || now - since >= BACKGROUND_TURN;
    const urgent = [...this.#queue].filter(isUrgent);
    const priority = urgent.length > 0 ? 'foreground' : 'background';
    const callers = urgent.length > 0 ? urgent : [...this.#queue];
    const overdueAt = urgent.length > 0 ? Number.POSITIVE_INFINITY : (callers[0]?.since ?? now) + BACKGROUND_TURN;
    const wait = Math.max(this.#paused(), Math.min(this.#againAt[priority], overdueAt) - now);
    return { callers: callers.slice(0, BATCH), wait, priority };
  }

  #distribute(reservation: Reservation, callers: readonly Caller[], id: string): void {
    const now = performance.now();
    const furthest = reservation.waits.at(-1);
    if (furthest !== undefined) this.#granted = { log: reservation.begun, at: now + furthest };
    // What was granted by a log that is gone has been told; it is in the pause now.
    else this.#granted = { ...this.#granted, log: reservation.begun };
    if (reservation.paused > 0) this.#hold(reservation.paused);
    const unused: string[] = [];
    for (const [slot, wait] of reservation.waits.entries()) {
      const name = nameOf(id, slot);
      const caller = callers[slot];
      // A pause may have begun while the question was under way.
      const early = now + wait < this.#pausedUntil - SAME_PAUSE;
      if (caller && !early && this.#queue.delete(caller)) this.#reserve(caller, name, now + wait);
      else unused.push(name);
    }
    this.#giveBack(unused);
  }

  #reserve(caller: Caller, id: string, at: number): void {
    const wait = at - performance.now();
    if (wait <= 0) {
      caller.settle();
      return;
    }
    caller.slot = { id, at, stopTimer: startTimer(wait, () => this.#use(caller, at)) };
    this.#reserved.add(caller);
  }

  /** A process that was stopped meanwhile would use its slots too close to later ones: it asks for others. */
  #use(caller: Caller, at: number): void {
    const latest = performance.now() - this.#setup.patience;
    if (at >= latest) caller.settle();
    else this.#putBack([...this.#reserved].filter(({ slot }) => slot && slot.at < latest));
  }

  /** Has callers ask again, before all others, and gives back the slots that they had. */
  #putBack(callers: readonly Caller[]): void {
    const ids = callers.flatMap(({ slot }) => slot?.id ?? []);
    for (const caller of callers) {
      caller.slot?.stopTimer();
      delete caller.slot;
      this.#reserved.delete(caller);
    }
    this.#queue = new Set([...callers, ...this.#queue]);
    this.#giveBack(ids);
  }

  /** While Redis is away: this process's share, after a span in which what Redis has granted runs out. */
  async #serveLocally(): Promise<number> {
    const { health, share, span } = this.#setup;
    if (health.takeProbe()) void this.#probe();
    const downSince = health.downSince ?? performance.now();
    // Who has not tried for long does not know whether Redis is still away.
    if (!share || !health.failedLately) return health.probeIn || 1;
    this.#local ??= createSlidingLog(share);
    const runOut = downSince + HORIZON + span;
    const wait = Math.max(this.#paused(), runOut - performance.now(), this.#local.wait());
    if (wait > 0) return Math.min(wait, health.probeIn || 1);
    await this.#local.take();
    const [caller] = this.#next().callers;
    this.#granted = { log: LOCAL, at: performance.now() };
    caller?.settle();
    return 0;
  }

  async #probe(): Promise<void> {
    const { log, health, key, limit, span } = this.#setup;
    try {
      await log.reserve({ key, limit, span, count: 0, background: true, id: '', ...this.#known() });
      health.answered();
    } catch (error) {
      health.failed(error);
    }
  }

  #abandon(caller: Caller, reason: unknown): void {
    const { slot } = caller;
    caller.settle(reason);
    if (slot) this.#giveBack([slot.id]);
  }

  /** What cannot be given back is lost for a span; nothing worse. What was is asked for at once by who still waits. */
  #giveBack(ids: readonly string[]): void {
    if (ids.length === 0) return;
    const goOn = (): void => {
      this.#returned++;
      this.#againAt.foreground = Number.NEGATIVE_INFINITY;
      this.#againAt.background = Number.NEGATIVE_INFINITY;
      this.wake();
    };
    this.#setup.log.giveBack(this.#setup.key, ids).then(goOn, goOn);
  }

  /** Nobody goes before the end of the pause, also not by a slot that was reserved before it began. */
  #hold(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, performance.now() + ms);
    const left = this.#paused();
    for (const caller of [...this.#queue, ...this.#reserved]) {
      if (left > caller.maxWait) this.#abandon(caller, new PauseTooLongError(left));
    }
    this.#putBack([...this.#reserved].filter(({ slot }) => slot && slot.at < this.#pausedUntil - SAME_PAUSE));
  }

  #paused(): number {
    return Math.max(0, this.#pausedUntil - performance.now());
  }

  /** What Redis is told of the slots that this process was granted, as long as they count. */
  #known(): Pick<Wish, 'known' | 'owed'> {
    const owed = this.#granted.at - performance.now();
    return owed + this.#setup.span >= 0 ? { known: this.#granted.log, owed } : { known: '', owed: 0 };
  }
}
