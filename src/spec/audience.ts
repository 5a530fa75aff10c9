import type { Creator, Identifier, JsonObject, LifecycleStatusId, OpenUnion, Status } from './wire-values.ts';

/** Kinds of dataset that the specification names. */
export type AnalysisType = OpenUnion<'WebDomain' | 'AffinityTransactions'>;

/** One dataset of an audience. */
export interface AudienceDataset {
  /** Kind of the data: web-domain visitation or affinity transactions. */
  readonly analysis_type: AnalysisType;
  /** `YYYY-MM-DD`; for `WebDomain` at most 45 days back. */
  readonly start_date: string;
  /**
   * `YYYY-MM-DD`. Mapping keys of standard audiences are kept for 90 days after the latest end date; afterwards MAID and
   * IP cannot be delivered, while EID, SCID and HEM are unaffected.
   */
  readonly end_date: string;
}

/** Reasons why an audience cannot be activated. */
export interface EligibilityReason {
  /** `affinity_device_coverage`: unique EIDs must exceed 2 times unique SCIDs. Others are not specified. */
  readonly code: OpenUnion<'affinity_device_coverage'>;
}

/** A restriction that does not prevent the activation. */
export interface EligibilityNotice {
  /** `audience_expired`: the mapping keys are no longer kept, which blocks `MAID` and `IP`. Others are not specified. */
  readonly code: OpenUnion<'audience_expired'>;
  /** Identifier kinds that cannot be delivered, such as `MAID` and `IP`. */
  readonly blocks_identifiers: readonly Identifier[];
}

/** Eligibility of an audience for activation. */
export interface Eligibility {
  /** `true` if the audience may be activated. */
  readonly allowed: boolean;
  /** Reasons against the activation, by code. */
  readonly reasons: readonly EligibilityReason[];
  /** Restrictions that do not prevent the activation, by code. */
  readonly notices: readonly EligibilityNotice[];
  /** Counts of unique identifiers: with affinity data, unique EIDs must exceed 2 times unique SCIDs. */
  readonly metrics: {
    /** Unique EIDs in the audience; with affinity data, they must exceed 2 times `unique_scids`. */
    readonly unique_eids: number;
    /** Unique SCIDs in the audience. The specification does not say when it is `null`. */
    readonly unique_scids: number | null;
    /** Ratio of `unique_eids` to `unique_scids`, or `null`. */
    readonly eid_scid_ratio: number | null;
    /** `true` for affinity data, to which the coverage rule applies. */
    readonly is_affinity: boolean;
  };
}

/** An audience, or the result of a lookalike (specification, "Audience object"). Timestamps are `Y-m-d H:i:s`. */
export interface Audience {
  /** Id by which the audience is read. */
  readonly id: number;
  /** Name of the audience. */
  readonly name: string;
  /** Lifecycle status. A build ends at 104 Completed, 107 Additional Info or a 4xx error status. */
  readonly status: Status<LifecycleStatusId>;
  /** `true` for cohorts; the specification does not describe it further. */
  readonly is_cohort: boolean;
  /** `true` for lookalike results. */
  readonly is_lookalike: boolean;
  /** Number of results; the specification does not define them. */
  readonly results_count: number;
  /** The service sends `1` or `false`; here always a boolean. */
  readonly is_activation_allowed: boolean;
  /** Eligibility for activation, with the reasons against it. */
  readonly eligibility: Eligibility;
  /** Source audience, or `null`. Its fields are not specified. */
  readonly source_audience: JsonObject | null;
  /** User who created the audience. */
  readonly created_by: Creator;
  /** Project of the audience, or `null`. Its fields are not specified. */
  readonly project: JsonObject | null;
  /** Operator, or `null`. The specification shows neither its meaning nor its fields. */
  readonly operator: JsonObject | null;
  /** Datasets that the audience is built from. */
  readonly dataset: readonly AudienceDataset[];
  /** Time of creation, `Y-m-d H:i:s`. */
  readonly created_at: string;
  /** Time of the last change, `Y-m-d H:i:s`. */
  readonly updated_at: string;
}

/** A dataset in the body of a create request. Its fields, all required, are assumed. */
export interface DatasetCreate {
  /** Kind of the data: `WebDomain` or `AffinityTransactions`. */
  readonly analysis_type: AnalysisType;
  /** `YYYY-MM-DD`. For `WebDomain`, the service refuses a date before the 45-day window with 422. */
  readonly start_date: string;
  /** `YYYY-MM-DD`. The service keeps the mapping keys of a standard audience for 90 days after its latest end date. */
  readonly end_date: string;
}

/**
 * The definition of an audience. The specification shows no body: the package assumes its fields, and requires `name`.
 * If your service does not require it, extend `OptionalFields`.
 */
export interface AudienceCreate {
  /** Name of the audience. */
  readonly name: string;
  /** Project to create the audience in, if any. The service refuses an id that does not exist with 422. */
  readonly project_id?: number | null | undefined;
  /** Data to build the audience from. */
  readonly dataset?: readonly DatasetCreate[] | undefined;
  /** Completed cohort to build the audience from, instead of datasets. */
  readonly cohort_id?: number | undefined;
  /** Filters on the data, in a form that is not specified. The service refuses a value that does not exist with 422. */
  readonly filters?: unknown;
}
