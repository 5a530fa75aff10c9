import { RateLimitError } from '../errors/api-errors.ts';
import type { CallOptions, RequestOptions } from '../http/index.ts';
import { type JobKind, type Observed, progressOf } from '../spec/job-status.ts';
import { isOlder } from '../util/timestamps.ts';
import { Job, type JobRow, type JobSource, type Subscriber, type UpdateSource } from './job.ts';
import type { PollGroup, PollRequest, Scheduler } from './scheduler.ts';
import { Sweeps } from './sweeps.ts';
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
/** Minimum time from the start of a job's last read to a requested refresh. */
const MIN_READ_GAP_MS = 2_000;
/** If a job's last poll is older than this, a wait that joins others for the job has it read again. */
const STALE_AFTER_MS = 10_000;
/** Maximum duration of a poll, including its waits for a token and a permit. */
const POLL_DEADLINE_MS = 120_000;

/** Options of a {@link JobGroup}. Groups with the same name share queues and a maximum of polls in flight. */
export interface JobGroupOptions<T> {
  readonly scheduler: Scheduler;
  readonly name: string;
  /** Reads a page of the list, with as many rows as the service allows. Without it, each job is polled separately. */
  readonly readPage?: (page: number, options: CallOptions) => PromiseLike<readonly JobRow<T>[]>;
  /** Request options of the polls. */
  readonly request?: Omit<RequestOptions, 'signal'> | undefined;
  /** Logs that the list cannot be used. */
  readonly warn?: (message: string) => void;
}

/** Jobs that are polled together: by pages of their list where several jobs share a page, otherwise one by one. */
export class JobGroup<T extends Observed> implements PollGroup {
  readonly #options: JobGroupOptions<T>;
  readonly #jobs = new Map<number, Job<T>>();
  /** Minimum jobs to read a page for, instead of each job separately; `Infinity` if the list is not used. */
  readonly #minJobs: number;
  #sweeps: Sweeps<T> | undefined;
  #webhooks: WebhookHealth | undefined;
  #outage: TokenOutage | undefined;

  constructor(options: JobGroupOptions<T>) {
    const { readPage, scheduler } = options;
    this.#options = options;
    this.#minJobs = !readPage || scheduler.via === 'get' ? Number.POSITIVE_INFINITY : scheduler.via === 'list' ? 1 : 2;
  }

