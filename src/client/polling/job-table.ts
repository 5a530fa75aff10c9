import { NotFoundError, RateLimitError } from '../../errors/api-errors.ts';
import type { JobKind, JobResource } from '../../spec/job-status.ts';
import { isOlder } from '../../util/timestamps.ts';
import { BACKGROUND, type CallOptions, type RequestOptions } from '../http/request-options.ts';
import { Job, type JobRow, type JobSource, type PollTarget, type UpdateOrigin } from './job.ts';
import { JobPages } from './job-pages.ts';
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

/** Milliseconds between polls while webhooks are healthy. These polls find job ends that no webhook reported. */
const FALLBACK_PERIOD_MS = 60_000;
/** Age of a job's last poll, in milliseconds, after which a new wait for the job requests a poll. */
const STALE_AFTER_MS = 15_000;
/**
 * Maximum age of a job's state while polls of its page fail, in milliseconds. After that, the waits poll the job
 * separately.
 */
const MAX_DELAY_MS = 30_000;

export interface JobTableOptions<T> {
  readonly polls: SharedPolls;
  readonly name: string;
  /**
   * Reads a page of the list, with as many rows as the service allows. Without this function, the waits poll each job
   * separately.
   */
  readonly readPage?: (page: number, options: CallOptions) => PromiseLike<readonly JobRow<T>[]>;
  readonly request?: Omit<RequestOptions, 'signal'> | undefined;
  /** Logs that the client cannot use the list. */
  readonly warn?: (message: string) => void;
}

/** The awaited jobs of one list. Plans their polls, and passes on the results. */
export class JobTable<T extends JobResource> {
  readonly #options: JobTableOptions<T>;
  readonly #jobs = new Map<number, Job<T>>();
  /** The pages of the list that show the jobs. Not set if the waits do not use the list. */
  readonly #pages: JobPages<T> | undefined;
  #webhooks: WebhookHealth | undefined;
  #outage: TokenOutage | undefined;

  constructor(options: JobTableOptions<T>) {
    const { readPage, polls } = options;
    this.#options = options;
    if (!readPage || polls.via === 'get') return;
    const minJobs = polls.via === 'list' ? 1 : 2;
    this.#pages = new JobPages({ polls, minJobs, read: (...poll) => this.#pollPage(...poll) });
  }

  /** Returns a new table for a wait with request options. The new table polls each job separately. */
  withRequest(request: Omit<RequestOptions, 'signal'>): JobTable<T> {
    const { polls, name } = this.#options;
    return new JobTable({ polls, name, request });
  }

  /** Adds a wait for a job, or a watch of a job. */
  join(source: JobSource<T>, id: number): Job<T> {
    const { polls } = this.#options;
    const job = this.#jobs.get(id) ?? this.#add(id, source);
    polls.size++;
    polls.tables.add(this);
    job.waits++;
    if (job.last && performance.now() - job.own.periodFrom > STALE_AFTER_MS) job.own.request('refresh');
    return job;
  }

  /** Removes a wait or a watch. Removes the job when it has neither. */
  leave(job: Job<T>): void {
    const { polls } = this.#options;
    polls.size--;
    if (--job.waits === 0) this.#remove(job);
  }

  /**
   * Sends the polls of a job that are due and that the poll rate allows. Returns the milliseconds until another poll
   * may be due. The signal aborts the polls.
   */
  pollDue(job: Job<T>, signal: AbortSignal): number {
    const { polls } = this.#options;
    const targets = this.#targetsOf(job);
    // A wait that sends a poll sleeps until the poll ends, at most until the deadline of the poll.
    let sleep = POLL_DEADLINE_MS;
    for (const target of targets) {
      const wait = polls.takeTurn(target);
      if (wait > 0) sleep = Math.min(sleep, wait);
      else void polls.poll(target, signal);
    }
    for (const target of targets) polls.expect(target, sleep);
    return sleep;
  }

  /** Passes the data of a webhook event to the waits for its job. Returns whether the data contained the resource. */
  notify(kinds: readonly JobKind[], id: number, data: unknown): boolean {
    const job = this.#jobs.get(id);
    if (!job || !kinds.includes(job.source.kind)) return false;
    const resource = job.source.decode(data)?.resource;
    if (resource && isOlder(resource, job.last?.resource)) return false;
    if (!resource) job.own.request('refresh');
    else if (job.update(resource, { source: 'webhook', startedAt: performance.now() })) {
      this.#webhooks ??= new WebhookHealth();
      this.#webhooks.received();
    }
    return resource !== undefined;
  }

