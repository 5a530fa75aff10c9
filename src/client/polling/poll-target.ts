/**
 * Why a target is polled: a `page` shows several jobs; a `refresh` shows the first state of a job, or one that may be its
 * end; a `single` shows any other state of one job.
 */
export type PollKind = 'page' | 'single' | 'refresh';

/** Periods vary by up to a tenth, so that clients do not poll in step. */
const JITTER = 0.1;
/** Minimum time between the starts of a target's last poll and of one that was requested. */
const MIN_GAP_MS = 2_000;

/** A job whose waits may sleep. */
interface Sleeper {
  wake(): void;
}

/** What one request reads: a page of a list, or a single resource; and what its waits share about its polls. */
export class PollTarget<J extends Sleeper = Sleeper> {
  /** The jobs that it shows. Their waits poll it. */
  readonly jobs: Set<J>;
  /** Reads the target and passes what came to its jobs; never rejects. `onPermit` is called when the rate limit permits the request. */
  readonly read: (signal: AbortSignal, onPermit: () => void) => Promise<void>;
  kind: PollKind = 'single';
  /** True if the poll may use saved credit, instead of being spaced evenly. */
  isUrgent = false;
  /** When the next poll is due. */
  dueAt = Number.NEGATIVE_INFINITY;
  /** When its own last poll began. */
  startedAt = Number.NEGATIVE_INFINITY;
  /** When the last poll that showed it began. */
  shownAt = Number.NEGATIVE_INFINITY;
  /** The service asked for no poll before. */
  pausedUntil = Number.NEGATIVE_INFINITY;
  /** A poll counts as in flight until it ends, for at most its own timeout. */
  inFlightUntil = Number.NEGATIVE_INFINITY;
  /** Until when one of its waits looks at it again. Later, others pass it over. */
  attendedUntil = Number.NEGATIVE_INFINITY;
  #requested: { readonly at: number; readonly kind: PollKind } | undefined;
  #jitter = 1;

  constructor(jobs: Set<J>, read: PollTarget['read']) {
    this.jobs = jobs;
    this.read = read;
  }

  /** Requests a poll as soon as possible; a poll that is in flight does not count. */
  request(kind: PollKind): void {
    this.#requested = { at: performance.now(), kind };
    this.wake();
  }

  get isRequested(): boolean {
    return this.#requested !== undefined;
  }

  /** Plans the next poll: a period after the last one, unless it was requested earlier. */
  plan(kind: PollKind, period: number): this {
    const requested = this.#requested;
    this.kind = requested?.kind ?? kind;
    this.isUrgent = this.kind === 'refresh';
    const next = requested ? Math.max(requested.at, this.startedAt + MIN_GAP_MS) : this.shownAt + period * this.#jitter;
    this.dueAt = Math.max(next, this.pausedUntil);
    return this;
  }

  /** Records that a poll begins, which counts as in flight for at most `lease` milliseconds. */
  begin(lease: number): void {
    this.startedAt = performance.now();
    this.inFlightUntil = this.startedAt + lease;
    this.#jitter = 1 - JITTER + 2 * JITTER * Math.random();
    this.shownBy(this.startedAt);
  }

  /** Records that a poll which began at `startedAt` shows the target. */
  shownBy(startedAt: number): void {
    this.shownAt = startedAt;
    if (this.#requested && this.#requested.at <= startedAt) this.#requested = undefined;
  }

  /** Returns whether one of its waits could poll it now. */
  isReady(now: number): boolean {
    return this.dueAt <= now && this.inFlightUntil <= now && this.attendedUntil >= now;
  }

  wake(): void {
    for (const job of this.jobs) job.wake();
  }
}
