/**
 * Limits of the service, each defined once. The comment names the section of the service's specification.
 */

/** A number of requests that the service accepts per interval. */
export interface RateLimit {
  /** Requests in any one interval. */
  readonly limit: number;
  /** Length of the interval in milliseconds. */
  readonly interval: number;
}

/** The service's rate buckets (Limits, "Rate limits"). */
export type Bucket = 'read' | 'write' | 'mcp' | 'login' | 'mint';

/** One limit for each bucket. */
export type RateLimits = Readonly<Record<Bucket, RateLimit>>;

const MINUTE = 60_000;

/** Limits, "Rate limits": per token for read, write and mcp; per client IP for login and mint. */
export const RATE_LIMITS: RateLimits = {
  read: { limit: 120, interval: MINUTE },
  write: { limit: 30, interval: MINUTE },
  mcp: { limit: 120, interval: MINUTE },
  login: { limit: 180, interval: MINUTE },
  mint: { limit: 10, interval: MINUTE },
};

/** Limits, "Pagination": the largest `per_page` of resource lists. */
export const RESOURCE_PAGE_CAP = 100;

/** Limits, "Pagination": `per_page` of reference reads (Common, Web, CTV), default and cap. */
export const REFERENCE_PAGE_CAP = 500;

/** Limits, "Pagination": default `per_page` of Apps reference reads, which have no cap. */
export const APPS_PAGE_SIZE = 250;

/** Rules known for creates, rule 5: bounds of a lookalike's `config.target_size`, inclusive. */
export const LOOKALIKE_TARGET_SIZE = { min: 1, max: 4_000_000 } as const;

/** Limits, "Other limits": unique devices an audience must hold to be activated. */
export const ACTIVATION_MINIMUM = 500;

/** Limits, "Other limits": devices a lookalike must hold to be activated. */
export const LOOKALIKE_ACTIVATION_MINIMUM = 1_000;

/** Limits, "Other limits": days for which mapping keys are kept after the latest dataset end date. */
export const MAPPING_KEY_RETENTION_DAYS = 90;

/** Limits, "Other limits": the first month that usage reports reach back to. */
export const EARLIEST_USAGE_MONTH = '2020-01';

/** Limits, "Other limits": maximum age of a WebDomain dataset's start date, in days. */
export const WEB_VISITATION_LOOKBACK_DAYS = 45;

/**
 * A 429 of a job-starting create with a longer `Retry-After` than this comes from the build budget: no rate bucket has a
 * longer interval (Limits, "Rate limits"). Milliseconds.
 */
export const LONGEST_RATE_INTERVAL = MINUTE;

/** Limits, "Other limits": the largest upload of each kind in bytes, inclusive; 50 MB and 1 GB are read as binary (assumed). */
export const UPLOAD_SIZES: Readonly<Record<'poi_submission' | 'cohort', number>> = {
  poi_submission: 50 * 2 ** 20,
  cohort: 2 ** 30,
};

/** Limits, "Other limits": how long a presigned URL accepts a file and its reference can be claimed. Milliseconds. */
export const CLAIM_WINDOW = 15 * MINUTE;
