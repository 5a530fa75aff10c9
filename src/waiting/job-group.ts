import { RateLimitError } from '../errors/api.ts';
import type { JobKind } from '../errors/job.ts';
import type { CallOptions, RequestOptions } from '../transport/settings.ts';
import { EventTrust } from './event-trust.ts';
import { isOlder, Job, type Subscriber, type UpdateSource } from './job.ts';
import type { Observed } from './outcome.ts';
import { Placement } from './placement.ts';
import type { Look, Schedulable, Scheduler } from './scheduler.ts';
import type { Listing, Row, Source } from './source.ts';
import { askedToWait, isPassing, isUnlistable } from './trouble.ts';
import { Turn } from './turn.ts';

/** While events flow, a look is only to find what no event told of. Milliseconds. */
const FALLBACK_PERIOD = 60_000;
/** How soon the next search may follow one that found rows, and one that did not. Milliseconds. */
const SEARCH_GAP = { found: 1_000, nothing: 2_000 } as const;
/** How long a wait leaves it to a search to show its job first. Milliseconds. */
const PATIENCE = 2_000;
/** After so many failures of a page in a row, a single job is read: it may be the list alone that fails. */
const FAILURES = 3;
/** How long until another job is read for that. Milliseconds. */
const PROBE_GAP = 30_000;

/** What a group is made of. */
export interface JobGroupParts<T> {
  readonly scheduler: Scheduler;
  readonly kinds: readonly JobKind[];
  /** Where the resources are listed; without it each is read by itself. */
  readonly listing?: Listing<T> | undefined;
  /** Options of the reads. */
  readonly request?: Omit<RequestOptions, 'signal'> | undefined;
  /** Reports that the list is of no use. */
  readonly warn?: (message: string) => void;
}

/** The jobs that one list shows, and the looks they need: a page for several, a read of its own for one. */
export class JobGroup<T extends Observed> implements Schedulable {
  readonly #parts: JobGroupParts<T>;
  readonly #jobs = new Map<number, Job<T>>();
  readonly #placement: Placement<T>;
  readonly #trust = new EventTrust();
  #listing: Listing<T> | undefined;
  #search: Turn | undefined;
  #searchAt = 0;
  /** When the last read of a single job that was answered began. */
  #answered = Number.NEGATIVE_INFINITY;
  #probed = Number.NEGATIVE_INFINITY;

  constructor(parts: JobGroupParts<T>) {
    this.#parts = parts;
    this.#listing = parts.scheduler.via === 'get' ? undefined : parts.listing;
    this.#placement = new Placement(parts.scheduler.via === 'list' ? 1 : 2);
  }

