import type { JobResource } from '../../spec/job-status.ts';
import { RESOURCE_PAGE_CAP } from '../../spec/limits.ts';
import { type Job, PollTimer } from './job.ts';
import type { Urgency } from './poll-rate.ts';

/** Minimum time between the starts of two sweeps of one kind. */
const MIN_SWEEP_GAP_MS = 1_000;
/** Pages with too few awaited jobs that one sweep may read: one for each job to find, within these limits. */
const MAX_PAGES_WITHOUT_MATCH = { min: 2, max: 25 } as const;
/** How long a job that a sweep left out is polled separately before the list is searched for it again. */
const SEARCH_AGAIN_MS = 300_000;
/** How long a list that cannot be used is not read. */
const DISABLED_MS = 600_000;

/** Why a page could not be read. */
export type SweepFailure = '429' | 'other';

/**
 * One pass over the pages of a list. Chooses the next page: first those that several jobs shared in the previous sweep
 * and then, for jobs still missing, the other pages from the first one on.
 */
export class Sweep<J> {
  readonly startedAt = performance.now();
  /** Jobs that no shared page has shown yet. */
  readonly missing: Set<J>;
  /** Pages to read first in the next sweep: those that several jobs share. */
  readonly shared: number[] = [];
  failure: SweepFailure | undefined;
  readonly #previous: readonly number[];
  readonly #minJobs: number;
  readonly #started = new Set<number>();
  readonly #reading = new Set<number>();
  /** How many more pages with too few awaited jobs the sweep may read. */
  #budget: number;

  /** @param minJobs Minimum jobs to read a page for. */
  constructor(jobs: Iterable<J>, previous: readonly number[], minJobs: number) {
    this.missing = new Set(jobs);
    this.#previous = previous;
    this.#minJobs = minJobs;
    this.#budget = Math.max(MAX_PAGES_WITHOUT_MATCH.min, Math.min(MAX_PAGES_WITHOUT_MATCH.max, this.missing.size));
  }

