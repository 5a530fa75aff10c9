import * as z from 'zod/mini';
import type { Audience, AudienceCreate } from '../../spec/audience.ts';
import { AUDIENCE_FLAGS } from '../../spec/job-status.ts';
import { creatorSchema, lazily, openObject, type ResourceSchema, statusSchema } from './shared-schemas.ts';

const dataset = () => z.looseObject({ analysis_type: z.string(), start_date: z.string(), end_date: z.string() });

const eligibility = () =>
  z.looseObject({
    allowed: z.boolean(),
    reasons: z.array(z.looseObject({ code: z.string() })),
    notices: z.array(z.looseObject({ code: z.string(), blocks_identifiers: z.array(z.string()) })),
    metrics: z.looseObject({
      unique_eids: z.int(),
      unique_scids: z.nullable(z.int()),
      eid_scid_ratio: z.nullable(z.number()),
      is_affinity: z.boolean(),
    }),
  });

/** Schema of {@link Audience}, after the conversion of `is_activation_allowed` to a boolean. */
export const audienceSchema = lazily(() =>
  z.looseObject({
    id: z.int(),
    name: z.string(),
    status: statusSchema(),
    is_cohort: z.boolean(),
    is_lookalike: z.boolean(),
    results_count: z.int(),
    is_activation_allowed: z.boolean(),
    eligibility: eligibility(),
    source_audience: z.nullable(openObject()),
    created_by: creatorSchema(),
    project: z.nullable(openObject()),
    operator: z.nullable(openObject()),
    dataset: z.array(dataset()),
    created_at: z.string(),
    updated_at: z.string(),
  }),
);

/** Schema of {@link AudienceCreate}. The required fields are assumed. */
export const audienceCreateSchema = lazily(() =>
  z.looseObject({
    name: z.string(),
    project_id: z.optional(z.nullable(z.int())),
    dataset: z.optional(
      z.array(
        z.looseObject({
          analysis_type: z.string(),
          start_date: z.string(),
          end_date: z.string(),
        }),
      ),
    ),
    cohort_id: z.optional(z.int()),
    filters: z.optional(z.unknown()),
  }),
);

export const audienceResource: ResourceSchema<Audience> = {
  name: 'audience',
  schema: audienceSchema,
  flags: AUDIENCE_FLAGS,
};