  /**
   * Returns the targets to poll for a job: its page or the search of the list and, if these do not suffice, its
   * resource.
   */
  #targetsOf(job: Job<T>): PollTarget[] {
    const { polls } = this.#options;
    const period = this.#webhooks?.healthy ? Math.max(FALLBACK_PERIOD_MS, polls.period) : polls.period;
    const own = job.own.plan('single', period);
    const page = this.#pages?.plan(job, period);
    if (!page) return [own];
    // The page suffices, unless a wait has requested the resource. A search suffices only until the first state,
    // because the search might not find the job.
    const isSufficient = job.page ? !own.isRequested : !job.last;
    return isSufficient ? [page] : [page, own];
  }

  async #pollJob(job: Job<T>, signal: AbortSignal, onPermit: () => void): Promise<void> {
    const origin = startPoll('poll');
    try {
      const resource = await job.source.read(job.id, this.#callOptions(signal, origin, onPermit));
      this.#onSuccess();
      this.#update(job, resource, origin);
    } catch (error) {
      if (signal.aborted) return;
      job.own.pausedUntil = performance.now() + requestedPause(error);
      this.#onError(error, origin.startedAt, [job]);
    }
  }

  /** Reads a page, and resolves with whether the waits need another poll. */
  async #pollPage(
    number: number,
    target: PollTarget<Job<T>>,
    signal: AbortSignal,
    onPermit: () => void,
  ): Promise<boolean> {
    const origin = startPoll('list');
    try {
      const rows = await this.#options.readPage?.(number, this.#callOptions(signal, origin, onPermit));
      this.#onRows(number, rows ?? [], origin);
    } catch (error) {
      if (signal.aborted) return false;
      if (number > 1 && isBeyondLastPage(error)) this.#onRows(number, [], origin);
      else if (isUnlistable(error)) this.#disableList(String(error));
      else {
        target.pausedUntil = performance.now() + requestedPause(error);
        this.#onError(error, origin.startedAt, this.#jobs.values());
        this.#requestDelayed(target.jobs, error);
        return true;
      }
    }
    return false;
  }

  /** Requests separate polls of jobs whose state is too old because the polls of their page fail. */
  #requestDelayed(jobs: Iterable<Job<T>>, error: unknown): void {
    const oldest = performance.now() - MAX_DELAY_MS;
    for (const { last, own, page } of jobs) {
      if (!page) continue;
      // After a 429, the service would also refuse separate polls: request them only for a first state.
      if (!last || (own.periodFrom < oldest && !RateLimitError.isInstance(error))) own.request('single');
    }
  }

  #onRows(number: number, rows: readonly JobRow<T>[], origin: UpdateOrigin): void {
    const { startedAt } = origin;
    const listed = rows.filter(({ id }) => this.#jobs.has(id));
    if (listed.some(({ status }) => status === undefined)) {
      this.#disableList('its rows have no `status`');
      return;
    }
    this.#onSuccess();
    const jobs = new Set(listed.flatMap(({ id }) => this.#jobs.get(id) ?? []));
    this.#pages?.onPage(number, jobs, rows.length === 0, startedAt);
    for (const { id, status = 0, resource } of listed) {
      const job = this.#jobs.get(id);
      if (!job) continue;
      job.own.shownBy(startedAt);
      job.pollError = undefined;
      if (resource) this.#update(job, resource, origin);
      else if (status !== job.last?.resource.status.id) {
        // A row without all fields shows only that the job has changed.
        const isRunning = job.source.stateOf({ status: { id: status } }) === 'running';
        job.own.request(isRunning ? 'single' : 'refresh');
      }
    }
  }

  #disableList(reason: string): void {
    const { name, warn } = this.#options;
    const advice = 'The client reads each resource separately, and tries the list again every ten minutes.';
    if (this.#pages?.disable()) warn?.(`The list of ${name} cannot be polled: ${reason.replace(/\.$/, '')}. ${advice}`);
  }

  #add(id: number, source: JobSource<T>): Job<T> {
    const job: Job<T> = new Job(id, source, (signal, onPermit) => this.#pollJob(job, signal, onPermit));
    this.#jobs.set(id, job);
    this.#pages?.seek(job);
    return job;
  }

  #remove(job: Job<T>): void {
    const { polls } = this.#options;
    if (this.#jobs.get(job.id) === job) this.#jobs.delete(job.id);
    this.#pages?.remove(job);
    polls.remove(job.own);
    if (this.#jobs.size === 0) polls.tables.delete(this);
  }

  /** Returns the request options of a poll. They disable retries, because the next poll is the retry. */
  #callOptions(signal: AbortSignal, origin: PollOrigin, onPermit: () => void): CallOptions {
    const { request = {} } = this.#options;
    const deadline = Math.min(POLL_DEADLINE_MS, request.deadline ?? POLL_DEADLINE_MS);
    const onCallPermit = (callId: string): void => {
      origin.callId = callId;
      origin.startedAt = performance.now();
      onPermit();
    };
    return { ...request, maxRetries: 0, deadline, signal, [BACKGROUND]: { isPoll: true, onPermit: onCallPermit } };
  }

  #onSuccess(): void {
    this.#options.polls.rate.onSuccess();
    this.#outage = undefined;
  }

  /** Records a state. A poll that shows the end of a running job counts as a missed webhook. */
  #update(job: Job<T>, resource: T, origin: UpdateOrigin): void {
    const wasKnown = job.last !== undefined;
    if (job.update(resource, origin) && wasKnown) this.#webhooks?.missedCompletion();
  }

  /**
   * Handles a failed poll of `jobs`. The waits continue after a transient error, and after a 404 for a resource that
   * this client has just created. If the state of the job is known, they also continue after a failure of the limiter,
   * of an override, of `fetch` or, for up to ten minutes, of the token source. Other errors end the waits.
   */
  #onError(error: unknown, startedAt: number, jobs: Iterable<Job<T>>): void {
    const { rate } = this.#options.polls;
    if (RateLimitError.isInstance(error)) rate.onThrottled(startedAt);
    // If the request was sent, the token source works.
    if (!isUnsendable(error)) this.#outage = undefined;
    this.#outage ??= new TokenOutage();
    const isUnsent = isUnsendable(error) && !this.#outage.record(error);
    for (const job of jobs) {
      const isInvisible = NotFoundError.isInstance(error) && !job.last && job.source.mayBeInvisible(job.id);
      if (isTransient(error) || (isUnsent && job.last) || isInvisible) job.pollError = error;
      else {
        // Later waits for the job start without this failure.
        this.#jobs.delete(job.id);
        job.fail(error);
      }
    }
  }
}

interface PollOrigin extends UpdateOrigin {
  /** Time at which the request received its permit. */
  startedAt: number;
  callId: string | undefined;
}

const startPoll = (source: 'poll' | 'list'): PollOrigin => ({
  source,
  startedAt: performance.now(),
  callId: undefined,
});
