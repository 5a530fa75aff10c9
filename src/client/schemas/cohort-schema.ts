import * as z from 'zod/mini';
import type { Cohort, CohortCreate } from '../../spec/cohort.ts';
import { lazily, openObject, type ResourceSchema, statusSchema } from './shared-schemas.ts';

/** Schema of {@link Cohort}. */
export const cohortSchema = lazily(() =>
  z.looseObject({
    id: z.int(),
    name: z.string(),
    status: statusSchema(),
    total_eids: z.int(),
    project: z.nullable(openObject()),
    source: z.string(),
    source_audience: z.nullable(openObject()),
    created_at: z.string(),
    updated_at: z.string(),
  }),
);

/** Schema of {@link CohortCreate}. */
export const cohortCreateSchema = lazily(() =>
  z.looseObject({
    name: z.optional(z.string()),
    upload_reference: z.optional(z.string()),
    source_audience_id: z.optional(z.int()),
    project_id: z.optional(z.nullable(z.int())),
  }),
);

export const cohortResource: ResourceSchema<Cohort> = { name: 'cohort', schema: cohortSchema };
