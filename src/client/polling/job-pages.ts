import type { JobResource } from '../../spec/job-status.ts';
import { type Job, PollTarget } from './job.ts';
import type { SharedPolls } from './shared-polls.ts';

/**
 * Maximum number of pages with too few awaited jobs that a search reads: the number of jobs to find, within these
 * bounds.
 */
const MAX_PAGES_WITHOUT_MATCH = { min: 2, max: 25 } as const;
/** Minimum time between the starts of two searches, in milliseconds. */
const MIN_SEARCH_GAP_MS = 1_000;
/**
 * Milliseconds until the next search for a job that a search has not found. Meanwhile, the waits poll the job
 * separately.
 */
const SEARCH_AGAIN_MS = 300_000;
/** Milliseconds until the next search after a failed search. */
const SEARCH_AGAIN_AFTER_FAILURE_MS = 30_000;
/** Milliseconds during which the waits do not read an unusable list. */
const DISABLED_MS = 600_000;

/** A search for jobs whose pages are unknown, starting at the first page of the list. */
interface Search {
  readonly startedAt: number;
  /** The next page to read. */
  page: number;
  /** Remaining number of pages with too few awaited jobs that the search may read. */
  budget: number;
}

/** The list that {@link JobPages} reads. */
interface JobPagesOptions<T extends JobResource> {
  readonly polls: SharedPolls;
  /** Minimum number of awaited jobs on a page for polling the page instead of each job separately. */
  readonly minJobs: number;
  /** Reads a page, passes its jobs to `onPage`, and resolves with whether the waits need another poll. */
  read(page: number, target: PollTarget<Job<T>>, signal: AbortSignal, onPermit: () => void): Promise<boolean>;
}

/** The pages of a list that contain awaited jobs, and the search for jobs whose pages are unknown. */
export class JobPages<T extends JobResource> {
  readonly #options: JobPagesOptions<T>;
  readonly #pages = new Map<number, PollTarget<Job<T>>>();
  /** The jobs to search for, and the target that reads the next page of the search. */
  readonly #sought = new Set<Job<T>>();
  readonly #searchTarget = new PollTarget<Job<T>>(this.#sought, (...poll) => this.#continueSearch(...poll));
  #search: Search | undefined;
  #disabledUntil = Number.NEGATIVE_INFINITY;

  constructor(options: JobPagesOptions<T>) {
    this.#options = options;
  }

  /**
   * Plans the next poll of the list page that shows the job. If the page is unknown, adds the job to the search, and
   * plans the search's next poll. Returns `undefined` if the job needs its own poll.
   */
  plan(job: Job<T>, period: number): PollTarget<Job<T>> | undefined {
    if (job.page) return job.page.plan('page', period);
    if (performance.now() < Math.max(job.searchFrom, this.#disabledUntil)) return undefined;
    this.seek(job);
    if (this.#sought.size < this.#options.minJobs) return undefined;
    const search = this.#searchTarget.plan('page', 0);
    search.isUrgent = true;
    return search;
  }

  /** Adds a job to the search. The search starts once there are enough jobs. */
  seek(job: Job<T>): void {
    if (this.#sought.has(job)) return;
    this.#sought.add(job);
    // Wake the waits of jobs that were too few for a search: they sleep until their separate polls.
    if (this.#sought.size === this.#options.minJobs) this.#searchTarget.wake();
  }

  /** Records which jobs a page shows. `isLast` is true for a page without rows. */
  onPage(number: number, shown: ReadonlySet<Job<T>>, isLast: boolean, startedAt: number): void {
    const { polls, minJobs } = this.#options;
    const isShared = shown.size >= minJobs;
    const { period } = polls;
    for (const job of this.#pages.get(number)?.jobs ?? []) {
      if (isShared && shown.has(job)) continue;
      this.#place(job, undefined);
      // The job has probably moved to the next page, where the next poll or a search finds it.
      job.searchFrom = startedAt + period;
      job.own.shownBy(startedAt + period);
    }
    if (isShared) {
      const page = this.#pages.get(number) ?? this.#addPage(number);
      page.shownBy(startedAt);
      for (const job of shown) this.#place(job, page);
    }
    const search = this.#search;
    if (search?.page !== number || startedAt < search.startedAt) return;
    search.page++;
    if (!isShared) search.budget = isLast ? 0 : search.budget - 1;
    if (search.budget <= 0 || this.#missedBy(search).length < minJobs) this.#endSearch(search, SEARCH_AGAIN_MS);
  }

  /** Removes a job without waits. */
  remove(job: Job<T>): void {
    this.#place(job, undefined);
    this.#sought.delete(job);
    if (this.#sought.size === 0) this.#stopSearch();
  }

  /** Stops reading an unusable list for ten minutes. Returns true at the first call. */
  disable(): boolean {
    const isFirst = this.#disabledUntil === Number.NEGATIVE_INFINITY;
    this.#disabledUntil = performance.now() + DISABLED_MS;
    for (const { jobs } of this.#pages.values()) for (const job of jobs) this.#place(job, undefined);
    this.#stopSearch();
    this.#searchTarget.wake();
    return isFirst;
  }

  #addPage(number: number): PollTarget<Job<T>> {
    const read: PollTarget['read'] = async (signal, onPermit) => {
      await this.#options.read(number, page, signal, onPermit);
    };
    const page = new PollTarget<Job<T>>(new Set(), read);
    this.#pages.set(number, page);
    return page;
  }

  #place(job: Job<T>, page: PollTarget<Job<T>> | undefined): void {
    const { polls } = this.#options;
    if (page) this.#sought.delete(job);
    if (job.page === page) return;
    job.page?.jobs.delete(job);
    if (job.page?.jobs.size === 0) polls.remove(job.page);
    job.page = page;
    page?.jobs.add(job);
    // A job on a page needs no separate polls; a job without a page does.
    polls.remove(job.own);
    job.wake();
  }

  async #continueSearch(signal: AbortSignal, onPermit: () => void): Promise<void> {
    const { min, max } = MAX_PAGES_WITHOUT_MATCH;
    const budget = Math.max(min, Math.min(max, this.#sought.size));
    this.#search ??= { startedAt: performance.now(), page: 1, budget };
    const search = this.#search;
    const hasFailed = await this.#options.read(search.page, this.#searchTarget, signal, onPermit);
    if (hasFailed) this.#endSearch(search, SEARCH_AGAIN_AFTER_FAILURE_MS);
  }

  /** Ends a search. The next search for the jobs that were not found is in `ms` milliseconds. */
  #endSearch(search: Search, ms: number): void {
    const target = this.#searchTarget;
    target.pausedUntil = Math.max(target.pausedUntil, search.startedAt + MIN_SEARCH_GAP_MS);
    for (const job of this.#missedBy(search)) {
      this.#sought.delete(job);
      job.searchFrom = performance.now() + ms;
      job.wake();
    }
    this.#stopSearch();
  }

  /** Returns the jobs that a search has not found, except jobs added after the search began. */
  #missedBy({ startedAt }: Search): readonly Job<T>[] {
    return [...this.#sought].filter(({ createdAt }) => createdAt <= startedAt);
  }

  #stopSearch(): void {
    this.#search = undefined;
    this.#options.polls.remove(this.#searchTarget);
  }
}
