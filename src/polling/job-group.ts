import { RateLimitError } from '../errors/api-errors.ts';
import type { CallOptions, RequestOptions } from '../http/request-options.ts';
import type { JobKind } from '../spec/job-status.ts';
import { type Observed, progressOf } from '../spec/job-status.ts';
import { isOlder } from '../util/timestamps.ts';
import { Job, type Subscriber, type UpdateSource } from './job.ts';
import type { Listing, Source } from './job-source.ts';
import { ListReader, type Shown } from './list-poller.ts';
import { askedToWait, isPassing, isUnsendable } from './poll-errors.ts';
import type { Look, LookQueue, LookQueues, Schedulable, Scheduler } from './scheduler.ts';
import { TokenOutage } from './token-outage.ts';
import { EventTrust } from './webhook-health.ts';

/** While events flow, a look is only to find what no event told of. Milliseconds. */
const FALLBACK_PERIOD = 60_000;
/** Whatever happens to a job, it is not read by itself more often than this. Milliseconds. */
const SHORTEST_GAP = 2_000;
/** A wait that joins others is told what was seen last; what is older than this is looked at anew. Milliseconds. */
const STALE = 10_000;
/** A look that is held up, for want of a token, a slot or an answer, is given up. Milliseconds. */
const LOOK_DEADLINE = 120_000;

/** What a group is made of. */
export interface JobGroupParts<T> {
  readonly scheduler: Scheduler;
  /** Of the list, or of the kind: groups of one name take turns as one. */
  readonly name: string;
  /** Where the resources are listed; without it each is read by itself. */
  readonly listing?: Listing<T> | undefined;
  /** Options of the reads; `maxRetries` has no use, because the next look is the repeat. */
  readonly request?: Omit<RequestOptions, 'signal'> | undefined;
  /** Reports that the list is of no use. */
  readonly warn?: (message: string) => void;
}

/** The jobs that one list shows, and the looks they need: pages for several, a read of its own for one. */
export class JobGroup<T extends Observed> implements Schedulable {
  readonly #parts: JobGroupParts<T>;
  readonly #jobs = new Map<number, Job<T>>();
  readonly #list: ListReader<T>;
  readonly #trust = new EventTrust();
  readonly #queues: LookQueues;
  readonly #outage = new TokenOutage();
  #answered = Number.NEGATIVE_INFINITY;

