import { PauseTooLongError } from '../rate-limit/rate-limit-bucket.ts';
import { createSlidingLog } from '../rate-limit/sliding-window-log.ts';
import type { RateLimit } from '../spec/limits.ts';
import { startTimer } from '../util/abort.ts';
import { type Caller, Callers, type LaneRequest } from './callers.ts';
import { Health, type Outage } from './health.ts';
import { HORIZON, type Reservation, type SharedLog, type Wish } from './reserve.ts';

/** What a lane works with. */
export interface LaneSetup {
  readonly log: SharedLog;
  readonly outage: Outage;
  readonly key: string;
  readonly limit: number;
  /** The interval that is kept, margin included. Milliseconds. */
  readonly span: number;
  /** How late a slot may be used. Milliseconds. */
  readonly patience: number;
  /** What this process may send while Redis is away; nothing without it. */
  readonly share: RateLimit | undefined;
}

/** Answers take differently long, so pauses that they tell of end differently late. Milliseconds. */
const SAME_PAUSE = 100;

/** So many answers tell how long one takes. */
const LATEST = 4;

/** What this process has granted by itself is in no log. */
const LOCAL = 'local';

const NEVER = Number.NEGATIVE_INFINITY;

/** The name of a slot in the log. */
const nameOf = (id: string, slot: number): string => `${id}:${slot + 1}`;

/** The callers of this process for one bucket, who share the questions to Redis. */
export class SharedLane {
  readonly #setup: LaneSetup;
  readonly #health: Health;
  // A timer that nobody waits for would keep the process alive.
  readonly #callers = new Callers(() => this.#rest());
  readonly #local;
  readonly #againAt = { foreground: NEVER, background: NEVER };
  #busy = false;
  /** Whether it was woken while it was at work. */
  #woken = false;
  #probing = false;
  #asked = 0;
  /** How often slots were given back. */
  #returned = 0;
  /** How long the latest answers took. Milliseconds. */
  #took: readonly number[] = [0];
  #stopTimer: (() => void) | undefined;
  /** Nobody goes before. */
  #heldUntil = NEVER;
  /** Until when the service has refused requests; who would not wait so long is told at once. */
  #refusedUntil = NEVER;
  /** Where the last slot came from, and when it was for. */
  #granted = { log: '', at: NEVER };
  /** The one of these that Redis knows of. */
  #told = this.#granted;

  constructor(setup: LaneSetup) {
    this.#setup = setup;
    this.#health = new Health(setup.outage, this);
    this.#local = setup.share && createSlidingLog(setup.share);
  }

  /** Nobody waits, and nothing that was granted counts any more. */
  idle(): boolean {
    const waiting = this.#busy || this.#callers.all.length > 0;
    return !waiting && this.#known().known === '' && left(this.#heldUntil) === 0 && (this.#local?.empty() ?? true);
  }

