import { RateLimitError } from '../errors/api-errors.ts';
import type { CallOptions } from '../http/request-options.ts';
import type { Observed } from '../spec/job-status.ts';
import type { Job } from './job.ts';
import type { Listing, Row } from './job-source.ts';
import { Placement } from './placement.ts';
import { askedToWait, isNoPage, isUnlistable } from './poll-errors.ts';
import { Turn } from './poll-timer.ts';
import type { Look, LookQueues } from './scheduler.ts';

/** How soon the next search may follow one that found rows, one that did not, and failed ones. Milliseconds. */
const SEARCH_GAP = { found: 1_000, nothing: 2_000, failed: 10_000 } as const;
/** How long a new wait leaves it to a search that finds rows to show its job first. Milliseconds. */
const PATIENCE = 2_000;
/** After so many failures of a page in a row, a single job is read: it may be the list alone that fails. */
const FAILURES = 3;
/** How long until another job is read for that. Milliseconds. */
const PROBE_GAP = 30_000;
/** How long a list that is of no use is left alone. Milliseconds. */
const ASIDE = 600_000;

/** A job and the row that shows it. */
export interface Shown<T extends Observed> {
  readonly job: Job<T>;
  readonly row: Row<T>;
}

/** What reading pages needs of the group of jobs. */
export interface ListReaderParts<T extends Observed> {
  readonly listing: Listing<T> | undefined;
  /** How many jobs make a page worth reading. */
  readonly worth: number;
  readonly jobs: ReadonlyMap<number, Job<T>>;
  readonly queues: LookQueues;
  options(signal: AbortSignal, onPermit: () => void): CallOptions;
  /** Takes what a look that began at `began` has shown. */
  show(shown: readonly Shown<T>[], began: number): void;
  /** Tells all waits of a failed look; returns whether they ride it out. */
  miss(error: unknown, began: number): boolean;
  /** When the last read of a single job that was answered began. */
  answered(): number;
  readonly warn: (message: string) => void;
}

/** Reads pages of a list: those that several jobs share, and those where others may be found. */
export class ListReader<T extends Observed> {
  readonly placement: Placement<T>;
  readonly #parts: ListReaderParts<T>;
  #search: Turn | undefined;
  #searchAt = Number.NEGATIVE_INFINITY;
  #foundAt = Number.NEGATIVE_INFINITY;
  /** Searches in a row that were not answered. */
  #unanswered = 0;
  #probed = Number.NEGATIVE_INFINITY;
  #asideUntil = Number.NEGATIVE_INFINITY;
  #warned = false;

  constructor(parts: ListReaderParts<T>) {
    this.#parts = parts;
    this.placement = new Placement(parts.worth);
  }

  /** When a job that was never looked at is to be read by itself. */
  freshDue(job: Job<T>, searches: boolean): number {
    return searches || this.#search ? Math.max(job.since, this.#foundAt) + PATIENCE : job.since;
  }

  /** The search that is next, if one is worth its read. */
  nextSearch(): Look | undefined {
    const page = this.#listing && !this.#search ? this.placement.pageToSearch() : undefined;
    if (page === undefined) return undefined;
    return {
      queue: this.#parts.queues.search,
      due: this.#searchAt,
      take: (onPermit) => this.#searchPage(page, onPermit),
    };
  }

  /** Looks at pages that several jobs share. */
  *looks(period: number): Generator<Look, void> {
    if (!this.#listing) return;
    for (const [number, { turn }] of this.placement.shared()) {
      if (turn.busy) continue;
      const take = async (onPermit: () => void): Promise<void> => void (await this.#readPage(number, turn, onPermit));
      yield { queue: this.#parts.queues.pages, due: turn.due(period) ?? 0, take };
    }
  }

  /** Nobody waits any more. */
  clear(): void {
    this.#search?.abort();
    this.placement.forget();
  }

  get #listing(): Listing<T> | undefined {
    return performance.now() < this.#asideUntil ? undefined : this.#parts.listing;
  }

  async #searchPage(page: number, onPermit: () => void): Promise<void> {
    this.placement.spend();
    this.#search = this.placement.page(page)?.turn ?? new Turn();
    const found = await this.#readPage(page, this.#search, onPermit);
    this.#search = undefined;
    const now = performance.now();
    this.#unanswered = found === undefined ? this.#unanswered + 1 : 0;
    const failed = Math.min(SEARCH_GAP.failed, SEARCH_GAP.nothing * 2 ** this.#unanswered);
    this.#searchAt = now + (found === undefined ? failed : found > 0 ? SEARCH_GAP.found : SEARCH_GAP.nothing);
    if (found) this.#foundAt = now;
    // Without an answer it was no search.
    this.placement.allow(found ?? 1);
  }

  /** Returns how many jobs without a page it has found; `undefined` where no answer came. */
  async #readPage(number: number, turn: Turn, onPermit: () => void): Promise<number | undefined> {
    const listing = this.#listing;
    if (!listing) return undefined;
    const taken = await turn.take((signal) => listing.rows(number, this.#parts.options(signal, onPermit)));
    // What another page has shown of the list meanwhile holds for this one, too.
    if ('aborted' in taken || !this.#listing) return undefined;
    if ('result' in taken) return this.#learn(number, turn, taken.result, taken.began);
    const { error, began } = taken;
    // Some services have no page beyond the last one.
    if (number > 1 && isNoPage(error)) return this.#learn(number, turn, [], began);
    if (isUnlistable(error)) this.#setAside(String(error));
    else if (this.#parts.miss(error, began)) {
      turn.hold(askedToWait(error));
      this.#doubt(number, error, began);
    }
    return undefined;
  }

  #learn(number: number, turn: Turn, rows: readonly Row<T>[], began: number): number {
    const shown = rows.flatMap((row): readonly Shown<T>[] => {
      const job = this.#parts.jobs.get(row.id);
      return job ? [{ row, job }] : [];
    });
    if (shown.some(({ row }) => row.status === undefined)) {
      this.#setAside('its rows carry no `status`');
      return 0;
    }
    const ids = rows.map(({ id }) => id);
    const jobs = shown.map(({ job }) => job);
    const found = this.placement.note(number, ids, jobs, turn, began);
    this.#parts.show(shown, began);
    return found;
  }

  /** A page that keeps failing while single jobs are answered shows nothing: its jobs are read by themselves. */
  #doubt(number: number, error: unknown, began: number): void {
    const page = this.placement.page(number);
    if (!page || RateLimitError.isInstance(error)) return;
    if (page.failures++ === 0) page.failingSince = began;
    if (page.failures < FAILURES) return;
    if (this.#parts.answered() > page.failingSince) this.placement.forget(number);
    else if (began - this.#probed > PROBE_GAP) {
      this.#probed = began;
      for (const job of [...page.jobs].slice(0, 1)) job.urge('changed');
    }
  }

  #setAside(why: string): void {
    this.#asideUntil = performance.now() + ASIDE;
    this.#search?.abort();
    this.placement.forget();
    this.placement.allow(Number.POSITIVE_INFINITY);
    if (this.#warned) return;
    this.#warned = true;
    this.#parts.warn(
      `is of no use for waiting: ${why}. Each resource is read by itself; the list is tried again every ten minutes.`,
    );
  }
}
