import { RateLimitError } from '../../errors/api-errors.ts';
import type { JobKind, JobResource } from '../../spec/job-status.ts';
import { isOlder } from '../../util/timestamps.ts';
import { BACKGROUND, type CallOptions, type RequestOptions } from '../http/request-options.ts';
import { Job, type JobRow, type JobSource, type UpdateOrigin } from './job.ts';
import { PollTarget } from './poll-target.ts';
import { POLL_DEADLINE_MS, type SharedPolls } from './shared-polls.ts';
import {
  isBeyondLastPage,
  isTransient,
  isUnlistable,
  isUnsendable,
  requestedPause,
  TokenOutage,
} from './wait-errors.ts';
import { WebhookHealth } from './webhook-health.ts';

/** Period between polls while webhooks are healthy: polls then only find job ends that no webhook reported. */
const FALLBACK_PERIOD_MS = 60_000;
/** If a job's last poll is older than this, a wait that joins others for the job has it read again. */
const STALE_AFTER_MS = 10_000;
/** While pages fail, a job whose state is older than this is polled separately. */
const MAX_DELAY_MS = 30_000;
/** Minimum time between the starts of two searches. */
const MIN_SEARCH_GAP_MS = 1_000;
/** How long a job that a search has not found is polled separately before the list is searched for it again. */
const SEARCH_AGAIN_MS = 300_000;
/** Pages with too few awaited jobs that one search may read: one for each job to find, within these limits. */
const MAX_PAGES_WITHOUT_MATCH = { min: 2, max: 25 } as const;
/** How long a list that cannot be used is not read. */
const DISABLED_MS = 600_000;

/** Options of a {@link JobTable}. */
export interface JobTableOptions<T> {
  readonly polls: SharedPolls;
  readonly name: string;
  /** Reads a page of the list, with as many rows as the service allows. Without it, each job is polled separately. */
  readonly readPage?: (page: number, options: CallOptions) => PromiseLike<readonly JobRow<T>[]>;
  /** Request options of the polls. */
  readonly request?: Omit<RequestOptions, 'signal'> | undefined;
  /** Logs that the list cannot be used. */
  readonly warn?: (message: string) => void;
}

/** A search of a list, from its first page on, for jobs whose pages are unknown. */
interface Search {
  readonly startedAt: number;
  /** The page that it reads next. */
  page: number;
  /** How many more pages with too few awaited jobs it may read. */
  budget: number;
}

/** The awaited jobs that are in one list: which page shows each of them, and what their polls have returned. */
export class JobTable<T extends JobResource> {
  readonly #options: JobTableOptions<T>;
  readonly #jobs = new Map<number, Job<T>>();
  /** The pages that show enough awaited jobs, by number. */
  readonly #pages = new Map<number, PollTarget<Job<T>>>();
  /** Jobs that the list is searched for, and the target that reads the next page of the search. */
  readonly #sought = new Set<Job<T>>();
  readonly #searching = new PollTarget<Job<T>>(this.#sought, (...poll) => this.#continueSearch(...poll));
  #search: Search | undefined;
  #disabledUntil = Number.NEGATIVE_INFINITY;
  /** Minimum jobs on a page to read it instead of each job separately; `Infinity` if the list is not used. */
  readonly #minJobs: number;
  #webhooks: WebhookHealth | undefined;
  #outage: TokenOutage | undefined;

  constructor(options: JobTableOptions<T>) {
    const { readPage, polls } = options;
    this.#options = options;
    this.#minJobs = !readPage || polls.via === 'get' ? Number.POSITIVE_INFINITY : polls.via === 'list' ? 1 : 2;
  }

  /** Returns a new table for a wait with request options. It does not use the list, whose requests lack them. */
  withRequest(request: Omit<RequestOptions, 'signal'>): JobTable<T> {
    const { polls, name } = this.#options;
    return new JobTable({ polls, name, request });
  }

  /** Adds a wait or watch for a job. */
  join(source: JobSource<T>, id: number): Job<T> {
    const { polls } = this.#options;
    const job = this.#jobs.get(id) ?? this.#add(id, source);
    polls.size++;
    polls.tables.add(this);
    job.waits++;
    if (job.last && performance.now() - job.single.shownAt > STALE_AFTER_MS) job.single.request('refresh');
    return job;
  }

