import { RateLimitError } from '../errors/api.ts';
import type { JobKind } from '../errors/job.ts';
import type { CallOptions, RequestOptions } from '../transport/settings.ts';
import { EventTrust } from './event-trust.ts';
import { isOlder, Job, type Subscriber, type UpdateSource } from './job.ts';
import type { Observed } from './outcome.ts';
import { PageMap } from './page-map.ts';
import type { Look, Schedulable, Scheduler } from './scheduler.ts';
import type { Listing, Row, Source } from './source.ts';
import { askedToWait, isPassing, isUnlistable } from './trouble.ts';
import { Turn } from './turn.ts';

/** While events flow, a look is only to find what no event told of. Milliseconds. */
const FALLBACK_PERIOD = 60_000;
/** Reads that a new wait may cost for finding its row, and all waits together. */
const SEARCHES = { each: 2, most: 25 } as const;
/** How soon after a search the next may follow: one that found rows, and one that did not. Milliseconds. */
const SEARCH_GAP = { found: 1_000, nothing: 2_000 } as const;
/** How long a wait leaves it to a search to show its job first. Milliseconds. */
const PATIENCE = 2_000;

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

/** A page on which jobs were found. */
interface HeldPage<T extends Observed> {
  readonly jobs: Set<Job<T>>;
  readonly turn: Turn;
}

/** The jobs that one list shows, and the looks they need: a page for several, a read of its own for one. */
export class JobGroup<T extends Observed> implements Schedulable {
  readonly #parts: JobGroupParts<T>;
  readonly #jobs = new Map<number, Job<T>>();
  readonly #pages = new Map<number, HeldPage<T>>();
  /** Jobs whose page is not known. */
  readonly #unplaced = new Set<Job<T>>();
  readonly #map = new PageMap();
  readonly #trust = new EventTrust();
  #listing: Listing<T> | undefined;
  /** How many jobs make a page worth reading. */
  readonly #worth: number;
  /** Reads left for finding rows; each row found gives one back. */
  #searches = 0;
  #searchAt = 0;
  #search: Turn | undefined;

  constructor(parts: JobGroupParts<T>) {
    this.#parts = parts;
    this.#listing = parts.scheduler.via === 'get' ? undefined : parts.listing;
    this.#worth = parts.scheduler.via === 'list' ? 1 : 2;
  }

  get size(): number {
    let waits = 0;
    for (const { subscribers } of this.#jobs.values()) waits += subscribers.size;
    return waits;
  }

  get round(): number {
    if (this.#trust.flowing) return 0;
    let looks = this.#unplaced.size;
    for (const { jobs } of this.#pages.values()) looks += this.#isShared(jobs) ? 1 : jobs.size;
    return looks;
  }

  /** Begins to look at a job for `subscriber`; returns what ends it. */
  subscribe(source: Source<T>, id: number, subscriber: Subscriber<T>): () => void {
    const job = this.#jobs.get(id) ?? this.#add(new Job(id, source));
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

  #add(job: Job<T>): Job<T> {
    this.#jobs.set(job.id, job);
    this.#unplaced.add(job);
    this.#allow(SEARCHES.each);
    return job;
  }

  #remove(job: Job<T>): void {
    this.#jobs.delete(job.id);
    this.#unplaced.delete(job);
    this.#leavePage(job);
    job.turn.abort();
    if (this.#jobs.size === 0) {
      this.#search?.abort();
      this.#map.clear();
      this.#searches = 0;
      this.#parts.scheduler.remove(this);
    }
    this.#parts.scheduler.wake();
  }

  #allow(searches: number): void {
    this.#searches = Math.min(SEARCHES.most, this.#searches + searches);
  }

  #isShared(jobs: ReadonlySet<Job<T>> | undefined): boolean {
    return jobs !== undefined && jobs.size >= this.#worth;
  }

