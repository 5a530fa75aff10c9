import type { Creator, Identifier, JsonObject, LifecycleStatusId, OpenUnion, Status } from './wire-values.ts';

/** Kinds of dataset that the specification names. */
export type AnalysisType = OpenUnion<'WebDomain' | 'AffinityTransactions'>;

/** One dataset of an audience. */
export interface AudienceDataset {
  /** Kind of the data: web-domain visitation or affinity transactions. */
  readonly analysis_type: AnalysisType;
  /** First day, `YYYY-MM-DD`. For `WebDomain`, at most 45 days ago. */
  readonly start_date: string;
  /**
   * Last day, `YYYY-MM-DD`. The service keeps the mapping keys of a standard audience for 90 days after its latest end
   * date. After that, the service can deliver EID, SCID and HEM, but not MAID and IP.
   */
  readonly end_date: string;
}

/** A reason why an audience cannot be activated. */
export interface EligibilityReason {
  /**
   * `affinity_device_coverage`: for affinity data, unique EIDs must exceed 2 times unique SCIDs. Other codes are not
   * specified.
   */
  readonly code: OpenUnion<'affinity_device_coverage'>;
}

/** A restriction that does not prevent activation. */
export interface EligibilityNotice {
  /**
   * `audience_expired`: the retention of the mapping keys has ended, which blocks `MAID` and `IP`. Other codes are not
   * specified.
   */
  readonly code: OpenUnion<'audience_expired'>;
  /** Identifier kinds that cannot be delivered, such as `MAID` and `IP`. */
  readonly blocks_identifiers: readonly Identifier[];
}

/** Eligibility of an audience for activation. */
export interface Eligibility {
  /** `true` if the audience may be activated. */
  readonly allowed: boolean;
  /** Reasons why the audience cannot be activated. */
  readonly reasons: readonly EligibilityReason[];
  /** Restrictions that do not prevent activation. */
  readonly notices: readonly EligibilityNotice[];
  /** Numbers of unique identifiers. */
  readonly metrics: {
    /** Number of unique EIDs in the audience. For affinity data, it must exceed 2 times `unique_scids`. */
    readonly unique_eids: number;
    /** Number of unique SCIDs in the audience, or `null`. */
    readonly unique_scids: number | null;
    /** Ratio of `unique_eids` to `unique_scids`, or `null`. */
    readonly eid_scid_ratio: number | null;
    /** `true` for affinity data, to which the coverage rule applies. */
    readonly is_affinity: boolean;
  };
}

/** An audience, or the result of a lookalike (specification, "Audience object"). Timestamps are `Y-m-d H:i:s`. */
export interface Audience {
  /** Id of the audience. */
  readonly id: number;
  /** Name of the audience. */
  readonly name: string;
  /** Lifecycle status. A build ends with 104 Completed, 107 Additional Info or a 4xx error status. */
  readonly status: Status<LifecycleStatusId>;
  /** The specification does not describe this field. */
  readonly is_cohort: boolean;
  /** `true` for lookalike results. */
  readonly is_lookalike: boolean;
  /** Number of results. The specification does not say what counts as a result. */
  readonly results_count: number;
  /** Whether the audience can be activated. The service sends `1` or `false`; the client converts them to a boolean. */
  readonly is_activation_allowed: boolean;
  /** Whether the audience can be activated, and why not. */
  readonly eligibility: Eligibility;
  /** Source audience, or `null`. Its fields are not specified. */
  readonly source_audience: JsonObject | null;
  /** User who created the audience. */
  readonly created_by: Creator;
  /** Project of the audience, or `null`. Its fields are not specified. */
  readonly project: JsonObject | null;
  /** Operator, or `null`. The specification describes neither its meaning nor its fields. */
  readonly operator: JsonObject | null;
  /** Datasets from which the service built the audience. */
  readonly dataset: readonly AudienceDataset[];
  /** Time of creation, `Y-m-d H:i:s`. */
  readonly created_at: string;
  /** Time of the last change, `Y-m-d H:i:s`. */
  readonly updated_at: string;
}

/** A dataset of a new audience. The package assumes these fields, and its types require all of them. */
export interface DatasetCreate {
  /** Kind of the data: `WebDomain` or `AffinityTransactions`. */
  readonly analysis_type: AnalysisType;
  /** First day, `YYYY-MM-DD`. For `WebDomain`, the service returns 422 if the day is more than 45 days ago. */
  readonly start_date: string;
  /**
   * Last day, `YYYY-MM-DD`. The service keeps the mapping keys of a standard audience for 90 days after its latest end
   * date.
   */
  readonly end_date: string;
}

/**
 * Fields of a new audience. The specification does not list them: the package assumes them, and its types require
 * `name`. If your service does not require `name`, extend `OptionalFields`.
 */
export interface AudienceCreate {
  /** Name of the audience. */
  readonly name: string;
  /** Id of the project to create the audience in, if any. If the project does not exist, the service returns 422. */
  readonly project_id?: number | null | undefined;
  /** Data to build the audience from. */
  readonly dataset?: readonly DatasetCreate[] | undefined;
  /** Id of a completed cohort to build the audience from, instead of datasets. */
  readonly cohort_id?: number | undefined;
  /** Filters on the data. Their form is not specified. If a filter value does not exist, the service returns 422. */
  readonly filters?: unknown;
}
