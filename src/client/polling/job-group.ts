import { RateLimitError } from '../../errors/api-errors.ts';
import type { JobKind, JobResource } from '../../spec/job-status.ts';
import { isOlder } from '../../util/timestamps.ts';
import { BACKGROUND, type CallOptions, type RequestOptions } from '../http/request-options.ts';
import { Job, type JobRow, type JobSource, type Subscriber, type UpdateOrigin } from './job.ts';
import { type PollPlan, type Urgency, youngPeriod } from './poll-rate.ts';
import type { PollGroup, PollRequest, Scheduler } from './scheduler.ts';
import { type PagePoll, type SweepFailure, Sweeps } from './sweeps.ts';
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
/** Maximum duration of a poll, including its waits for a token and a permit. */
const POLL_DEADLINE_MS = 120_000;
/** While pages fail (other than by a 429), a job whose state is older than this is polled separately. */
const MAX_DELAY_MS = 30_000;
/** Of the jobs that are polled separately, only so many are considered for the next poll. */
const MAX_SEPARATE = 60;

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
export class JobGroup<T extends JobResource> implements PollGroup {
  readonly #options: JobGroupOptions<T>;
  readonly #jobs = new Map<number, Job<T>>();
  /** Jobs that no poll has shown yet. */
  readonly #fresh = new Set<Job<T>>();
  /** Jobs that are polled separately; the one whose last poll began first comes first. */
  readonly #alone = new Set<Job<T>>();
  /** Jobs whose refresh was requested, by its reason; it may have been done in the meantime. */
  readonly #refreshes = { ended: new Set<Job<T>>(), changed: new Set<Job<T>>() };
  /** Minimum jobs to read a page for, instead of each job separately; `Infinity` if the list is not used. */
  readonly #minJobs: number;
  /** Number of waits and watches under way. */
  size = 0;
  #sweeps: Sweeps<T> | undefined;
  #webhooks: WebhookHealth | undefined;
  #outage: TokenOutage | undefined;
  newestAt = Number.NEGATIVE_INFINITY;

  constructor(options: JobGroupOptions<T>) {
    const { readPage, scheduler } = options;
    this.#options = options;
    this.#minJobs = !readPage || scheduler.via === 'get' ? Number.POSITIVE_INFINITY : scheduler.via === 'list' ? 1 : 2;
  }