  /** Returns the page to read next; `undefined` if there is none now. */
  nextPage(): number | undefined {
    if (this.missing.size < this.#minJobs) return undefined;
    const previous = this.#previous.find((page) => !this.#started.has(page));
    const inFlight = this.#reading.size;
    if (previous !== undefined || this.#budget <= inFlight) return previous;
    // Pages in flight may show all jobs that are missing.
    if (inFlight > 0 && this.missing.size <= inFlight * RESOURCE_PAGE_CAP) return undefined;
    let page = 1;
    while (this.#started.has(page)) page++;
    return page;
  }

  get isDone(): boolean {
    return this.#reading.size === 0 && this.nextPage() === undefined;
  }

  /** True if the sweep would read the page, because several jobs shared it in the previous one. */
  expects(page: number): boolean {
    return this.#previous.includes(page) && !this.#started.has(page);
  }

  isReading(page: number): boolean {
    return this.#reading.has(page);
  }

  /** Records that a page is being read. */
  begin(page: number): void {
    this.#started.add(page);
    this.#reading.add(page);
  }

  /**
   * Records the jobs that a page shows; `isLast` if it has no rows. Returns whether it has enough jobs to count as
   * shared: otherwise they stay missing, as reading them separately costs no more.
   */
  onPage(page: number, jobs: readonly J[], isLast: boolean): boolean {
    this.begin(page);
    this.#reading.delete(page);
    if (jobs.length < this.#minJobs) {
      this.#budget = isLast ? 0 : this.#budget - 1;
      return false;
    }
    this.shared.push(page);
    for (const job of jobs) this.missing.delete(job);
    return true;
  }

  /** Records a page that could not be read. Apart from the previous sweep's pages, one more page is read at most. */
  onFailure(page: number, failure: SweepFailure): void {
    this.begin(page);
    this.#reading.delete(page);
    this.failure = failure;
    this.#budget = Math.min(1, this.#budget - 1);
    if (this.#previous.includes(page)) this.shared.push(page);
  }
}

/** A request for a page, and when it is due. */
export interface PagePoll {
  /** A search for new jobs, a sweep over the pages of all jobs, or a single page between two sweeps. */
  readonly kind: 'search' | 'sweep' | 'page';
  readonly due: number;
  readonly urgency: Urgency;
  /** Chooses the page when the request is sent; begins a search or sweep unless one is under way. */
  choose(): number | undefined;
}

/** The jobs that a list is read for, and how often. */
export interface SweepLoad<T extends JobResource> {
  /** Jobs that nothing has shown yet. */
  readonly fresh: ReadonlySet<Job<T>>;
  /** Jobs that are polled separately. */
  readonly alone: ReadonlySet<Job<T>>;
  /** Milliseconds between two sweeps. */
  readonly period: number;
  /** Returns when to read a page with a new wait again; `Infinity` if it is not new enough. */
  youngDue(newestAt: number, readAt: number): number;
}

/** A page that several jobs share. */
interface Page {
  readonly readAt: number;
  /** When the newest of its waits began. */
  readonly newestAt: number;
}

/** The sweeps of one list: which jobs it shows, and which page is due next. */
export class Sweeps<T extends JobResource> {
  /** Jobs that the list shows, as far as is known. */
  readonly listed = new Set<Job<T>>();
  /** Periods between sweeps, and the requests in flight. */
  readonly timer = new PollTimer();
  /** Why the last search or sweep is incomplete, if it is. */
  failure: SweepFailure | undefined;
  readonly #minJobs: number;
  readonly #pages = new Map<number, Page>();
  readonly #reading = new Set<number>();
  /** Pages to be read soon: a wait for one of their jobs is about to time out. */
  readonly #requested = new Set<number>();
  #search: Sweep<Job<T>> | undefined;
  #sweep: Sweep<Job<T>> | undefined;
  #startedAt = Number.NEGATIVE_INFINITY;
  #searchAgainAt = Number.NEGATIVE_INFINITY;
  #disabledUntil = Number.NEGATIVE_INFINITY;

  /** @param minJobs Minimum jobs on a page to read it instead of each job separately. */
  constructor(minJobs: number) {
    this.#minJobs = minJobs;
  }

  get isDisabled(): boolean {
    return performance.now() < this.#disabledUntil;
  }

  /** True if pages keep the listed jobs up to date, so that none is polled separately. */
  get isSweeping(): boolean {
    return !this.isDisabled && (this.#sweep !== undefined || this.listed.size >= this.#minJobs);
  }

  /** Polls that one sweep takes. */
  get pollsPerRound(): number {
    return Math.max(this.#pages.size, Math.ceil(this.listed.size / RESOURCE_PAGE_CAP));
  }

  /** When the newest wait of each page began. */
  get newestAt(): readonly number[] {
    return [...this.#pages.values()].map(({ newestAt }) => newestAt);
  }

  /** Returns whether the list is searched for new jobs, so that none is read separately. */
  finds(fresh: ReadonlySet<Job<T>>): boolean {
    return fresh.size >= this.#minJobs && this.failure === undefined && !this.isDisabled;
  }

  /** Returns the next request of each kind. */
  *polls({ fresh, alone, period, youngDue }: SweepLoad<T>): Generator<PagePoll, void> {
    if (this.isDisabled) return;
    const now = performance.now();
    const afterGap = Math.max(this.timer.pausedUntil, this.#startedAt + MIN_SWEEP_GAP_MS);
    if (this.#search ? this.#search.nextPage() !== undefined : this.finds(fresh)) {
      const due = this.#search ? this.timer.pausedUntil : afterGap;
      yield { kind: 'search', due, urgency: 'now', choose: () => this.#nextOfSearch(fresh) };
    }
    const searchedFor = now < this.#searchAgainAt ? new Set<Job<T>>() : alone;
    if (this.#sweep ? this.#sweep.nextPage() !== undefined : this.listed.size + searchedFor.size >= this.#minJobs) {
      const due = this.#sweep ? this.timer.pausedUntil : Math.max(afterGap, this.timer.due(period));
      yield { kind: 'sweep', due, urgency: 'regular', choose: () => this.#nextOfSweep(searchedFor) };
    }
    for (const [page, { readAt, newestAt }] of this.#pages) {
      if (this.#reading.has(page)) continue;
      const due = this.#requested.has(page) ? now : Math.max(youngDue(newestAt, readAt), this.timer.pausedUntil);
      if (due < Number.POSITIVE_INFINITY) yield { kind: 'page', due, urgency: 'soon', choose: () => page };
    }
  }

  /**
   * Sends a request for a page; resolves with the page and the outcome, or `undefined` if it was aborted. The page counts as
   * being read until its outcome is recorded, so that it is not read a second time in between.
   */
  async read<R>(
    poll: PagePoll,
    request: (page: number, signal: AbortSignal, onCall: (id: string) => void) => PromiseLike<R>,
  ) {
    const page = poll.choose();
    if (page === undefined) return undefined;
    this.#reading.add(page);
    this.#requested.delete(page);
    const outcome = await this.timer.send((signal, onCall) => request(page, signal, onCall));
    if (!outcome) this.#reading.delete(page);
    return outcome && { page, outcome };
  }

  /** Schedules a read of the page that shows a job; `false` if no page does. */
  request({ page }: Job<T>): boolean {
    if (page === undefined || !this.#pages.has(page)) return false;
    this.#requested.add(page);
    return true;
  }

  /** Records the jobs that a page shows; `isLast` if it has no rows. Returns the jobs that a search or sweep has not found. */
  onPage(page: number, jobs: readonly Job<T>[], isLast: boolean, readAt: number): Job<T>[] {
    this.#reading.delete(page);
    for (const sweep of this.#underWay()) if (sweep.isReading(page)) sweep.onPage(page, jobs, isLast);
    if (jobs.length >= this.#minJobs) {
      this.#pages.set(page, { readAt, newestAt: Math.max(...jobs.map(({ timer }) => timer.createdAt)) });
      for (const job of jobs) {
        job.page = page;
        this.listed.add(job);
        for (const sweep of this.#underWay()) sweep.missing.delete(job);
      }
    }
    return this.#finish();
  }

  /** Records a page that could not be read. Returns as `onPage` does. */
  onFailure(page: number, failure: SweepFailure): Job<T>[] {
    this.#reading.delete(page);
    this.failure = failure;
    for (const sweep of this.#underWay()) if (sweep.isReading(page)) sweep.onFailure(page, failure);
    return this.#finish();
  }

  /** Stops searching for a job that no wait awaits any longer. */
  remove(job: Job<T>): Job<T>[] {
    this.listed.delete(job);
    for (const sweep of this.#underWay()) sweep.missing.delete(job);
    return this.#finish();
  }

  /** Stops reading a list that cannot be used, for ten minutes; returns whether this is the first time. */
  disable(): boolean {
    const isFirst = this.#disabledUntil === Number.NEGATIVE_INFINITY;
    this.#disabledUntil = performance.now() + DISABLED_MS;
    this.#searchAgainAt = this.#disabledUntil;
    this.stop();
    return isFirst;
  }

  /** Aborts what is under way and forgets which pages show jobs. */
  stop(): void {
    this.timer.abort();
    this.listed.clear();
    this.#pages.clear();
    this.#requested.clear();
    this.#reading.clear();
    this.#search = undefined;
    this.#sweep = undefined;
  }

  #underWay(): Sweep<Job<T>>[] {
    return [this.#search, this.#sweep].filter((sweep) => sweep !== undefined);
  }

  #nextOfSearch(fresh: ReadonlySet<Job<T>>): number | undefined {
    if (!this.#search) {
      this.#search = new Sweep(fresh, [], this.#minJobs);
      this.#startedAt = this.#search.startedAt;
      // With no job listed yet, the search covers every job, so the sweep period starts here.
      if (this.listed.size === 0) this.timer.begin();
    }
    const page = this.#search.nextPage();
    if (page === undefined) return undefined;
    this.#search.begin(page);
    // What a search reads, the sweep need not read again.
    if (this.#sweep?.expects(page)) this.#sweep.begin(page);
    return page;
  }

  #nextOfSweep(searchedFor: ReadonlySet<Job<T>>): number | undefined {
    if (!this.#sweep) {
      const pages = [...this.#pages.keys()].sort((a, b) => a - b);
      this.#sweep = new Sweep([...this.listed, ...searchedFor], pages, this.#minJobs);
      this.#startedAt = this.#sweep.startedAt;
      this.timer.begin();
    }
    const page = this.#sweep.nextPage();
    if (page !== undefined) this.#sweep.begin(page);
    return page;
  }

  /** Ends what has nothing left to read; returns the jobs that were not found, unless a page could not be read. */
  #finish(): Job<T>[] {
    const done = this.#underWay().filter(({ isDone }) => isDone);
    if (done.length === 0) return [];
    if (this.#sweep?.isDone) {
      const { shared } = this.#sweep;
      for (const page of this.#pages.keys()) if (!shared.includes(page)) this.#pages.delete(page);
      this.failure = this.#sweep.failure;
      this.#sweep = undefined;
    }
    if (this.#search?.isDone) this.#search = undefined;
    const missing = done.filter(({ failure }) => !failure).flatMap((sweep) => [...sweep.missing]);
    for (const job of missing) this.listed.delete(job);
    const now = performance.now();
    if (missing.length > 0 && now >= this.#searchAgainAt) this.#searchAgainAt = now + SEARCH_AGAIN_MS;
    return missing;
  }
}