  /** Removes a wait or watch; without any, the job is forgotten. */
  leave(job: Job<T>): void {
    const { polls } = this.#options;
    polls.size--;
    if (--job.waits === 0) this.#remove(job);
  }

  /**
   * Polls what the job needs, as far as it is due and its turn has come; returns the milliseconds until there may be
   * something to poll again. The polls end with the signal.
   */
  look(job: Job<T>, signal: AbortSignal): number {
    const { polls } = this.#options;
    const targets = this.#targetsOf(job);
    let sleep = POLL_DEADLINE_MS;
    for (const target of targets) {
      const wait = polls.wait(target);
      if (wait > 0) sleep = Math.min(sleep, wait);
      else void polls.poll(target, signal);
    }
    for (const target of targets) polls.attend(target, sleep);
    return sleep;
  }

  /** Passes the data of an event to the waits for its job; returns whether they took the resource from it. */
  notify(kinds: readonly JobKind[], id: number, data: unknown): boolean {
    const job = this.#jobs.get(id);
    if (!job || !kinds.includes(job.source.kind)) return false;
    const resource = job.source.decode(data)?.resource;
    if (resource && isOlder(resource, job.last?.resource)) return false;
    if (!resource) job.single.request('refresh');
    else if (job.update(resource, { source: 'webhook', startedAt: performance.now() })) {
      this.#webhooks ??= new WebhookHealth();
      this.#webhooks.received();
    }
    return resource !== undefined;
  }