  /** Resolves when the request may be sent at once. */
  async acquire(request: LaneRequest): Promise<void> {
    const { signal, maxWait = Number.POSITIVE_INFINITY } = request;
    signal?.throwIfAborted();
    const refused = left(this.#refusedUntil);
    if (refused > maxWait) throw new PauseTooLongError(refused);
    const entered = this.#callers.enter(request, (caller, reason) => this.#abandon(caller, reason));
    this.wake();
    return entered;
  }

  /** Holds the bucket after a 429, for all who share it. */
  pause(ms: number): void {
    this.#refuse(ms);
    this.#tell(ms);
  }

  /** Goes on with whoever waits. */
  wake(): void {
    if (this.#busy) {
      this.#woken = true;
      return;
    }
    this.#rest();
    if (this.#callers.waiting === 0) {
      this.#tellOfPart();
      return;
    }
    this.#busy = true;
    this.#woken = false;
    const work = this.#health.downSince === undefined ? this.#ask() : this.#serveLocally();
    void work.then((wait) => {
      this.#busy = false;
      // What it was woken for may have come after the wait was worked out.
      if (wait > 0 && !this.#woken && this.#callers.waiting > 0) this.#stopTimer = startTimer(wait, () => this.wake());
      else this.wake();
    });
  }

  #rest(): void {
    this.#stopTimer?.();
  }

  /** Asks Redis for slots for those whose turn it is; tells when to go on. */
  async #ask(): Promise<number> {
    // All who come in this turn of the event loop are asked for together.
    await undefined;
    const { callers, priority, overdueAt } = this.#callers.turn();
    const wait = Math.max(left(this.#heldUntil), left(Math.min(this.#againAt[priority], overdueAt)));
    if (callers.length === 0 || wait > 0) return wait;
    const id = `${crypto.randomUUID().slice(0, 13)}-${this.#asked++}`;
    const returned = this.#returned;
    const asked = performance.now();
    const reservation = await this.#question({ count: callers.length, background: priority === 'background', id });
    if (!reservation) {
      // It may be answered yet, when nobody listens any more.
      this.#giveBack(callers.map((_, slot) => nameOf(id, slot)));
      return 0;
    }
    const now = performance.now();
    // What has been given back since may be free now.
    if (returned === this.#returned) this.#againAt[priority] = now + reservation.again;
    this.#distribute(reservation, this.#isLate(now - asked) ? [] : callers, id);
    return 0;
  }

  /** Asks the log; nothing when it does not answer. */
  async #question(wanted: Pick<Wish, 'count' | 'background' | 'id'>): Promise<Reservation | undefined> {
    const { log, key, limit, span } = this.#setup;
    const granted = this.#granted;
    try {
      const reservation = await log.reserve({ key, limit, span, ...wanted, ...this.#known() });
      this.#told = granted;
      // A pause that came while Redis was away is not known to others yet.
      if (this.#health.answered() && left(this.#refusedUntil) > 0) this.#tell(left(this.#refusedUntil));
      return reservation;
    } catch (error) {
      this.#health.failed(error);
      return undefined;
    }
  }

  /**
   * Whether an answer has lain about, so that its slots would be used too close to later ones. What always takes so long
   * moves all slots alike: after some that do, the next one is not late.
   */
  #isLate(took: number): boolean {
    this.#took = [took, ...this.#took].slice(0, LATEST);
    return took - Math.min(...this.#took) > this.#setup.patience;
  }

  #distribute({ begun, paused, held, waits }: Reservation, callers: readonly Caller[], id: string): void {
    const now = performance.now();
    const furthest = waits.at(-1);
    // What was granted by a log that is gone has been told; it is in the hold now.
    this.#granted = { log: begun, at: furthest === undefined ? this.#granted.at : now + furthest };
    if (paused > 0) this.#refuse(paused);
    if (held > 0) this.#hold(held);
    this.#setup.outage.held(held);
    const unused: string[] = [];
    for (const [index, wait] of waits.entries()) {
      const slot = { id: nameOf(id, index), at: now + wait };
      const caller = callers[index];
      // A pause may have begun while the question was under way.
      const early = slot.at < this.#heldUntil - SAME_PAUSE;
      const used = caller && !early && this.#callers.reserve(caller, slot, () => this.#use(caller, slot.at));
      if (!used) unused.push(slot.id);
    }
    this.#giveBack(unused);
  }

  /** A process that was stopped meanwhile would use its slots too close to later ones: it asks for others. */
  #use(caller: Caller, at: number): void {
    const latest = performance.now() - this.#setup.patience;
    if (at >= latest) caller.settle();
    else this.#giveBack(this.#callers.putBack(latest));
  }

  /** While Redis is away: this process's share, after a span in which what Redis has granted runs out. */
  async #serveLocally(): Promise<number> {
    const health = this.#health;
    this.#probe();
    // Who has not tried for long does not know whether Redis is still away.
    if (!this.#local || !health.failedLately) return this.#probeIn();
    const runOut = (health.downSince ?? performance.now()) + HORIZON + this.#setup.span;
    const wait = Math.max(left(this.#heldUntil), left(runOut), this.#local.wait());
    if (wait > 0) return Math.min(wait, this.#probeIn());
    await this.#local.take();
    const [caller] = this.#callers.turn().callers;
    // Meanwhile Redis may have answered, or a pause have begun: the slot is let go.
    if (!caller || health.downSince === undefined || left(this.#heldUntil) > 0) return 0;
    this.#granted = { log: LOCAL, at: performance.now() };
    caller.settle();
    return 0;
  }

  /** Tries whether Redis is there again, unless a try is under way, or was just now. */
  #probe(): void {
    if (this.#probing || this.#health.probeIn > 0) return;
    this.#probing = true;
    void this.#question({ count: 0, background: true, id: '' }).then(() => {
      this.#probing = false;
      this.wake();
    });
  }

  /** When it is time to try again; one that is under way wakes by itself. */
  #probeIn(): number {
    return this.#probing ? Number.POSITIVE_INFINITY : Math.max(1, this.#health.probeIn);
  }

  /** Who has taken a part tells so as soon as Redis is there, whether or not it has calls to make. */
  #tellOfPart(): void {
    if (this.#told === this.#granted || this.#known().known !== LOCAL) return;
    this.#probe();
    if (this.#probing) return;
    const timer = setTimeout(() => this.wake(), this.#probeIn());
    // Not at the price of a process that does not end.
    timer.unref();
    this.#stopTimer = () => clearTimeout(timer);
  }

  #abandon(caller: Caller, reason: unknown): void {
    const { slot } = caller;
    caller.settle(reason);
    if (slot) this.#giveBack([slot.id]);
    else this.wake();
  }

  /** What cannot be given back is lost for a span; nothing worse. What was is asked for at once by who still waits. */
  #giveBack(ids: readonly string[]): void {
    if (ids.length === 0) return;
    const goOn = (): void => {
      this.#returned++;
      this.#againAt.foreground = NEVER;
      this.#againAt.background = NEVER;
      this.wake();
    };
    this.#setup.log.giveBack(this.#setup.key, ids).then(goOn, goOn);
  }

  /** Tells all who share the bucket that the service has refused requests. */
  #tell(ms: number): void {
    this.#setup.log.pause(this.#setup, ms).then(
      () => this.#health.answered(),
      (error) => this.#health.failed(error),
    );
  }

  #refuse(ms: number): void {
    this.#refusedUntil = Math.max(this.#refusedUntil, performance.now() + ms);
    const refused = left(this.#refusedUntil);
    for (const caller of this.#callers.all) {
      if (refused > caller.maxWait) this.#abandon(caller, new PauseTooLongError(refused));
    }
    this.#hold(ms);
  }

  /** Nobody goes before its end, also not by a slot that was reserved before it began. */
  #hold(ms: number): void {
    this.#heldUntil = Math.max(this.#heldUntil, performance.now() + ms);
    this.#giveBack(this.#callers.putBack(this.#heldUntil - SAME_PAUSE));
  }

  /** What Redis is told of the slots that this process was granted, as long as they count. */
  #known(): Pick<Wish, 'known' | 'owed'> {
    const owed = this.#granted.at - performance.now();
    return owed + this.#setup.span >= 0 ? { known: this.#granted.log, owed } : { known: '', owed: 0 };
  }
}

/** Milliseconds until a time of the monotonic clock. */
const left = (until: number): number => Math.max(0, until - performance.now());
