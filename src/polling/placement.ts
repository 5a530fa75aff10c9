import type { Observed } from '../spec/job-status.ts';
import type { Job } from './job.ts';
import { PageMap } from './page-map.ts';
import type { Turn } from './poll-timer.ts';

/** Reads that a new wait may cost for finding its row, and all waits together. */
const SEARCHES = { each: 2, most: 25 } as const;

/** A page on which jobs were found. */
export interface HeldPage<T extends Observed> {
  readonly jobs: Set<Job<T>>;
  readonly turn: Turn;
  /** Reads that failed in a row, and when the first of them began. */
  failures: number;
  failingSince: number;
}

/** On which pages of a list jobs were found, and where to search for the others. */
export class Placement<T extends Observed> {
  readonly #pages = new Map<number, HeldPage<T>>();
  readonly #unplaced = new Set<Job<T>>();
  readonly #map = new PageMap();
  /** How many jobs make a page worth reading. */
  readonly #worth: number;
  /** Reads left for searching; each row found gives one back. */
  #searches = 0;

  constructor(worth: number) {
    this.#worth = worth;
  }

  /** Pages that several jobs share, by their numbers. */
  *shared(): Generator<readonly [number, HeldPage<T>], void> {
    for (const entry of this.#pages) if (entry[1].jobs.size >= this.#worth) yield entry;
  }

  /** Whether a page shows a job together with others. */
  isShared({ page }: Job<T>): boolean {
    return page !== undefined && (this.#pages.get(page)?.jobs.size ?? 0) >= this.#worth;
  }

  page(number: number): HeldPage<T> | undefined {
    return this.#pages.get(number);
  }

  /** Reads that show each job once. */
  get round(): number {
    let reads = this.#unplaced.size;
    for (const { jobs } of this.#pages.values()) reads += jobs.size >= this.#worth ? 1 : jobs.size;
    return reads;
  }

  /** A job whose page is to be found. */
  add(job: Job<T>): void {
    this.#unplaced.add(job);
    this.allow(SEARCHES.each);
  }

  remove(job: Job<T>): void {
    this.#unplaced.delete(job);
    this.#leave(job);
  }

  /** More reads for searching. */
  allow(reads: number): void {
    this.#searches = Math.min(SEARCHES.most, this.#searches + reads);
  }

  /** The page to search next, while a page is worth more than reads of single jobs. */
  pageToSearch(): number | undefined {
    if (this.#searches <= 0 || this.#unplaced.size < this.#worth) return undefined;
    for (const { id, since } of this.#unplaced) {
      const page = this.#map.guess(id, since);
      if (page !== undefined && !this.#pages.get(page)?.turn.busy) return page;
    }
    return undefined;
  }

  /** A search begins. */
  spend(): void {
    this.#searches--;
  }

  /** A page has been read; returns how many of the jobs that it shows had no page. */
  note(number: number, ids: readonly number[], shown: readonly Job<T>[], turn: Turn, began: number): number {
    this.#map.note(number, ids, began);
    const unplaced = this.#unplaced.size;
    for (const job of shown) if (job.page !== number) this.#place(job, number, turn);
    const found = unplaced - this.#unplaced.size;
    const page = this.#pages.get(number);
    if (page) page.failures = 0;
    const seen = new Set(shown);
    for (const job of [...(page?.jobs ?? [])]) if (!seen.has(job)) this.#lose(job, began);
    return found;
  }

  /** Forgets where jobs of a page are, or of all pages. */
  forget(number?: number): void {
    for (const [at, { jobs }] of [...this.#pages]) {
      if (number !== undefined && at !== number) continue;
      for (const job of [...jobs]) {
        this.#leave(job);
        this.#unplaced.add(job);
      }
    }
    if (number === undefined) this.#map.clear();
  }

  #place(job: Job<T>, number: number, turn: Turn): void {
    this.#leave(job);
    this.#unplaced.delete(job);
    job.page = number;
    const page = this.#pages.get(number) ?? { jobs: new Set(), turn, failures: 0, failingSince: 0 };
    page.jobs.add(job);
    this.#pages.set(number, page);
  }

  /** A job is not where it was: rows have moved, or it is gone. Unless another page shows it, it is read by itself. */
  #lose(job: Job<T>, began: number): void {
    this.#leave(job);
    this.#unplaced.add(job);
    job.since = began;
    job.turn.looked = began;
    this.allow(1);
  }

  #leave(job: Job<T>): void {
    const { page: number } = job;
    if (number === undefined) return;
    job.page = undefined;
    const page = this.#pages.get(number);
    page?.jobs.delete(job);
    if (page?.jobs.size !== 0) return;
    this.#pages.delete(number);
    page.turn.abort();
  }
}
