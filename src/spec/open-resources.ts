import type { LifecycleStatusId, Status } from './wire-values.ts';

/** A project. Its fields other than `id` are not specified. */
export interface Project {
  /** Id by which the project is read, and by which `project_id` of create requests refers to it. */
  readonly id: number;
  readonly [more: string]: unknown;
}

/** A schedule. Its fields other than `id` are not specified. */
export interface Schedule {
  /** Id by which the schedule is read. */
  readonly id: number;
  readonly [more: string]: unknown;
}

/** An estimate: a job with the lifecycle of audiences (assumed). Its other fields are not specified. */
export interface Estimate {
  /** Id by which the estimate is read. */
  readonly id: number;
  /** Lifecycle status, assumed to be the same as for audiences: 104, 107 and 4xx end the job. */
  readonly status: Status<LifecycleStatusId>;
  readonly [more: string]: unknown;
}

/**
 * The definition of a project. Its fields are not specified: the package assumes `name`, and requires it. If your
 * service does not require it, extend `OptionalFields`.
 */
export interface ProjectCreate {
  /** Name of the project. */
  readonly name: string;
  readonly [more: string]: unknown;
}

/** The definition of a schedule. Its fields are not specified; `name` is assumed. */
export interface ScheduleCreate {
  /** Name of the schedule. */
  readonly name?: string | undefined;
  readonly [more: string]: unknown;
}

/** The configuration of a lookalike. */
export interface LookalikeConfig {
  /** Devices of the result: an integer from 1 to 4,000,000. */
  readonly target_size: number;
}

/**
 * The definition of a lookalike. `config.target_size` is specified. The package assumes the other fields, and requires
 * `source_audience_id` and `config`. If your service does not require them, extend `OptionalFields`.
 */
export interface LookalikeCreate {
  /** Name of the resulting audience. */
  readonly name?: string | undefined;
  /** The seed: a completed audience of at least 1,000 devices. */
  readonly source_audience_id: number;
  /** Configuration of the lookalike model. */
  readonly config: LookalikeConfig;
}