  *#looks(period: number): Generator<Look, void> {
    const search = this.#nextSearch();
    if (search) yield search;
    const patience = search || this.#search ? PATIENCE : 0;
    for (const [number, { jobs, turn }] of this.#pages) {
      if (this.#isShared(jobs) && !turn.busy) {
        yield { due: turn.due(period) ?? 0, take: async () => void (await this.#readPage(number, turn)) };
      }
    }
    for (const job of this.#jobs.values()) {
      const shared = job.page !== undefined && this.#isShared(this.#pages.get(job.page)?.jobs);
      if (job.turn.busy || (shared && !job.urgent)) continue;
      const due = job.urgent ? 0 : (job.turn.due(period) ?? job.since + patience);
      yield { due, take: () => this.#readOne(job) };
    }
  }

  /** The page that may show where unplaced jobs are. */
  #nextSearch(): Look | undefined {
    if (!this.#listing || this.#search || this.#searches <= 0 || !this.#isShared(this.#unplaced)) return undefined;
    for (const { id, since } of this.#unplaced) {
      const page = this.#map.guess(id, since);
      if (page === undefined || this.#pages.get(page)?.turn.busy) continue;
      const due = this.#searchAt <= performance.now() ? 0 : this.#searchAt;
      return { due, take: () => this.#searchPage(page) };
    }
    return undefined;
  }

  async #searchPage(page: number): Promise<void> {
    this.#searches--;
    this.#search = this.#pages.get(page)?.turn ?? new Turn();
    const found = await this.#readPage(page, this.#search);
    this.#search = undefined;
    this.#searchAt = performance.now() + (found > 0 ? SEARCH_GAP.found : SEARCH_GAP.nothing);
    this.#allow(found);
  }

  /** Returns how many unplaced jobs it has found. */
  async #readPage(number: number, turn: Turn): Promise<number> {
    const listing = this.#listing;
    if (!listing) return 0;
    const taken = await turn.take((signal) => listing.rows(number, this.#options(signal)));
    if ('result' in taken) {
      this.#parts.scheduler.pace.ease();
      return this.#learn(number, turn, taken.result, taken.began);
    }
    if ('error' in taken && !this.#passes(taken.error, taken.began)) {
      if (isUnlistable(taken.error)) this.#giveUpList(String(taken.error));
      else for (const job of [...this.#jobs.values()]) job.fail(taken.error);
    }
    return 0;
  }

  async #readOne(job: Job<T>): Promise<void> {
    job.urgent = false;
    const taken = await job.turn.take((signal) => job.source.read(job.id, this.#options(signal)));
    if ('result' in taken) {
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

  #learn(number: number, turn: Turn, rows: readonly Row<T>[], began: number): number {
    this.#map.note(
      number,
      rows.map(({ id }) => id),
      began,
    );
    const shown = new Map(rows.flatMap((row) => (this.#jobs.has(row.id) ? [[row.id, row]] : [])));
    if ([...shown.values()].some(({ status }) => status === undefined)) {
      this.#giveUpList('its rows carry no `status`');
      return 0;
    }
    let found = 0;
    for (const id of shown.keys()) if (this.#place(id, number, turn)) found++;
    for (const job of [...(this.#pages.get(number)?.jobs ?? [])]) if (!shown.has(job.id)) this.#lose(job, began);
    for (const row of shown.values()) this.#tell(row, began);
    return found;
  }

  /** Notes the page of a job; returns whether it had none. */
  #place(id: number, number: number, turn: Turn): boolean {
    const job = this.#jobs.get(id);
    if (!job || job.page === number) return false;
    this.#leavePage(job);
    job.page = number;
    const page = this.#pages.get(number) ?? { jobs: new Set(), turn };
    page.jobs.add(job);
    this.#pages.set(number, page);
    return this.#unplaced.delete(job);
  }

  /** A job is not where it was: rows have moved, or it is gone. Unless another page shows it, it is read by itself. */
  #lose(job: Job<T>, began: number): void {
    this.#leavePage(job);
    this.#unplaced.add(job);
    job.since = began;
    job.turn.looked = began;
    this.#allow(1);
  }

  #leavePage(job: Job<T>): void {
    const { page: number } = job;
    if (number === undefined) return;
    job.page = undefined;
    const page = this.#pages.get(number);
    page?.jobs.delete(job);
    if (page?.jobs.size !== 0) return;
    this.#pages.delete(number);
    page.turn.abort();
  }

  #tell({ id, status, resource }: Row<T>, began: number): void {
    const job = this.#jobs.get(id);
    if (!job) return;
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
    this.#map.clear();
    for (const job of this.#jobs.values()) {
      this.#leavePage(job);
      this.#unplaced.add(job);
    }
  }
}