  get pollsPerRound(): number {
    if (this.#webhooks?.healthy) return 0;
    const sweeps = this.#sweeps;
    if (!sweeps) return this.#jobs.size;
    const fresh = sweeps.finds(this.#fresh) ? 0 : this.#fresh.size;
    return this.#alone.size + fresh + (sweeps.isSweeping ? sweeps.pollsPerRound : sweeps.listed.size);
  }

  get recentTargets(): number {
    const now = performance.now();
    if (this.#webhooks?.healthy || !isYoung(now - this.newestAt)) return 0;
    const targets = [...(this.#sweeps?.newestAt ?? []), ...this.#separate().map(({ timer }) => timer.createdAt)];
    return targets.filter((newestAt) => isYoung(now - newestAt)).length;
  }

  /** Returns a new group for a wait with request options. It does not use the list, whose requests lack them. */
  withRequest(request: Omit<RequestOptions, 'signal'>): JobGroup<T> {
    const { scheduler, name } = this.#options;
    return new JobGroup({ scheduler, name, request });
  }

  /** Starts a wait or watch, which `subscriber` is. */
  startWait(source: JobSource<T>, id: number, subscriber: Subscriber<T>): Job<T> {
    this.size++;
    const job = this.#jobs.get(id) ?? this.#add(new Job(id, source));
    job.subscribers.add(subscriber);
    const { last, timer } = job;
    if (last) {
      job.deliverLast(last, subscriber);
      const isStale = performance.now() - (timer.polledAt ?? 0) > STALE_AFTER_MS;
      if (isStale) this.#refresh(job, 'changed');
    }
    this.#options.scheduler.add(this);
    return job;
  }

  endWait(job: Job<T>, subscriber: Subscriber<T>): void {
    if (!job.subscribers.delete(subscriber)) return;
    this.size--;
    if (job.subscribers.size > 0) return;
    this.#remove(job);
    this.#options.scheduler.wake();
  }

  /** Schedules a poll of a job as soon as possible, however recent its last poll is. */
  refresh(job: Job<T>): void {
    if (this.#sweeps?.request(job) !== true) this.#refresh(job, 'changed', 0);
    this.#options.scheduler.wake();
  }

  *polls({ period, youngFactor }: PollPlan): Generator<PollRequest, void> {
    const now = performance.now();
    const isHealthy = this.#webhooks?.healthy;
    const every = isHealthy ? Math.max(FALLBACK_PERIOD_MS, period) : period;
    const youngDue = (newestAt: number, polledAt: number): number => {
      const isFollowed = !isHealthy && isYoung(now - newestAt);
      return isFollowed ? polledAt + youngPeriod(polledAt - newestAt) * youngFactor : Number.POSITIVE_INFINITY;
    };
    const sweeps = this.#sweeps;
    const load = { fresh: this.#fresh, alone: this.#alone, period: every, youngDue };
    if (sweeps) for (const poll of sweeps.polls(load)) yield this.#pageRequest(sweeps, poll);
    for (const reason of ['ended', 'changed'] as const) {
      const job = this.#nextRefresh(reason);
      if (job) yield this.#jobRequest(job, reason, Math.max(job.refreshAt, job.timer.pausedUntil), 'soon');
    }
    const fresh = sweeps?.finds(this.#fresh) ? undefined : firstIdle(this.#fresh);
    if (fresh) yield this.#jobRequest(fresh, 'first', fresh.timer.due(every), 'soon');
    for (const job of this.#separate()) {
      const { createdAt, polledAt = createdAt, pausedUntil, isInFlight } = job.timer;
      const young = youngDue(createdAt, polledAt);
      const regular = job.timer.due(every);
      if (isInFlight) continue;
      if (young < regular) yield this.#jobRequest(job, 'young', Math.max(young, pausedUntil), 'soon');
      else yield this.#jobRequest(job, 'regular', regular, 'regular');
    }
    const failure = sweeps?.failure;
    const delayed = failure && firstIdle(sweeps.listed, (job) => isDelayed(job, failure, now));
    if (delayed) yield this.#jobRequest(delayed, 'delayed', delayed.timer.due(every), 'regular');
  }

  notify(kinds: readonly JobKind[], id: number, data: unknown): boolean {
    const job = this.#jobs.get(id);
    if (!job || !kinds.includes(job.source.kind)) return false;
    const resource = job.source.decode(data)?.resource;
    if (resource && isOlder(resource, job.last?.resource)) return false;
    if (resource) this.#onEvent(job, resource);
    else this.#refresh(job, 'changed');
    this.#options.scheduler.wake();
    return resource !== undefined;
  }

  fail(error: unknown): void {
    for (const job of [...this.#jobs.values()]) job.fail(error);
  }

  #onEvent(job: Job<T>, resource: T): void {
    if (job.update(resource, { source: 'webhook', startedAt: performance.now() })) {
      this.#webhooks ??= new WebhookHealth();
      this.#webhooks.received();
    }
  }

  #pageRequest(sweeps: Sweeps<T>, poll: PagePoll): PollRequest {
    const { name } = this.#options;
    const run = (onPermit: () => void): Promise<void> => this.#pollPage(sweeps, poll, onPermit);
    return { queue: `${name} ${poll.kind}`, limit: `${name} pages`, due: poll.due, urgency: poll.urgency, run };
  }

  #jobRequest(job: Job<T>, queue: string, due: number, urgency: Urgency): PollRequest {
    const { name } = this.#options;
    return { queue: `${name} ${queue}`, limit: name, due, urgency, run: (onPermit) => this.#poll(job, onPermit) };
  }

  async #poll(job: Job<T>, onPermit: () => void): Promise<void> {
    // The job goes to the end of its queue.
    const queues = [this.#fresh, this.#alone, this.#sweeps?.listed];
    for (const queue of queues) if (queue?.delete(job)) queue.add(job);
    job.timer.begin();
    const outcome = await job.timer.send((signal, onCall) =>
      job.source.read(job.id, this.#callOptions(signal, onCall, onPermit)),
    );
    if (!outcome) return;
    const { startedAt, callId } = outcome;
    if ('result' in outcome) {
      this.#onSuccess();
      if (this.#fresh.delete(job)) this.#place(job);
      const progress = this.#update(job, outcome.result, { source: 'poll', startedAt, callId });
      if (progress) this.#options.scheduler.rate.onShown(progress.ends, progress.ran);
    } else {
      job.timer.pause(requestedPause(outcome.error));
      this.#onError(outcome.error, startedAt, [job]);
    }
  }

  async #pollPage(sweeps: Sweeps<T>, poll: PagePoll, onPermit: () => void): Promise<void> {
    const { readPage } = this.#options;
    if (!readPage) return;
    const read = await sweeps.read(poll, (page, signal, onCall) =>
      readPage(page, this.#callOptions(signal, onCall, onPermit)),
    );
    if (!read) return;
    const { page, outcome } = read;
    const { startedAt, callId } = outcome;
    const origin = { source: 'list', startedAt, callId } as const;
    if ('result' in outcome) this.#onRows(sweeps, page, outcome.result, origin);
    else if (page > 1 && isBeyondLastPage(outcome.error)) this.#onRows(sweeps, page, [], origin);
    else if (isUnlistable(outcome.error)) this.#disable(sweeps, String(outcome.error));
    else {
      this.#onError(outcome.error, startedAt, this.#jobs.values());
      sweeps.timer.pause(requestedPause(outcome.error));
      this.#pollAlone(sweeps.onFailure(page, RateLimitError.isInstance(outcome.error) ? '429' : 'other'));
    }
  }

  #onRows(sweeps: Sweeps<T>, page: number, rows: readonly JobRow<T>[], origin: UpdateOrigin): void {
    const { startedAt } = origin;
    const listed = rows.filter(({ id }) => this.#jobs.has(id));
    if (listed.some(({ status }) => status === undefined)) {
      this.#disable(sweeps, 'its rows carry no `status`');
      return;
    }
    this.#onSuccess();
    const jobs = listed.flatMap(({ id }) => this.#jobs.get(id) ?? []);
    const missing = sweeps.onPage(page, jobs, rows.length === 0, startedAt);
    const total = { ends: 0, ran: 0 };
    for (const { id, status = 0, resource } of listed) {
      // A callback for another job may have ended the waits for this one.
      const job = this.#jobs.get(id);
      if (!job) continue;
      const isNew = this.#fresh.delete(job);
      if (sweeps.listed.has(job)) this.#alone.delete(job);
      else if (isNew) this.#alone.add(job);
      job.timer.polledAt = startedAt;
      if (resource) {
        const { ends = 0, ran = 0 } = this.#update(job, resource, origin) ?? {};
        total.ends += ends;
        total.ran += ran;
      } else if (status !== job.last?.resource.status.id) {
        // A row that leaves fields out shows only that something has changed.
        const isRunning = job.source.progressOf({ id, status: { id: status, name: '' } }) === 'running';
        this.#refresh(job, isRunning ? 'changed' : 'ended');
      }
    }
    if (total.ran > 0) this.#options.scheduler.rate.onShown(total.ends, total.ran);
    this.#pollAlone(missing);
  }

  #onSuccess(): void {
    this.#options.scheduler.rate.onSuccess();
    this.#outage = undefined;
  }

  #disable(sweeps: Sweeps<T>, reason: string): void {
    const { name, warn } = this.#options;
    const advice = 'Each resource is read on its own; the list is tried again every ten minutes.';
    for (const job of sweeps.listed) this.#alone.add(job);
    if (sweeps.disable()) warn?.(`Cannot poll via the list of ${name}: ${reason}. ${advice}`);
  }

  #add(job: Job<T>): Job<T> {
    this.#jobs.set(job.id, job);
    this.#fresh.add(job);
    this.newestAt = job.timer.createdAt;
    if (this.#sweeps || this.#jobs.size < this.#minJobs) return job;
    this.#sweeps = new Sweeps(this.#minJobs);
    // The list may show the jobs that were too few for it until now.
    for (const other of this.#alone) this.#sweeps.listed.add(other);
    this.#alone.clear();
    return job;
  }

  #remove(job: Job<T>): void {
    if (!this.#jobs.delete(job.id)) return;
    for (const queue of [this.#fresh, this.#alone, ...Object.values(this.#refreshes)]) queue.delete(job);
    job.timer.abort();
    this.#pollAlone(this.#sweeps?.remove(job) ?? []);
    if (this.#jobs.size > 0) return;
    this.#sweeps?.stop();
    this.#options.scheduler.remove(this);
  }

  /** After its first read, polls the job through the list if the list shows it, otherwise separately. */
  #place(job: Job<T>): void {
    const sweeps = this.#sweeps;
    if (!sweeps || sweeps.isDisabled) this.#alone.add(job);
    else sweeps.listed.add(job);
  }

  /** Schedules separate polls of jobs that the list does not show. */
  #pollAlone(jobs: readonly Job<T>[]): void {
    for (const job of jobs) {
      if (!this.#jobs.has(job.id)) continue;
      this.#alone.add(job);
      if (this.#fresh.delete(job)) this.#refresh(job, 'changed');
    }
  }

  #refresh(job: Job<T>, reason: 'ended' | 'changed', gap?: number): void {
    job.requestRefresh(reason, gap);
    this.#refreshes[job.refreshReason ?? reason].add(job);
  }

  #nextRefresh(reason: 'ended' | 'changed'): Job<T> | undefined {
    const jobs = this.#refreshes[reason];
    for (const job of jobs) {
      if (job.refreshReason !== reason) jobs.delete(job);
      else if (!job.timer.isInFlight) return job;
    }
    return undefined;
  }

  /** Returns the jobs that are polled separately; of many, those that are next, as all of them have the same period. */
  #separate(): Job<T>[] {
    const jobs: Job<T>[] = [];
    for (const queue of [this.#alone, this.#sweeps?.isSweeping === false ? this.#sweeps.listed : []]) {
      for (const job of queue) if (jobs.push(job) === MAX_SEPARATE) return jobs;
    }
    return jobs;
  }

  /** Returns the options of a poll's request, without retries: the next poll is the retry. */
  #callOptions(signal: AbortSignal, onCall: (id: string) => void, onPermit: () => void): CallOptions {
    const { request = {} } = this.#options;
    const deadline = Math.min(POLL_DEADLINE_MS, request.deadline ?? POLL_DEADLINE_MS);
    const onCallPermit = (callId: string): void => {
      onCall(callId);
      onPermit();
    };
    return {
      ...request,
      maxRetries: 0,
      deadline,
      signal,
      [BACKGROUND]: { isPoll: true, onPermit: onCallPermit },
    };
  }

  /**
   * Delivers a state. For a job whose state was known, returns whether it has ended and the milliseconds between the
   * two states.
   */
  #update(job: Job<T>, resource: T, origin: UpdateOrigin): { readonly ends: number; readonly ran: number } | undefined {
    const { last, lastUpdateAt } = job;
    const { startedAt } = origin;
    const isEnd = job.update(resource, origin);
    if (!last) return undefined;
    if (isEnd) this.#webhooks?.missedCompletion();
    return { ends: isEnd ? 1 : 0, ran: Math.max(0, startedAt - lastUpdateAt) };
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
    // A request that was sent had a token.
    if (!isUnsendable(error)) this.#outage = undefined;
    this.#outage ??= new TokenOutage();
    const isUnsent = isUnsendable(error) && !this.#outage.isTooLong(error);
    for (const job of [...jobs]) {
      if (isTransient(error) || (isUnsent && job.last)) job.pollError = error;
      else job.fail(error);
    }
  }
}

const isYoung = (age: number): boolean => youngPeriod(age) < Number.POSITIVE_INFINITY;

/** Returns the first job that has no poll in flight and fulfils the condition. */
function firstIdle<T extends JobResource>(
  jobs: ReadonlySet<Job<T>>,
  condition: (job: Job<T>) => boolean = () => true,
): Job<T> | undefined {
  for (const job of jobs) if (!job.timer.isInFlight && condition(job)) return job;
  return undefined;
}

/**
 * Returns whether failed pages leave a job without a recent state, so that it is polled separately. After a 429, a known
 * state suffices: a separate poll would be throttled, too.
 */
function isDelayed<T extends JobResource>({ last, lastUpdateAt }: Job<T>, failure: SweepFailure, now: number): boolean {
  return !last || (failure === 'other' && now - lastUpdateAt > MAX_DELAY_MS);
}
