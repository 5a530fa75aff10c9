import type { Observed } from '../spec/job-status.ts';
import { RESOURCE_PAGE_CAP } from '../spec/limits.ts';
import { type Job, PollTimer } from './job.ts';

/** Least time between the beginnings of two sweeps. */
const MIN_SWEEP_GAP_MS = 1_000;
/** Pages that one sweep may read in vain: one for each job to find, within these limits. */
const PAGES_IN_VAIN = { min: 2, max: 25 } as const;
/** How long a job that no page has shown is polled on its own before pages are searched for it again. */
const SEARCH_AGAIN_MS = 300_000;
/** While pages fail, a job whose state is older than this is polled on its own. */
const MAX_DELAY_MS = 30_000;
/** How long a list that cannot be used is left alone. */
const DISABLED_MS = 600_000;

/** Why a page could not be read. */
export type SweepFailure = '429' | 'other';

/**
 * One pass over the pages of a list. Decides which page is read next: those that several jobs shared in the previous
 * sweep and, for jobs that these do not show, the newest others.
 */
export class Sweep<J> {
  /** Jobs that no page has shown yet. */
  readonly missing: Set<J>;
  /** Pages that several jobs share. */
  readonly shared: number[] = [];
  failure: SweepFailure | undefined;
  readonly #previous: readonly number[];
  readonly #minJobs: number;
  readonly #read = new Set<number>();
  /** Pages that it may still read in vain. */
  #budget: number;

  /** @param minJobs Number of jobs that makes a page worth a read. */
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
   * Takes the jobs that a page shows; `isLast` if it is empty. Returns whether they share it: a job that is alone on its
   * page stays missing, because reading it on its own costs no more.
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

  /** Takes note of a page that could not be read. Only one other page is searched then, unless that is shared. */
  onFailure(page: number, failure: SweepFailure): void {
    this.#read.add(page);
    this.failure = failure;
    this.#budget = Math.min(1, this.#budget - 1);
    if (this.#previous.includes(page)) this.shared.push(page);
  }
}

/** The next page of a list, and the jobs that are not polled separately because of it. */
export interface SweepPlan<T extends Observed> {
  /** When the page is due; `undefined` while one is in flight. */
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

  /** @param minJobs Number of jobs that makes a page worth a read. */
  constructor(jobs: ReadonlyMap<number, Job<T>>, minJobs: number) {
    this.#jobs = jobs;
    this.#minJobs = minJobs;
  }

  /** Returns what is due, with `period` between two sweeps; `undefined` if all jobs are polled on their own. */
  plan(period: number): SweepPlan<T> | undefined {
    const now = performance.now();
    if (now < this.#disabledUntil) return undefined;
    const targets = this.#targets(now);
    if (!this.#sweep && targets.length < this.#minJobs) return undefined;
    // A single new job is read immediately; several start a sweep.
    const isForNew = targets.filter(isNew).length >= this.#minJobs;
    const next = Math.max(this.#startedAt + MIN_SWEEP_GAP_MS, this.timer.due(isForNew ? 0 : period));
    const due = this.#sweep ? this.timer.due(0) : next;
    return {
      due: this.timer.inFlight ? undefined : due,
      covers: (job) => job.searchAgainAt === undefined && (isForNew || !isNew(job)) && !this.#isDelayed(job, now),
    };
  }

  /** Polls that one round over all jobs takes. */
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

  /** Takes the rows of a page. */
  onPage(page: number, rows: readonly { readonly id: number }[]): void {
    const jobs = rows.flatMap(({ id }) => this.#jobs.get(id) ?? []);
    if (this.#sweep?.onPage(page, jobs, rows.length === 0)) for (const job of jobs) job.searchAgainAt = undefined;
    this.#finishIfDone();
  }

  /** Takes note of a page that could not be read. */
  onFailure(page: number, failure: SweepFailure): void {
    this.#failure = failure;
    this.#sweep?.onFailure(page, failure);
    this.#finishIfDone();
  }

  /** A job is not waited for any more. */
  remove(job: Job<T>): void {
    this.#sweep?.missing.delete(job);
    if (this.#jobs.size === 0) this.#stop();
    else if (!this.timer.inFlight) this.#finishIfDone();
  }

  /** Leaves the list alone for some minutes, because it cannot be used; returns whether it is for the first time. */
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

  /** Jobs to find: those that the list shows, as far as is known, and those for which it is searched again. */
  #targets(now: number): Job<T>[] {
    return [...this.#jobs.values()].filter(({ searchAgainAt = now }) => searchAgainAt <= now);
  }

  /** Returns whether failed pages leave a job without a recent state. A 429 would fail its own poll, too. */
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
