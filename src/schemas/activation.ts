import * as z from 'zod/mini';
import type { Optional, RequestBody } from '../util/input-types.ts';
import type { NoCamelCase } from '../util/spelling.ts';
import {
  type Creator,
  creatorSchema,
  type LifecycleStatusId,
  type NamedId,
  type OpenObject,
  openObject,
  type ResourceSchema,
  type Status,
  statusSchema,
} from './common.ts';

/** One stream that an activation is delivered through. */
export interface Datastream {
  readonly name: string;
  /** Allowed values are not specified. */
  readonly status: string;
  /** The file at `uri` can be read once the activation is at 104. */
  readonly results: { readonly uri: string };
}

/** The delivery of an audience to a partner (specification, "Activation object"). Timestamps are `Y-m-d H:i:s`. */
export interface Activation {
  readonly id: number;
  readonly description: string;
  readonly status: Status<LifecycleStatusId>;
  readonly audience: NamedId;
  readonly created_by: Creator;
  readonly project: OpenObject | null;
  readonly partner: { readonly name: string; readonly description: string };
  readonly pricing_model: OpenObject;
  readonly datastreams: readonly Datastream[];
  readonly filters: {
    readonly freq_limit: boolean;
    readonly freq_min: number | null;
    readonly freq_max: number | null;
  };
  readonly filter_hash: string | null;
  readonly created_at: string;
  readonly updated_at: string;
  readonly [more: string]: unknown;
}

/** Limits on how often a device must have been seen to be delivered; fields that are not specified pass through. */
export interface FrequencyFilters
  extends Optional<Activation['filters']>,
    NoCamelCase<'freq_limit' | 'freq_min' | 'freq_max'> {
  readonly [more: string]: unknown;
}

/**
 * The definition of an activation. The specification shows no body: these fields are assumed, and others pass through.
 * The three fields of type `undefined` must not be set: the specification says that the service refuses them.
 */
export interface ActivationCreate
  extends NoCamelCase<'audience_id' | 'project_id' | 'partner_id' | 'partner_name' | 'pricing_model'> {
  readonly audience_id?: number | undefined;
  readonly description?: string | undefined;
  readonly project_id?: number | null | undefined;
  /** Delivery credentials, needed if none are stored on the connection. */
  readonly credentials?: unknown;
  readonly filters?: RequestBody<FrequencyFilters> | undefined;
  readonly partner_id?: undefined;
  readonly partner_name?: undefined;
  readonly pricing_model?: undefined;
  readonly [more: string]: unknown;
}

/** Schema of {@link Activation}. */
export const activationSchema = z.looseObject({
  id: z.int(),
  description: z.string(),
  status: statusSchema,
  audience: z.looseObject({ id: z.int(), name: z.string() }),
  created_by: creatorSchema,
  project: z.nullable(openObject),
  partner: z.looseObject({ name: z.string(), description: z.string() }),
  pricing_model: openObject,
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
});

/** Schema of {@link ActivationCreate}. */
export const activationCreateSchema = z.looseObject({
  audience_id: z.optional(z.int()),
  description: z.optional(z.string()),
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
});

/** Activations as responses hold them. */
export const activationResource: ResourceSchema<Activation> = { name: 'activation', schema: activationSchema };
