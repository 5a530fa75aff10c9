import * as z from 'zod/mini';
import type { JsonObject } from '../../util/json.ts';
import { type LifecycleStatusId, openObject, type ResourceSchema, type Status, statusSchema } from './common.ts';

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
  /** Lifecycle status, assumed to be that of audiences: 104, 107 and 4xx end the job. */
  readonly status: Status<LifecycleStatusId>;
  readonly [more: string]: unknown;
}

/** The definition of a project. Its fields are not specified; `name` is assumed. */
export interface ProjectCreate {
  /** Name of the project. */
  readonly name?: string | undefined;
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
  readonly target_size?: number | undefined;
}

/** The definition of a lookalike. `config.target_size` is specified; the other fields are assumed. */
export interface LookalikeCreate {
  /** Name of the resulting audience. */
  readonly name?: string | undefined;
  /** The seed: a completed audience of at least 1,000 devices. */
  readonly source_audience_id?: number | undefined;
  /** Configuration of the lookalike model. */
  readonly config?: LookalikeConfig | undefined;
}

/** Schema of {@link Project} and {@link Schedule}. */
export const identifiedSchema = z.looseObject({ id: z.int() });

/** Schema of {@link Estimate}. */
export const estimateSchema = z.looseObject({ id: z.int(), status: statusSchema });

/** Schema of {@link ProjectCreate}. */
export const projectCreateSchema = z.looseObject({ name: z.optional(z.string()) });

/** Schema of {@link ScheduleCreate}. */
export const scheduleCreateSchema = z.looseObject({ name: z.optional(z.string()) });

/** Schema of {@link LookalikeCreate}, with the fields required that the service requires (assumed). */
export const lookalikeCreateSchema = z.looseObject({
  name: z.optional(z.string()),
  source_audience_id: z.int(),
  config: z.looseObject({ target_size: z.int() }),
});

/** Estimates as responses hold them. */
export const estimateResource: ResourceSchema<Estimate> = { name: 'estimate', schema: estimateSchema };

/** Projects as responses hold them. */
export const projectResource: ResourceSchema<Project> = { name: 'project', schema: identifiedSchema };

/** Schedules as responses hold them. */
export const scheduleResource: ResourceSchema<Schedule> = { name: 'schedule', schema: identifiedSchema };

/** Rows of reference tables, whose fields are not specified. */
export const referenceRow: ResourceSchema<JsonObject> = { name: 'reference row', schema: openObject };
