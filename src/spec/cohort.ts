import type { CohortStatusId, JsonObject, Status } from './wire-values.ts';

/** A cohort imported from a file (specification, "Cohort object"). Timestamps are `Y-m-d H:i:s`. */
export interface Cohort {
  /** Id of the cohort. */
  readonly id: number;
  /** Name of the cohort. */
  readonly name: string;
  /** Status of the import: 1 to 3 while it runs, 4 Completed, 5 Not Available. */
  readonly status: Status<CohortStatusId>;
  /** Number of EIDs in the cohort. */
  readonly total_eids: number;
  /** Project of the cohort, or `null`. Its fields are not specified. */
  readonly project: JsonObject | null;
  /** Label of the import's source. Its values are not specified. */
  readonly source: string;
  /** Source audience, or `null`. Its fields are not specified. */
  readonly source_audience: JsonObject | null;
  /** Time of creation, `Y-m-d H:i:s`. */
  readonly created_at: string;
  /** Time of the last change, `Y-m-d H:i:s`. */
  readonly updated_at: string;
}

/** Fields of a new cohort. The specification does not list them: the package assumes them. */
export interface CohortCreate {
  /** Name of the cohort. */
  readonly name?: string | undefined;
  /** `reference` of an upload that you reserved within the last 15 minutes. */
  readonly upload_reference?: string | undefined;
  /** Id of a completed audience to create the cohort from, instead of a file. */
  readonly source_audience_id?: number | undefined;
  /** Id of the project to create the cohort in, if any. */
  readonly project_id?: number | null | undefined;
}
