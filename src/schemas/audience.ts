import * as z from 'zod/mini';
import type { RequestBody } from '../util/input-types.ts';
import type { NoCamelCase } from '../util/spelling.ts';
import {
  type Creator,
  creatorSchema,
  type LifecycleStatusId,
  type OpenObject,
  type OpenUnion,
  openObject,
  type ResourceSchema,
  type Status,
  statusSchema,
} from './common.ts';

/** Kinds of dataset that the specification names. */
export type AnalysisType = OpenUnion<'WebDomain' | 'AffinityTransactions'>;

/** One dataset of an audience. */
export interface AudienceDataset {
  readonly analysis_type: AnalysisType;
  /** `YYYY-MM-DD`; for `WebDomain` at most 45 days back. */
  readonly start_date: string;
  /** `YYYY-MM-DD`. */
  readonly end_date: string;
}

/** Why an audience may not be activated. */
export interface EligibilityReason {
  readonly code: OpenUnion<'affinity_device_coverage'>;
  readonly [more: string]: unknown;
}

/** A restriction that does not prevent the activation. */
export interface EligibilityNotice {
  readonly code: OpenUnion<'audience_expired'>;
  /** Identifier kinds that cannot be delivered, such as `MAID` and `IP`. */
  readonly blocks_identifiers: readonly OpenUnion<'MAID' | 'IP'>[];
  readonly [more: string]: unknown;
}

/** Eligibility of an audience for activation. */
export interface Eligibility {
  readonly allowed: boolean;
  readonly reasons: readonly EligibilityReason[];
  readonly notices: readonly EligibilityNotice[];
  readonly metrics: {
    readonly unique_eids: number;
    readonly unique_scids: number | null;
    readonly eid_scid_ratio: number | null;
    readonly is_affinity: boolean;
  };
}

/** An audience, or the result of a lookalike (specification, "Audience object"). Timestamps are `Y-m-d H:i:s`. */
export interface Audience {
  readonly id: number;
  readonly name: string;
  readonly status: Status<LifecycleStatusId>;
  readonly is_cohort: boolean;
  /** `true` for lookalike results. */
  readonly is_lookalike: boolean;
  readonly results_count: number;
  /** The service sends `1` or `false`; here always a boolean. */
  readonly is_activation_allowed: boolean;
  readonly eligibility: Eligibility;
  readonly source_audience: OpenObject | null;
  readonly created_by: Creator;
  readonly project: OpenObject | null;
  readonly operator: OpenObject | null;
  readonly dataset: readonly AudienceDataset[];
  readonly created_at: string;
  readonly updated_at: string;
  readonly [more: string]: unknown;
}

/** A dataset in the body of a create request; fields that are not specified pass through. */
export interface DatasetCreate extends NoCamelCase<'analysis_type' | 'start_date' | 'end_date'> {
  readonly analysis_type?: AnalysisType | undefined;
  readonly start_date?: string | undefined;
  readonly end_date?: string | undefined;
  readonly [more: string]: unknown;
}

/** The definition of an audience. The specification shows no body; these fields are assumed, others pass through. */
export interface AudienceCreate extends NoCamelCase<'project_id'> {
  readonly name?: string | undefined;
  readonly project_id?: number | null | undefined;
  readonly dataset?: readonly RequestBody<DatasetCreate>[] | undefined;
  readonly filters?: unknown;
  readonly [more: string]: unknown;
}

const dataset = z.looseObject({ analysis_type: z.string(), start_date: z.string(), end_date: z.string() });

const eligibility = z.looseObject({
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

/** Schema of {@link Audience}, with `is_activation_allowed` already normalized to a boolean. */
export const audienceSchema = z.looseObject({
  id: z.int(),
  name: z.string(),
  status: statusSchema,
  is_cohort: z.boolean(),
  is_lookalike: z.boolean(),
  results_count: z.int(),
  is_activation_allowed: z.boolean(),
  eligibility,
  source_audience: z.nullable(openObject),
  created_by: creatorSchema,
  project: z.nullable(openObject),
  operator: z.nullable(openObject),
  dataset: z.array(dataset),
  created_at: z.string(),
  updated_at: z.string(),
});

/** Schema of {@link AudienceCreate}. */
export const audienceCreateSchema = z.looseObject({
  name: z.optional(z.string()),
  project_id: z.optional(z.nullable(z.int())),
  dataset: z.optional(
    z.array(
      z.looseObject({
        analysis_type: z.optional(z.string()),
        start_date: z.optional(z.string()),
        end_date: z.optional(z.string()),
      }),
    ),
  ),
  filters: z.optional(z.unknown()),
});

/** Audiences as responses hold them. */
export const audienceResource: ResourceSchema<Audience> = {
  name: 'audience',
  schema: audienceSchema,
  flags: ['is_activation_allowed'],
};
