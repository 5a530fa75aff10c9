import * as z from 'zod/mini';
import type { RequestBody } from '../util/input-types.ts';
import type { NoCamelCase } from '../util/spelling.ts';
import {
  type LifecycleStatusId,
  type OpenObject,
  openObject,
  type ResourceSchema,
  type Status,
  statusSchema,
} from './common.ts';

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

/** Body of a create request whose fields are not specified; `name` is assumed. */
export interface OpenCreate {
  /** Name of the resource. */
  readonly name?: string | undefined;
  readonly [more: string]: unknown;
}

/** The configuration of a lookalike; fields that are not specified pass through. */
export interface LookalikeConfig extends NoCamelCase<'target_size'> {
  /** From 1 to 4,000,000. */
  readonly target_size?: number | undefined;
  readonly [more: string]: unknown;
}

/** The definition of a lookalike. `config.target_size` is specified; the other fields are assumed. */
export interface LookalikeCreate extends NoCamelCase<'source_audience_id'> {
  /** Name of the resulting audience. */
  readonly name?: string | undefined;
  /** The seed: a completed audience of at least 1,000 devices. */
  readonly source_audience_id?: number | undefined;
  /** Configuration of the lookalike model. */
  readonly config?: RequestBody<LookalikeConfig> | undefined;
  readonly [more: string]: unknown;
}

/** Schema of {@link Project} and {@link Schedule}. */
export const identifiedSchema = z.looseObject({ id: z.int() });

/** Schema of {@link Estimate}. */
export const estimateSchema = z.looseObject({ id: z.int(), status: statusSchema });

/** Schema of {@link OpenCreate}. */
export const openCreateSchema = z.looseObject({ name: z.optional(z.string()) });

/** Schema of {@link LookalikeCreate}. */
export const lookalikeCreateSchema = z.looseObject({
  name: z.optional(z.string()),
  source_audience_id: z.optional(z.int()),
  config: z.optional(z.looseObject({ target_size: z.optional(z.int()) })),
});

/** Estimates as responses hold them. */
export const estimateResource: ResourceSchema<Estimate> = { name: 'estimate', schema: estimateSchema };

/** Projects as responses hold them. */
export const projectResource: ResourceSchema<Project> = { name: 'project', schema: identifiedSchema };

/** Schedules as responses hold them. */
export const scheduleResource: ResourceSchema<Schedule> = { name: 'schedule', schema: identifiedSchema };

/** Rows of reference tables, whose fields are not specified. */
export const referenceRow: ResourceSchema<OpenObject> = { name: 'reference row', schema: openObject };
