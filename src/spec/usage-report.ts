/** One window of the build budget. The specification names limits and live counts; the field names are assumed. */
export interface BudgetWindow {
  /** Builds that the window allows; can be raised for each organization. */
  readonly limit: number;
  /** Builds that the window counts now: creates that started a worker job. */
  readonly used: number;
}

/** The organization's build budget: how many job-starting creates it has left. */
export interface BuildBudget {
  /** The rolling hour, of 60 builds by default. */
  readonly hour: BudgetWindow;
  /** The rolling day, of 300 builds by default. */
  readonly day: BudgetWindow;
  /** Seconds until a build is accepted again; `null` or absent while no window is exhausted. */
  readonly retry_after_seconds?: number | null | undefined;
}

/** The usage report of a month; only `build_budget` is specified. */
export interface Usage {
  /** Limits and live counts of the build budget, which all channels of the organization share. */
  readonly build_budget: BuildBudget;
  readonly [more: string]: unknown;
}
