import type { Observed } from '../spec/job-status.ts';
import { RESOURCE_PAGE_CAP } from '../spec/limits.ts';
import { type Job, PollTimer } from './job.ts';

/** Minimum time between the starts of two sweeps. */
const MIN_SWEEP_GAP_MS = 1_000;
/** Pages with too few awaited jobs that one sweep may read: one for each job to find, within these limits. */
const PAGES_IN_VAIN = { min: 2, max: 25 } as const;
/** How long a job that a sweep left out is polled separately before the list is searched for it again. */
const SEARCH_AGAIN_MS = 300_000;
/** While pages fail (other than by a 429), a job whose state is older than this is polled separately. */
const MAX_DELAY_MS = 30_000;
/** How long a list that cannot be used is not read. */
const DISABLED_MS = 600_000;

/** Why a page could not be read. */
export type SweepFailure = '429' | 'other';

/**
 * One pass over the pages of a list. Chooses the next page: first those that several jobs shared in the previous sweep
 * and then, for jobs still missing, the other pages from the first one on.
 */
export class Sweep<J> {
  /** Jobs that no shared page has shown yet. */
  readonly missing: Set<J>;
  /** Pages to read first in the next sweep: those that several jobs share. */
  readonly shared: number[] = [];
  failure: SweepFailure | undefined;
  readonly #previous: readonly number[];
  readonly #minJobs: number;
  readonly #read = new Set<number>();
  /** Number of further pages with too few awaited jobs that it may read. */
  #budget: number;

  /** @param minJobs Minimum jobs on a page to read it instead of each job separately. */
  constructor(jobs: Iterable<J>, previous: readonly number[], minJobs: number) {
    this.missing = new Set(jobs);
    this.#previous = previous;
    this.#minJobs = minJobs;
    this.#budget = Math.max(PAGES_IN_VAIN.min, Math.min(PAGES_IN_VAIN.max, this.missing.size));
  }

