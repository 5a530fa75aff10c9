import type { CallOptions } from '../http/request-options.ts';
import type { JobKind, Observed } from '../spec/job-status.ts';

/** A resource as a row of a list, or an event, tells it. */
export interface Row<T> {
  readonly id: number;
  /** The id of its status, if that is told. */
  readonly status?: number | undefined;
  /** The whole resource; none where fields are left out. */
  readonly resource?: T | undefined;
}

/** A list in which the resources of jobs are found. */
export interface Listing<T> {
  /** One page of as many rows as the service gives; pages count from 1. */
  rows(page: number, options: CallOptions): PromiseLike<readonly Row<T>[]>;
}

/** A kind of job, and how its resource is read. */
export interface Source<T extends Observed> {
  readonly kind: JobKind;
  read(id: number, options: CallOptions): PromiseLike<T>;
  /** The error for an id that is none; nothing is sent. */
  refuse(problem: string): Error;
  /** The resource in an event's data; `undefined` where there is none. */
  decode(data: unknown): Row<T> | undefined;
}
