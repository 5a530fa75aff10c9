import type { LifecycleStatusId, Status } from './wire-values.ts';

/** A project. Its fields are not specified; `id` is assumed. */
export interface Project {
  /** Id of the project, for `project_id` of create requests. */
  readonly id: number;
  readonly [more: string]: unknown;
}

/** A schedule. Its fields are not specified; `id` is assumed. */
export interface Schedule {
  /** Id of the schedule. */
  readonly id: number;
  readonly [more: string]: unknown;
}

/** An estimate. Its fields are not specified; `id` and `status` are assumed. */
export interface Estimate {
  /** Id of the estimate. */
  readonly id: number;
  /** Lifecycle status, assumed to be the same as for audiences: 104, 107 and 4xx end the job. */
  readonly status: Status<LifecycleStatusId>;
  readonly [more: string]: unknown;
}

/**
 * Fields of a new project. The specification does not list them: the package assumes `name`, and its types require it.
 * If your service does not require `name`, extend `OptionalFields`.
 */
export interface ProjectCreate {
  /** Name of the project. */
  readonly name: string;
  readonly [more: string]: unknown;
}

/** Fields of a new schedule. The specification does not list them: the package assumes `name`. */
export interface ScheduleCreate {
  /** Name of the schedule. */
  readonly name?: string | undefined;
  readonly [more: string]: unknown;
}

/** The configuration of a lookalike. */
export interface LookalikeConfig {
  /** Number of devices in the result: an integer from 1 to 4,000,000. */
  readonly target_size: number;
}

/**
 * Fields of a new lookalike. The specification lists `config.target_size` only: the package assumes the other fields,
 * and its types require `source_audience_id` and `config`. If your service does not require them, extend
 * `OptionalFields`.
 */
export interface LookalikeCreate {
  /** Name of the resulting audience. */
  readonly name?: string | undefined;
  /** Id of the seed: a completed audience with at least 1,000 devices. */
  readonly source_audience_id: number;
  /** Configuration of the lookalike model. */
  readonly config: LookalikeConfig;
}