  get size(): number {
    return [...this.#jobs.values()].reduce((sum, { subscribers }) => sum + subscribers.size, 0);
  }

  get round(): number {
    if (this.#webhooks?.healthy) return 0;
    return this.#sweeps?.round() ?? this.#jobs.size;
  }

  /** Returns a new group for a wait with request options. It does not use the list, whose requests lack them. */
  withRequest(request: Omit<RequestOptions, 'signal'>): JobGroup<T> {
    const { scheduler, name } = this.#options;
    return new JobGroup({ scheduler, name, request });
  }

  /** Polls a job on behalf of `subscriber`; returns a function that unsubscribes it. */
  subscribe(source: JobSource<T>, id: number, subscriber: Subscriber<T>): () => void {
    const job = this.#jobs.get(id) ?? new Job(id, source);
    const { last, timer } = job;
    this.#jobs.set(id, job);
    job.subscribers.add(subscriber);
    if (last) {
      job.deliverLast(last, subscriber);
      if (performance.now() - (timer.polledAt ?? 0) > STALE_AFTER_MS) job.requestRefresh('changed');
    }
    if (this.#jobs.size >= this.#minJobs) this.#sweeps ??= new Sweeps(this.#jobs, this.#minJobs);
    this.#options.scheduler.add(this);
    return () => {
      if (!job.subscribers.delete(subscriber) || job.subscribers.size > 0) return;
      this.#jobs.delete(id);
      timer.abort();
      this.#sweeps?.remove(job);
      if (this.#jobs.size === 0) this.#options.scheduler.remove(this);
      this.#options.scheduler.wake();
    };
  }

  *polls(period: number): Generator<PollRequest, void> {
    const every = this.#webhooks?.healthy ? Math.max(FALLBACK_PERIOD_MS, period) : period;
    const { name } = this.#options;
    const sweep = `${name} sweep`;
    const plan = this.#sweeps?.plan(every);
    if (plan?.due !== undefined)
      yield { queue: sweep, limit: sweep, due: plan.due, run: (onPermit) => this.#pollPage(onPermit) };
    for (const job of this.#jobs.values()) {
      const { timer, refreshReason } = job;
      if (timer.inFlight || (!refreshReason && plan?.covers(job))) continue;
      const queue = `${name} ${refreshReason ?? (timer.polledAt === undefined ? 'first' : 'regular')}`;
      const due = refreshReason ? timer.startedAt + MIN_READ_GAP_MS : timer.due(every);
      yield { queue, limit: name, due, run: (onPermit) => this.#poll(job, onPermit) };
    }
  }

  notify(kinds: readonly JobKind[], id: number, data: unknown): boolean {
    const job = this.#jobs.get(id);
    if (!job || !kinds.includes(job.source.kind)) return false;
    const resource = job.source.decode(data)?.resource;
    if (resource && isOlder(resource, job.last?.resource)) return false;
    if (!resource) job.requestRefresh('changed');
    else if (job.update(resource, 'webhook', performance.now())) {
      this.#webhooks ??= new WebhookHealth();
      this.#webhooks.received();
    }
    this.#options.scheduler.wake();
    return resource !== undefined;
  }

  async #poll(job: Job<T>, onPermit: () => void): Promise<void> {
    const outcome = await job.timer.run((signal) => job.source.read(job.id, this.#callOptions(signal, onPermit)));
    if (!outcome) return;
    const { startedAt } = outcome;
    if ('result' in outcome) {
      this.#options.scheduler.rate.onSuccess();
      this.#outage = undefined;
      this.#update(job, outcome.result, 'poll', startedAt);
    } else {
      job.timer.pause(requestedPause(outcome.error));
      this.#onError(outcome.error, startedAt, [job]);
    }
  }

  async #pollPage(onPermit: () => void): Promise<void> {
    const { readPage } = this.#options;
    const sweeps = this.#sweeps;
    const page = sweeps?.nextPage();
    if (!readPage || !sweeps || page === undefined) return;
    const outcome = await sweeps.timer.run((signal) => readPage(page, this.#callOptions(signal, onPermit)));
    if (!outcome) return;
    const { startedAt } = outcome;
    if ('result' in outcome) this.#onRows(sweeps, page, outcome.result, startedAt);
    else if (page > 1 && isBeyondLastPage(outcome.error)) this.#onRows(sweeps, page, [], startedAt);
    else if (isUnlistable(outcome.error)) this.#disable(sweeps, String(outcome.error));
    else {
      this.#onError(outcome.error, startedAt, this.#jobs.values());
      sweeps.timer.pause(requestedPause(outcome.error));
      sweeps.onFailure(page, RateLimitError.isInstance(outcome.error) ? '429' : 'other');
    }
  }

  #onRows(sweeps: Sweeps<T>, page: number, rows: readonly JobRow<T>[], startedAt: number): void {
    const shown = rows.filter(({ id }) => this.#jobs.has(id));
    if (shown.some(({ status }) => status === undefined)) {
      this.#disable(sweeps, 'its rows carry no `status`');
      return;
    }
    this.#options.scheduler.rate.onSuccess();
    this.#outage = undefined;
    sweeps.onPage(page, rows);
    for (const { id, status = 0, resource } of shown) {
      // A callback of an earlier row may have ended the last wait for this job.
      const job = this.#jobs.get(id);
      if (!job) continue;
      job.timer.polledAt = startedAt;
      if (resource) this.#update(job, resource, 'list', startedAt);
      else if (status !== job.last?.resource.status.id) {
        // An incomplete row shows only that the status has changed: read the resource.
        const isRunning = progressOf(job.source.kind, { id, status: { id: status, name: '' } }) === 'running';
        job.requestRefresh(isRunning ? 'changed' : 'ended');
      }
    }
  }

  #disable(sweeps: Sweeps<T>, reason: string): void {
    const { name, warn } = this.#options;
    const advice = 'Each resource is read on its own; the list is tried again every ten minutes.';
    if (sweeps.disable()) warn?.(`Cannot poll via the list of ${name}: ${reason}. ${advice}`);
  }

  /** Returns the options of a poll's request, without retries: the next poll is the retry. */
  #callOptions(signal: AbortSignal, onPermit: () => void): CallOptions {
    const { request = {} } = this.#options;
    const deadline = Math.min(POLL_DEADLINE_MS, request.deadline ?? POLL_DEADLINE_MS);
    return { ...request, maxRetries: 0, deadline, signal, priority: 'background', onPermit };
  }

  #update(job: Job<T>, resource: T, source: UpdateSource, startedAt: number): void {
    const wasKnown = job.last !== undefined;
    if (job.update(resource, source, startedAt) && wasKnown) this.#webhooks?.missedCompletion();
  }

  /**
   * Handles a failed poll of `jobs`. Their waits continue after a transient error and, once the job's state is known,
   * after a failure of the token source (up to ten minutes), the limiter or an override. Other errors end the waits.
   */
  #onError(error: unknown, startedAt: number, jobs: Iterable<Job<T>>): void {
    const { rate } = this.#options.scheduler;
    if (RateLimitError.isInstance(error)) {
      rate.onThrottled(startedAt);
      rate.pause(requestedPause(error));
    }
    this.#outage ??= new TokenOutage();
    const isUnsent = isUnsendable(error) && !this.#outage.isTooLong(error);
    for (const job of [...jobs]) {
      if (isTransient(error) || (isUnsent && job.last)) job.reportPollError(error);
      else job.fail(error);
    }
  }
}
