import type { JobResources } from '../errors/error-details.ts';
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

/** A wait that is kept as data until its outcome has been handled. */
export interface KeptWait {
  /** Id of the wait, as `keep` returned it. */
  readonly id: string;
  /** Kind of the job that is awaited. */
  readonly kind: JobKind;
  /** Id of the job's resource. */
  readonly jobId: number;
  /** Name of the handler of its outcome. */
  readonly handler: string;
  /** Data for the handler, as JSON returns them; `null` if none were passed. */
  readonly data: unknown;
}

/** Options of a wait that is kept as data. */
export interface KeepOptions {
  /** Name of the handler of the outcome; see `handle`. */
  readonly handler: string;
  /** Passed to the handler: anything that JSON can hold. */
  readonly data?: unknown;
  /** Milliseconds, by the clock of Redis, after which the outcome is `timed-out`. @default 86400000 (24 hours) */
  readonly timeout?: number | undefined;
  /** Id of the wait. With the id of a wait that is already kept, nothing changes. @default a random one */
  readonly id?: string | undefined;
}

/** Fields of every outcome of a kept wait. */
interface OutcomeFields<K extends JobKind> {
  /** Id of the wait: the same in every attempt to handle it. */
  readonly id: string;
  /** Kind of the job, which determines the type of `resource`. */
  readonly kind: K;
  /** Id of the job's resource. */
  readonly jobId: number;
  /** 1 for the first attempt to handle it; also counts attempts whose process was killed. */
  readonly attempt: number;
  /** Aborts when the client is closed, or when another process may handle the outcome. */
  readonly signal: AbortSignal;
}

/**
 * The outcome of a kept wait. `resource` is the final state of the job. `timed-out`: the timeout has passed before its
 * end. `unreadable`: the service refuses to show the job, such as by 404.
 */
export type KeptOutcome = {
  readonly [K in JobKind]:
    | (OutcomeFields<K> & {
        /** Final progress of the job. */
        readonly status: 'completed' | 'needs-info' | 'failed' | 'cancelled';
        /** The final state of the resource. */
        readonly resource: JobResources[K];
      })
    | (OutcomeFields<K> & {
        /** Why the wait has ended without the end of the job. */
        readonly status: 'timed-out' | 'unreadable';
        /** Not set: no final state is known. */
        readonly resource?: undefined;
      });
}[JobKind];

/**
 * Handles the outcome of a kept wait, with the data that the wait was kept with, as JSON returns them. If it rejects, the
 * outcome is handled again later.
 */
export type OutcomeHandler<Data = unknown> = (outcome: KeptOutcome, data: Data) => void | Promise<void>;

/** Waits that are kept as data. */
export interface KeptWaits {
  keep(target: { readonly kind: JobKind; readonly id: number }, options: KeepOptions): Promise<string>;
  handle(name: string, handler: OutcomeHandler): () => void;
  kept(): Promise<KeptWait[]>;
  drop(id: string): Promise<boolean>;
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
  readonly keptWaits: KeptWaits;
  /** Ends the reports and the lead; resolves when the running handlers of outcomes have ended. */
  close(reason: unknown): Promise<void>;
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