  /** Returns what to poll for a job: its page or a search of the list; otherwise, or in addition, its resource. */
  #targetsOf(job: Job<T>): PollTarget[] {
    const { polls } = this.#options;
    const period = this.#webhooks?.healthy ? Math.max(FALLBACK_PERIOD_MS, polls.period) : polls.period;
    const single = job.single.plan('single', period);
    if (job.page) {
      const page = job.page.plan('page', period);
      return single.isRequested ? [page, single] : [page];
    }
    if (!this.#isSought(job)) return [single];
    const search = this.#searching.plan('page', 0);
    // A search finds the first state of jobs; a job whose state is known is polled as before.
    search.isUrgent = [...this.#sought].some(({ last }) => !last);
    return job.last ? [search, single] : [search];
  }

  /** Returns whether the list is searched for the job, together with enough others. */
  #isSought(job: Job<T>): boolean {
    if (performance.now() < Math.max(job.soughtAt, this.#disabledUntil)) return false;
    this.#seek(job);
    return this.#sought.size >= this.#minJobs;
  }

  #seek(job: Job<T>): void {
    if (this.#sought.has(job)) return;
    this.#sought.add(job);
    // The jobs that were too few for a search until now sleep until their own polls.
    if (this.#sought.size === this.#minJobs) this.#searching.wake();
  }

  async #pollJob(job: Job<T>, signal: AbortSignal, onPermit: () => void): Promise<void> {
    const origin = startPoll('poll');
    try {
      const resource = await job.source.read(job.id, this.#callOptions(signal, origin, onPermit));
      this.#onSuccess();
      this.#update(job, resource, origin);
    } catch (error) {
      if (signal.aborted) return;
      job.single.pausedUntil = performance.now() + requestedPause(error);
      this.#onError(error, origin.startedAt, [job]);
    }
  }

  async #pollPage(number: number, page: PollTarget<Job<T>>, signal: AbortSignal, onPermit: () => void): Promise<void> {
    const failed = await this.#readPage(number, page, signal, onPermit);
    if (!failed) return;
    const oldest = performance.now() - MAX_DELAY_MS;
    for (const { last, single } of page.jobs) {
      // A 429 would refuse separate polls, too, so they are only worth it for a first state.
      if (!last || (last.startedAt < oldest && !RateLimitError.isInstance(failed.error))) single.request('single');
    }
  }

  async #continueSearch(signal: AbortSignal, onPermit: () => void): Promise<void> {
    const { min, max } = MAX_PAGES_WITHOUT_MATCH;
    const budget = Math.max(min, Math.min(max, this.#sought.size));
    this.#search ??= { startedAt: performance.now(), page: 1, budget };
    const failed = await this.#readPage(this.#search.page, this.#searching, signal, onPermit);
    if (failed) this.#endSearch(MAX_DELAY_MS);
  }

  /** Reads a page; resolves with the error if another poll has to replace it. */
  async #readPage(
    page: number,
    target: PollTarget<Job<T>>,
    signal: AbortSignal,
    onPermit: () => void,
  ): Promise<{ readonly error: unknown } | undefined> {
    const origin = startPoll('list');
    try {
      const rows = await this.#options.readPage?.(page, this.#callOptions(signal, origin, onPermit));
      this.#onRows(page, rows ?? [], origin);
    } catch (error) {
      if (signal.aborted) return undefined;
      if (page > 1 && isBeyondLastPage(error)) this.#onRows(page, [], origin);
      else if (isUnlistable(error)) this.#disable(String(error));
      else {
        this.#onError(error, origin.startedAt, this.#jobs.values());
        target.pausedUntil = performance.now() + requestedPause(error);
        return { error };
      }
    }
    return undefined;
  }

  #onRows(page: number, rows: readonly JobRow<T>[], origin: UpdateOrigin): void {
    const { startedAt } = origin;
    const listed = rows.filter(({ id }) => this.#jobs.has(id));
    if (listed.some(({ status }) => status === undefined)) {
      this.#disable('its rows carry no `status`');
      return;
    }
    this.#onSuccess();
    const jobs = new Set(listed.flatMap(({ id }) => this.#jobs.get(id) ?? []));
    this.#placeAll(page, jobs, startedAt);
    if (this.#search?.page === page && startedAt >= this.#search.startedAt)
      this.#advance(this.#search, jobs.size, rows.length === 0);
    for (const { id, status = 0, resource } of listed) {
      const job = this.#jobs.get(id);
      if (!job) continue;
      job.single.shownBy(startedAt);
      if (resource) this.#update(job, resource, origin);
      else if (status !== job.last?.resource.status.id) {
        // A row that leaves fields out shows only that something has changed.
        const isRunning = job.source.progressOf({ id, status: { id: status, name: '' } }) === 'running';
        job.single.request(isRunning ? 'single' : 'refresh');
      }
    }
  }

  /** Records which jobs a page shows. */
  #placeAll(number: number, shown: ReadonlySet<Job<T>>, startedAt: number): void {
    const isShared = shown.size >= this.#minJobs;
    const { round } = this.#options.polls;
    for (const job of this.#pages.get(number)?.jobs ?? []) {
      if (isShared && shown.has(job)) continue;
      this.#place(job, undefined);
      // It may have moved to another page, which is read within a round; or else to one that a search finds.
      job.soughtAt = startedAt + round;
      job.single.pausedUntil = startedAt + 2 * round;
    }
    if (!isShared) return;
    const page = this.#pages.get(number) ?? this.#addPage(number);
    page.shownBy(startedAt);
    for (const job of shown) this.#place(job, page);
  }

  #addPage(number: number): PollTarget<Job<T>> {
    const page: PollTarget<Job<T>> = new PollTarget(new Set(), (...poll) => this.#pollPage(number, page, ...poll));
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
    // Its own polls are no longer needed, or needed again.
    polls.remove(job.single);
    job.wake();
  }

  /** Records what a search has read; ends it when it has found the jobs, or has read enough. */
  #advance(search: Search, jobs: number, isLast: boolean): void {
    search.page++;
    if (jobs < this.#minJobs) search.budget = isLast ? 0 : search.budget - 1;
    const missing = [...this.#sought].filter(({ createdAt }) => createdAt <= search.startedAt);
    if (search.budget <= 0 || missing.length < this.#minJobs) this.#endSearch(SEARCH_AGAIN_MS);
  }

  /** Ends a search; the jobs that it has not found are sought again after `ms`. */
  #endSearch(ms: number): void {
    if (!this.#search) return;
    const { startedAt } = this.#search;
    this.#search = undefined;
    this.#searching.pausedUntil = Math.max(this.#searching.pausedUntil, startedAt + MIN_SEARCH_GAP_MS);
    const missing = [...this.#sought].filter(({ createdAt }) => createdAt <= startedAt);
    for (const job of missing) {
      this.#sought.delete(job);
      job.soughtAt = performance.now() + ms;
      job.wake();
    }
    if (this.#sought.size === 0) this.#options.polls.remove(this.#searching);
  }

  #disable(reason: string): void {
    const { name, warn } = this.#options;
    const isFirst = this.#disabledUntil === Number.NEGATIVE_INFINITY;
    this.#disabledUntil = performance.now() + DISABLED_MS;
    this.#search = undefined;
    this.#options.polls.remove(this.#searching);
    for (const job of this.#jobs.values()) this.#place(job, undefined);
    for (const job of this.#jobs.values()) job.wake();
    const advice = 'Each resource is read on its own; the list is tried again every ten minutes.';
    if (isFirst) warn?.(`Cannot poll via the list of ${name}: ${reason}. ${advice}`);
  }

  #add(id: number, source: JobSource<T>): Job<T> {
    const job: Job<T> = new Job(id, source, (signal, onPermit) => this.#pollJob(job, signal, onPermit));
    this.#jobs.set(id, job);
    if (this.#minJobs < Number.POSITIVE_INFINITY) this.#seek(job);
    return job;
  }

  #remove(job: Job<T>): void {
    const { polls } = this.#options;
    if (this.#jobs.get(job.id) === job) this.#jobs.delete(job.id);
    this.#place(job, undefined);
    this.#sought.delete(job);
    if (this.#sought.size === 0) {
      this.#search = undefined;
      polls.remove(this.#searching);
    }
    polls.remove(job.single);
    if (this.#jobs.size === 0) polls.tables.delete(this);
  }

  /** Returns the options of a poll's request, without retries: the next poll is the retry. */
  #callOptions(signal: AbortSignal, origin: PollOrigin, onPermit: () => void): CallOptions {
    const { request = {} } = this.#options;
    const deadline = Math.min(POLL_DEADLINE_MS, request.deadline ?? POLL_DEADLINE_MS);
    const onCallPermit = (callId: string): void => {
      origin.callId = callId;
      onPermit();
    };
    return { ...request, maxRetries: 0, deadline, signal, [BACKGROUND]: { isPoll: true, onPermit: onCallPermit } };
  }

  #onSuccess(): void {
    this.#options.polls.rate.onSuccess();
    this.#outage = undefined;
  }

  /** Records a state. An end that a poll shows, of a job that was known to run, is one that no webhook has reported. */
  #update(job: Job<T>, resource: T, origin: UpdateOrigin): void {
    const wasKnown = job.last !== undefined;
    if (job.update(resource, origin) && wasKnown) this.#webhooks?.missedCompletion();
  }

  /**
   * Handles a failed poll of `jobs`. Their waits continue after a transient error and, once the job's state is known,
   * after a failure of the token source (up to ten minutes), the limiter or an override. Other errors end the waits.
   */
  #onError(error: unknown, startedAt: number, jobs: Iterable<Job<T>>): void {
    const { rate } = this.#options.polls;
    if (RateLimitError.isInstance(error)) {
      rate.onThrottled(startedAt);
      rate.pause(requestedPause(error));
    }
    // A request that was sent had a token.
    if (!isUnsendable(error)) this.#outage = undefined;
    this.#outage ??= new TokenOutage();
    const isUnsent = isUnsendable(error) && !this.#outage.isTooLong(error);
    for (const job of jobs) {
      if (isTransient(error) || (isUnsent && job.last)) job.pollError = error;
      else {
        // Later waits begin anew.
        this.#jobs.delete(job.id);
        job.fail(error);
      }
    }
  }
}

interface PollOrigin extends UpdateOrigin {
  callId: string | undefined;
}

const startPoll = (source: 'poll' | 'list'): PollOrigin => ({
  source,
  startedAt: performance.now(),
  callId: undefined,
});
