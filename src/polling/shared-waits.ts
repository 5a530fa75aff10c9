import type { SharedHold } from '../rate-limit/index.ts';
import type { JobKind, Observed } from '../spec/job-status.ts';
import type { UpdateSource } from './job.ts';

/** A job as processes share it: its kind and id, such as `audience:42`. */
export type JobName = string;

/** How the jobs of one kind are polled and updated. */
export interface FleetTarget {
  /** Polls a job for other processes; one that is polled already, as soon as possible. */
  follow(id: number): void;
  unfollow(id: number): void;
  /** Returns the resource in the data of an event, if they are complete. */
  decode(data: unknown): Observed | undefined;
}

/** The scheduler of a process, as its fleet uses it. */
export interface FleetHost {
  /** Delivers a state that another process has learned. */
  receive(kind: string, id: number, resource: unknown, source: UpdateSource): void;
  /** Called for an awaited job that the leader cannot read. */
  onUnreadable(kind: string, id: number): void;
  /** Called when the role or the jobs to poll may have changed. */
  onChange(): void;
  /** Called when this process begins to lead, with the age of each recent poll of other processes. */
  onLead(pollAges: readonly number[]): void;
  warn(message: string): void;
}

/** The part of one process in waits that processes share. */
export interface Fleet {
  /** True if this process polls the jobs that it shares, and those of others if it leads. */
  readonly polls: boolean;
  /** Registers how the jobs of a kind are polled. The first registration counts. */
  register(kind: JobKind, target: FleetTarget): void;
  /** Reports a job as awaited from now on. */
  await(kind: JobKind, id: number): void;
  /** Ends the reports of a job; it is polled until it expires. */
  forget(kind: JobKind, id: number): void;
  /** Has the leader poll a job as soon as possible. */
  requestRefresh(kind: JobKind, id: number): void;
  /** Counts a poll that was sent for all processes. */
  countPoll(): void;
  /** Publishes a state of a job that is polled for others. */
  publish(kind: JobKind, id: number, resource: object, source: UpdateSource, isFinal: boolean): void;
  /** Passes the data of an event on to the processes that wait for its job. */
  notify(kinds: readonly JobKind[], id: number, data: unknown): void;
  /** Handles the failure of a job that is polled for others. */
  onFailure(kind: JobKind, id: number, error: unknown): void;
  /** Called for a failed poll that another one will follow, and for a successful one. */
  onPollError(error: unknown): void;
  onPollSuccess(): void;
  /** Ends the reports and the lead. */
  close(): Promise<void>;
}

/** The store that processes of an account share: `redisWaits` of `audience-activation/redis`. */
export interface SharedWaits {
  /** The kind of store. */
  readonly store: 'redis';
  /** @internal */
  join(host: FleetHost): Fleet;
  /** @internal */
  readonly budget: SharedHold;
}
