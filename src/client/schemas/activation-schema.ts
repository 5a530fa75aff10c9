import * as z from 'zod/mini';
import type { Activation, ActivationCreate } from '../../spec/activation.ts';
import { creatorSchema, lazily, openObject, type ResourceSchema, statusSchema } from './shared-schemas.ts';

export const activationSchema = lazily(() =>
  z.looseObject({
    id: z.int(),
    description: z.string(),
    status: statusSchema(),
    audience: z.looseObject({ id: z.int(), name: z.string() }),
    created_by: creatorSchema(),
    project: z.nullable(openObject()),
    partner: z.looseObject({ name: z.string(), description: z.string() }),
    pricing_model: openObject(),
    datastreams: z.array(
      z.looseObject({ name: z.string(), status: z.string(), results: z.looseObject({ uri: z.string() }) }),
    ),
    filters: z.looseObject({
      freq_limit: z.boolean(),
      freq_min: z.nullable(z.int()),
      freq_max: z.nullable(z.int()),
    }),
    filter_hash: z.nullable(z.string()),
    created_at: z.string(),
    updated_at: z.string(),
  }),
);

/** Schema of {@link ActivationCreate}. The required fields are assumed. */
export const activationCreateSchema = lazily(() =>
  z.looseObject({
    audience_id: z.int(),
    description: z.optional(z.string()),
    identifier: z.optional(z.string()),
    project_id: z.optional(z.nullable(z.int())),
    credentials: z.optional(z.unknown()),
    filters: z.optional(
      z.looseObject({
        freq_limit: z.optional(z.boolean()),
        freq_min: z.optional(z.nullable(z.int())),
        freq_max: z.optional(z.nullable(z.int())),
      }),
    ),
    partner_id: z.optional(z.undefined()),
    partner_name: z.optional(z.undefined()),
    pricing_model: z.optional(z.undefined()),
  }),
);

export const activationResource: ResourceSchema<Activation> = { name: 'activation', schema: activationSchema };