  constructor(parts: JobGroupParts<T>) {
    const { scheduler, name, listing, warn } = parts;
    this.#parts = parts;
    this.#queues = scheduler.queues(name);
    this.#list = new ListReader({
      listing: scheduler.via === 'get' ? undefined : listing,
      worth: scheduler.via === 'list' ? 1 : 2,
      jobs: this.#jobs,
      queues: this.#queues,
      options: (signal, onPermit) => this.#options(signal, onPermit),
      show: (shown, began) => this.#show(shown, began),
      miss: (error, began) => this.#miss(error, began, this.#jobs.values()),
      answered: () => this.#answered,
      warn: (message) => warn?.(`The list of ${name} ${message}`),
    });
  }

  get size(): number {
    let waits = 0;
    for (const { subscribers } of this.#jobs.values()) waits += subscribers.size;
    return waits;
  }

  get round(): number {
    return this.#trust.flowing ? 0 : this.#list.placement.round;
  }

  /** A group for waits whose reads have options of their own: it shares no list with others. */
  apart(request: Omit<RequestOptions, 'signal'>): JobGroup<T> {
    const { scheduler, name } = this.#parts;
    return new JobGroup({ scheduler, name, request });
  }

  /** Begins to look at a job for `subscriber`; returns what ends it. */
  subscribe(source: Source<T>, id: number, subscriber: Subscriber<T>): () => void {
    const job = this.#jobs.get(id) ?? this.#add(new Job(id, source));
    job.subscribers.add(subscriber);
    job.catchUp(subscriber);
    if (job.resource && performance.now() - (job.turn.looked ?? 0) > STALE) job.urge('changed');
    this.#parts.scheduler.add(this);
    this.#parts.scheduler.wake();
    return () => {
      if (job.subscribers.delete(subscriber) && job.subscribers.size === 0) this.#remove(job);
    };
  }

  *looks(period: number): Generator<Look, void> {
    const own = this.#trust.flowing ? Math.max(FALLBACK_PERIOD, period) : period;
    const search = this.#list.nextSearch();
    if (search) yield search;
    yield* this.#list.looks(own);
    for (const job of this.#jobs.values()) {
      if (job.turn.busy || (this.#list.placement.isShared(job) && !job.urgent)) continue;
      yield { ...this.#turnOf(job, own, search !== undefined), take: (onPermit) => this.#read(job, onPermit) };
    }
  }

  hear(kinds: readonly JobKind[], id: number, data: unknown): boolean {
    const job = this.#jobs.get(id);
    if (!job || !kinds.includes(job.kind)) return false;
    const resource = job.source.decode(data)?.resource;
    if (!resource) {
      job.urge('changed');
      this.#parts.scheduler.wake();
      return false;
    }
    if (isOlder(resource, job.resource)) return false;
    if (job.see(resource, 'webhook', performance.now())) this.#trust.heard();
    this.#parts.scheduler.wake();
    return true;
  }

  #add(job: Job<T>): Job<T> {
    this.#jobs.set(job.id, job);
    this.#list.placement.add(job);
    return job;
  }

  #remove(job: Job<T>): void {
    this.#jobs.delete(job.id);
    this.#list.placement.remove(job);
    job.turn.abort();
    if (this.#jobs.size === 0) {
      this.#list.clear();
      this.#parts.scheduler.remove(this);
    }
    this.#parts.scheduler.wake();
  }

  /** In which queue a job is read by itself, and when. */
  #turnOf(job: Job<T>, period: number, searches: boolean): { readonly queue: LookQueue; readonly due: number } {
    const queues = this.#queues;
    if (job.urgent) return { queue: queues[job.urgent], due: job.readAt + SHORTEST_GAP };
    const due = job.turn.due(period);
    return due === undefined
      ? { queue: queues.fresh, due: this.#list.freshDue(job, searches) }
      : { queue: queues.others, due };
  }

  async #read(job: Job<T>, onPermit: () => void): Promise<void> {
    job.readAt = performance.now();
    const taken = await job.turn.take((signal) => job.source.read(job.id, this.#options(signal, onPermit)));
    if ('result' in taken) {
      this.#answered = taken.began;
      this.#succeeded();
      this.#see(job, taken.result, 'poll', taken.began);
    } else if ('error' in taken) {
      job.turn.hold(askedToWait(taken.error));
      this.#miss(taken.error, taken.began, [job]);
    }
  }

  /** A look is not repeated by the call: the next one comes by itself. */
  #options(signal: AbortSignal, onPermit: () => void): CallOptions {
    const { request } = this.#parts;
    const deadline = Math.min(LOOK_DEADLINE, request?.deadline ?? LOOK_DEADLINE);
    return { ...request, maxRetries: 0, deadline, signal, priority: 'background', onPermit };
  }

  #show(shown: readonly Shown<T>[], began: number): void {
    this.#succeeded();
    for (const { job, row } of shown) {
      const { id, status, resource } = row;
      job.turn.looked = began;
      if (resource) this.#see(job, resource, 'list', began);
      else if (status !== undefined && status !== job.resource?.status.id) {
        // A row that leaves fields out shows only that something has changed.
        const ended = progressOf(job.kind, { id, status: { id: status, name: '' } }) !== 'running';
        job.urge(ended ? 'ended' : 'changed');
      }
    }
  }

  #succeeded(): void {
    this.#parts.scheduler.pace.ease();
    this.#outage.end();
  }

  #see(job: Job<T>, resource: T, source: UpdateSource, began: number): void {
    const known = job.resource !== undefined;
    const ended = job.see(resource, source, began);
    if (ended && known) this.#trust.missed();
  }

  /**
   * A look has failed. Waits ride out what passes, and, once they have seen something, what kept it from
   * being sent, a token source for ten minutes at most; all else ends them. Returns whether it passes.
   */
  #miss(error: unknown, began: number, jobs: Iterable<Job<T>>): boolean {
    const { pace } = this.#parts.scheduler;
    if (RateLimitError.isInstance(error)) {
      pace.cut(began);
      pace.hold(askedToWait(error));
    }
    const passes = isPassing(error);
    const unsendable = isUnsendable(error) && !this.#outage.isTooLong(error);
    for (const job of [...jobs]) {
      if (passes || (unsendable && job.resource)) job.miss(error);
      else job.fail(error);
    }
    return passes;
  }
}
