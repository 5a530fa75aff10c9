/** One window of the build budget. The specification names limits and live counts; the field names are assumed. */
export interface BudgetWindow {
  /** Maximum number of builds in the window. The service can raise it for an organization. */
  readonly limit: number;
  /** Number of builds in the window: create requests that started a worker job. */
  readonly used: number;
}

/** The organization's build budget. It limits the create requests that start a worker job. */
export interface BuildBudget {
  /** The rolling hour, with a default limit of 60 builds. */
  readonly hour: BudgetWindow;
  /** The rolling day, with a default limit of 300 builds. */
  readonly day: BudgetWindow;
  /** Seconds until a build is accepted again; `null` or absent while no window is exhausted. */
  readonly retry_after_seconds?: number | null | undefined;
}

/** The usage report of a month; only `build_budget` is specified. */
export interface Usage {
  /** Build budget, which all channels of the organization share. */
  readonly build_budget: BuildBudget;
  readonly [more: string]: unknown;
}
