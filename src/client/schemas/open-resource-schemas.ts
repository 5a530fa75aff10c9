import * as z from 'zod/mini';
import type {
  Estimate,
  LookalikeCreate,
  Project,
  ProjectCreate,
  Schedule,
  ScheduleCreate,
} from '../../spec/open-resources.ts';
import type { JsonObject } from '../../spec/wire-values.ts';
import { lazily, openObject, type ResourceSchema, statusSchema } from './shared-schemas.ts';

/** Schema of {@link Project} and {@link Schedule}. */
export const identifiedSchema = lazily(() => z.looseObject({ id: z.int() }));

/** Schema of {@link Estimate}. */
export const estimateSchema = lazily(() => z.looseObject({ id: z.int(), status: statusSchema() }));

/** Schema of {@link ProjectCreate}. */
export const projectCreateSchema = lazily(() => z.looseObject({ name: z.string() }));

/** Schema of {@link ScheduleCreate}. */
export const scheduleCreateSchema = lazily(() => z.looseObject({ name: z.optional(z.string()) }));

/** Schema of {@link LookalikeCreate}. The required fields are assumed, except `config.target_size`. */
export const lookalikeCreateSchema = lazily(() =>
  z.looseObject({
    name: z.optional(z.string()),
    source_audience_id: z.int(),
    config: z.looseObject({ target_size: z.int() }),
  }),
);

export const estimateResource: ResourceSchema<Estimate> = { name: 'estimate', schema: estimateSchema };

export const projectResource: ResourceSchema<Project> = { name: 'project', schema: identifiedSchema };

export const scheduleResource: ResourceSchema<Schedule> = { name: 'schedule', schema: identifiedSchema };

/** Rows of reference tables, whose fields are not specified. */
export const referenceRow: ResourceSchema<JsonObject> = { name: 'reference row', schema: lazily(openObject) };