  get size(): number {
    let waits = 0;
    for (const { subscribers } of this.#jobs.values()) waits += subscribers.size;
    return waits;
  }

  get round(): number {
    return this.#trust.flowing ? 0 : this.#placement.round;
  }

  /** Begins to look at a job for `subscriber`; returns what ends it. */
  subscribe(source: Source<T>, id: number, subscriber: Subscriber<T>): () => void {
    const job = this.#jobs.get(id) ?? new Job(id, source);
    if (!this.#jobs.has(id)) this.#placement.add(job);
    this.#jobs.set(id, job);
    // One that joins is told at once, too.
    if (job.turn.looked !== undefined && !job.turn.busy) job.urgent = true;
    job.subscribers.add(subscriber);
    this.#parts.scheduler.add(this);
    this.#parts.scheduler.wake();
    return () => {
      if (job.subscribers.delete(subscriber) && job.subscribers.size === 0) this.#remove(job);
    };
  }

  next(period: number): Look | undefined {
    let first: Look | undefined;
    for (const look of this.#looks(this.#trust.flowing ? Math.max(FALLBACK_PERIOD, period) : period)) {
      if (!first || look.due < first.due) first = look;
    }
    return first;
  }

  hear(kinds: readonly JobKind[], id: number, data: unknown): boolean {
    if (!kinds.some((kind) => this.#parts.kinds.includes(kind))) return false;
    this.#trust.heard();
    const job = this.#jobs.get(id);
    if (!job || !kinds.includes(job.kind)) return false;
    const resource = job.source.decode(data)?.resource;
    if (resource && isOlder(resource, job.resource)) return false;
    if (resource) this.#see(job, resource, 'webhook');
    else job.urgent = true;
    this.#parts.scheduler.wake();
    return true;
  }

  #remove(job: Job<T>): void {
    this.#jobs.delete(job.id);
    this.#placement.remove(job);
    job.turn.abort();
    if (this.#jobs.size === 0) {
      this.#search?.abort();
      this.#placement.forget();
      this.#parts.scheduler.remove(this);
    }
    this.#parts.scheduler.wake();
  }

  *#looks(period: number): Generator<Look, void> {
    const page = this.#listing && !this.#search ? this.#placement.pageToSearch() : undefined;
    if (page !== undefined) {
      const due = this.#searchAt <= performance.now() ? 0 : this.#searchAt;
      yield { due, take: () => this.#searchPage(page) };
    }
    for (const [number, { turn }] of this.#placement.shared()) {
      if (!turn.busy) yield { due: turn.due(period) ?? 0, take: async () => void (await this.#readPage(number, turn)) };
    }
    const patience = page !== undefined || this.#search ? PATIENCE : 0;
    for (const job of this.#jobs.values()) {
      if (job.turn.busy || (this.#placement.isShared(job) && !job.urgent)) continue;
      const due = job.urgent ? 0 : (job.turn.due(period) ?? job.since + patience);
      yield { due, take: () => this.#readOne(job) };
    }
  }

  async #searchPage(page: number): Promise<void> {
    this.#placement.spend();
    this.#search = this.#placement.page(page)?.turn ?? new Turn();
    const found = await this.#readPage(page, this.#search);
    this.#search = undefined;
    this.#searchAt = performance.now() + (found ? SEARCH_GAP.found : SEARCH_GAP.nothing);
    // Without an answer it was no search.
    this.#placement.allow(found ?? 1);
  }

  /** Returns how many jobs without a page it has found; `undefined` where no answer came. */
  async #readPage(number: number, turn: Turn): Promise<number | undefined> {
    const listing = this.#listing;
    if (!listing) return undefined;
    const taken = await turn.take((signal) => listing.rows(number, this.#options(signal)));
    if ('result' in taken) {
      this.#parts.scheduler.pace.ease();
      return this.#learn(number, turn, taken.result, taken.began);
    }
    if (!('error' in taken)) return undefined;
    const { error, began } = taken;
    if (this.#passes(error, began)) this.#doubt(number, error, began);
    else if (isUnlistable(error)) this.#giveUpList(String(error));
    else for (const job of [...this.#jobs.values()]) job.fail(error);
    return undefined;
  }

  async #readOne(job: Job<T>): Promise<void> {
    job.urgent = false;
    const taken = await job.turn.take((signal) => job.source.read(job.id, this.#options(signal)));
    if ('result' in taken) {
      this.#answered = taken.began;
      this.#parts.scheduler.pace.ease();
      this.#see(job, taken.result, 'poll');
    } else if ('error' in taken && !this.#passes(taken.error, taken.began)) {
      job.fail(taken.error);
    }
  }

  /** A look is not repeated by the call: the next one comes by itself. */
  #options(signal: AbortSignal): CallOptions {
    return { maxRetries: 0, ...this.#parts.request, signal, priority: 'background' };
  }

  /** Whether waits ride out what a look failed with. */
  #passes(error: unknown, began: number): boolean {
    const { pace } = this.#parts.scheduler;
    if (RateLimitError.isInstance(error)) pace.cut(began);
    const passes = isPassing(error);
    if (passes) pace.hold(askedToWait(error));
    return passes;
  }

  /** A page that keeps failing while single jobs are answered shows nothing: its jobs are read by themselves. */
  #doubt(number: number, error: unknown, began: number): void {
    const page = this.#placement.page(number);
    if (!page || RateLimitError.isInstance(error)) return;
    if (page.failures++ === 0) page.failingSince = began;
    if (page.failures < FAILURES) return;
    if (this.#answered > page.failingSince) this.#placement.forget(number);
    else if (began - this.#probed > PROBE_GAP) {
      this.#probed = began;
      for (const job of [...page.jobs].slice(0, 1)) job.urgent = true;
    }
  }

  #learn(number: number, turn: Turn, rows: readonly Row<T>[], began: number): number {
    const shown = rows.flatMap((row) => {
      const job = this.#jobs.get(row.id);
      return job ? [{ row, job }] : [];
    });
    if (shown.some(({ row }) => row.status === undefined)) {
      this.#giveUpList('its rows carry no `status`');
      return 0;
    }
    const ids = rows.map(({ id }) => id);
    const jobs = shown.map(({ job }) => job);
    const found = this.#placement.note(number, ids, jobs, turn, began);
    for (const { row, job } of shown) this.#tell(job, row, began);
    return found;
  }

  #tell(job: Job<T>, { status, resource }: Row<T>, began: number): void {
    job.turn.looked = began;
    if (resource) this.#see(job, resource, 'list');
    // A row that leaves fields out shows only that something has changed.
    else if (status !== job.resource?.status.id) job.urgent = true;
  }

  #see(job: Job<T>, resource: T, source: UpdateSource): void {
    const known = job.resource !== undefined;
    const ended = job.see(resource, source);
    if (ended && known && source !== 'webhook') this.#trust.missed();
  }

  #giveUpList(why: string): void {
    this.#parts.warn?.(`The list is of no use for waiting (${why}): each ${this.#parts.kinds[0]} is read by itself.`);
    this.#listing = undefined;
    this.#placement.forget();
  }
}