  /** Returns the page to read next; `undefined` at the end of the sweep. */
  nextPage(): number | undefined {
    if (this.missing.size < this.#minJobs) return undefined;
    const previous = this.#previous.find((page) => !this.#read.has(page));
    if (previous !== undefined || this.#budget <= 0) return previous;
    let page = 1;
    while (this.#read.has(page)) page++;
    return page;
  }

  /**
   * Records the jobs that a page shows; `isLast` if the page is empty. Returns whether at least `minJobs` share it: a
   * job that is alone on its page stays missing, because a separate read costs no more.
   */
  onPage(page: number, jobs: readonly J[], isLast: boolean): boolean {
    this.#read.add(page);
    if (jobs.length < this.#minJobs) {
      this.#budget = isLast ? 0 : this.#budget - 1;
      return false;
    }
    this.shared.push(page);
    for (const job of jobs) this.missing.delete(job);
    return true;
  }

  /** Records a page that could not be read. The search for missing jobs then ends at the next page with too few. */
  onFailure(page: number, failure: SweepFailure): void {
    this.#read.add(page);
    this.failure = failure;
    this.#budget = Math.min(1, this.#budget - 1);
    if (this.#previous.includes(page)) this.shared.push(page);
  }
}

/** When the next page of a list is due, and which jobs are not polled separately because the list covers them. */
export interface SweepPlan<T extends Observed> {
  /** When the next page is due; `undefined` while a page is in flight. */
  readonly due: number | undefined;
  covers(job: Job<T>): boolean;
}

const isNew = <T extends Observed>({ timer }: Job<T>): boolean => timer.polledAt === undefined;

/** The sweeps of one list: which jobs they cover, and when the next page is due. */
export class Sweeps<T extends Observed> {
  /** Periods between sweeps, and the page in flight. */
  readonly timer = new PollTimer();
  readonly #jobs: ReadonlyMap<number, Job<T>>;
  readonly #minJobs: number;
  #sweep: Sweep<Job<T>> | undefined;
  #startedAt = Number.NEGATIVE_INFINITY;
  #pages: readonly number[] = [];
  #failure: SweepFailure | undefined;
  #disabledUntil = Number.NEGATIVE_INFINITY;

  /** @param minJobs Minimum jobs on a page to read it instead of each job separately. */
  constructor(jobs: ReadonlyMap<number, Job<T>>, minJobs: number) {
    this.#jobs = jobs;
    this.#minJobs = minJobs;
  }

  /** Returns the plan, with `period` between two sweeps; `undefined` if all jobs are polled separately. */
  plan(period: number): SweepPlan<T> | undefined {
    const now = performance.now();
    if (now < this.#disabledUntil) return undefined;
    const targets = this.#targets(now);
    if (!this.#sweep && targets.length < this.#minJobs) return undefined;
    // `minJobs` new jobs start a sweep immediately; fewer are read separately.
    const isForNew = targets.filter(isNew).length >= this.#minJobs;
    const next = Math.max(this.#startedAt + MIN_SWEEP_GAP_MS, this.timer.due(isForNew ? 0 : period));
    const due = this.#sweep ? this.timer.due(0) : next;
    return {
      due: this.timer.inFlight ? undefined : due,
      covers: (job) => job.searchAgainAt === undefined && (isForNew || !isNew(job)) && !this.#isDelayed(job, now),
    };
  }

  /** Returns the number of polls that read every job once. */
  round(): number {
    const plan = this.plan(0);
    const covered = plan ? [...this.#jobs.values()].filter(plan.covers).length : 0;
    const pages = Math.max(this.#pages.length, Math.ceil(covered / RESOURCE_PAGE_CAP));
    return this.#jobs.size - covered + (covered > 0 ? pages : 0);
  }

  /** Returns the page to read now; begins a sweep unless one is under way. */
  nextPage(): number | undefined {
    if (!this.#sweep) {
      this.#startedAt = performance.now();
      this.#sweep = new Sweep(this.#targets(this.#startedAt), this.#pages, this.#minJobs);
    }
    return this.#sweep.nextPage();
  }

  /** Records the rows of a page. */
  onPage(page: number, rows: readonly { readonly id: number }[]): void {
    const jobs = rows.flatMap(({ id }) => this.#jobs.get(id) ?? []);
    if (this.#sweep?.onPage(page, jobs, rows.length === 0)) for (const job of jobs) job.searchAgainAt = undefined;
    this.#finishIfDone();
  }

  /** Records a page that could not be read. */
  onFailure(page: number, failure: SweepFailure): void {
    this.#failure = failure;
    this.#sweep?.onFailure(page, failure);
    this.#finishIfDone();
  }

  /** Stops searching for a job that no wait awaits any longer. */
  remove(job: Job<T>): void {
    this.#sweep?.missing.delete(job);
    if (this.#jobs.size === 0) this.#stop();
    else if (!this.timer.inFlight) this.#finishIfDone();
  }

  /** Stops reading a list that cannot be used, for ten minutes; returns whether this is the first time. */
  disable(): boolean {
    const isFirst = this.#disabledUntil === Number.NEGATIVE_INFINITY;
    this.#disabledUntil = performance.now() + DISABLED_MS;
    this.#pages = [];
    this.#stop();
    return isFirst;
  }

  #stop(): void {
    this.timer.abort();
    this.#sweep = undefined;
  }

  /** Returns the jobs to find: all but those that a recent sweep left out (`searchAgainAt` is in the future). */
  #targets(now: number): Job<T>[] {
    return [...this.#jobs.values()].filter(({ searchAgainAt = now }) => searchAgainAt <= now);
  }

  /**
   * Returns whether failed pages leave a job without a recent state, so that it is polled separately. After a 429, a
   * known state suffices: a separate poll would be throttled, too.
   */
  #isDelayed({ last, shownAt }: Job<T>, now: number): boolean {
    if (this.#failure === undefined) return false;
    return !last || (this.#failure === 'other' && now - shownAt > MAX_DELAY_MS);
  }

  #finishIfDone(): void {
    const sweep = this.#sweep;
    if (!sweep || sweep.nextPage() !== undefined) return;
    this.#sweep = undefined;
    this.#pages = sweep.shared.sort((a, b) => a - b);
    this.#failure = sweep.failure;
    this.timer.polledAt = this.#startedAt;
    if (sweep.failure) return;
    for (const job of sweep.missing) job.searchAgainAt = performance.now() + SEARCH_AGAIN_MS;
  }
}
