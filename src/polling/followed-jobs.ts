import { type JobKind, type Observed, progressOf } from '../spec/job-status.ts';
import { isObject } from '../util/json.ts';
import { isOlder } from '../util/timestamps.ts';
import type { Job, JobSource, UpdateSource } from './job.ts';
import type { Fleet } from './shared-waits.ts';

/** How a group of jobs begins and ends to poll a job for other processes. */
interface FollowTarget<T extends Observed> {
  follow(source: JobSource<T>, id: number): void;
  unfollow(kind: JobKind, id: number): void;
}

/**
 * The jobs of a group that other processes await, too: one process polls them and publishes their states. If the client
 * does not share its waits, there are none, and this process polls its own.
 */
export class FollowedJobs<T extends Observed> {
  readonly #fleet: Fleet | undefined;
  /** Kinds of the jobs of the group. */
  readonly #kinds: JobKind[] = [];
  /** Jobs that this process polls while another one leads, because that one cannot read them. */
  readonly unreadable = new Set<Job<T>>();

  constructor(fleet: Fleet | undefined) {
    this.#fleet = fleet;
  }

  /** True if another process polls the jobs. */
  get arePolledElsewhere(): boolean {
    return this.#fleet?.polls === false;
  }

  /** Has the jobs of a kind polled by `target` for other processes. */
  register(source: JobSource<T>, { follow, unfollow }: FollowTarget<T>): void {
    const { kind } = source;
    this.#kinds.push(kind);
    this.#fleet?.register(kind, {
      follow: (id) => follow(source, id),
      unfollow: (id) => unfollow(kind, id),
      decode: (data) => source.decode(data)?.resource,
    });
  }

  /** Reports a job as awaited by this process from now on. */
  await({ source, id }: Job<T>): void {
    this.#fleet?.await(source.kind, id);
  }

  /** Reports a job as no longer awaited by this process. */
  forget({ source, id }: Job<T>): void {
    this.#fleet?.forget(source.kind, id);
  }

  /** Has the process that polls poll a job as soon as possible. */
  requestRefresh({ source, id }: Job<T>): void {
    this.#fleet?.requestRefresh(source.kind, id);
  }

  /** Publishes a state that a poll has shown under each kind that a process may await the job as. */
  publish(job: Job<T>, resource: T, source: UpdateSource): void {
    for (const kind of this.#kinds) this.#fleet?.publish(kind, job.id, resource, source, hasEnded(job));
  }

  /** Publishes that a job cannot be read. */
  publishFailure({ id }: Job<T>, error: unknown): void {
    for (const kind of this.#kinds) this.#fleet?.onFailure(kind, id, error);
  }

  /** Reports a failed poll. */
  onPollError(error: unknown): void {
    this.#fleet?.onPollError(error);
  }

  /** Reports a successful poll. */
  onPollSuccess(): void {
    this.#fleet?.onPollSuccess();
  }

  /** Returns whether a published state is news: a process also receives the states that it has published itself. */
  isNews({ source: { kind }, last }: Job<T>, data: unknown, source: UpdateSource): data is T {
    if (!isResource(data)) return false;
    // The end of a job counts in any order, except in events.
    const isEnd = progressOf(kind, data) !== 'running';
    return isNewer(data, last?.resource) || (isEnd && source !== 'webhook');
  }
}

/** Returns whether the end of a job is known. */
export const hasEnded = ({ last }: Job<Observed>): boolean => last !== undefined && last.progress !== 'running';

/** Returns whether a state that another process has published is a resource: that process has decoded it. */
const isResource = (value: unknown): value is Observed =>
  isObject(value) && typeof value.id === 'number' && isObject(value.status) && typeof value.status.id === 'number';

/** Returns whether a state differs from the last known one, and is not older. */
export const isNewer = (resource: Observed, last: Observed | undefined): boolean =>
  !last || (!isOlder(resource, last) && (isOlder(last, resource) || resource.status.id !== last.status.id));
