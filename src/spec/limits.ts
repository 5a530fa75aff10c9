/** A number of requests that the service accepts per interval. */
export interface RateLimit {
  /** Maximum number of requests in any interval. */
  readonly limit: number;
  /** Length of the interval in milliseconds. */
  readonly interval: number;
}

/** The service's rate buckets (specification, "Rate limits"). */
export type Bucket = 'read' | 'write' | 'mcp' | 'login' | 'mint';

/** One limit for each bucket. */
export type RateLimits = Readonly<Record<Bucket, RateLimit>>;

const MINUTE = 60_000;

/** Rate limits: per token for read, write and mcp, per client IP for login and mint (specification, "Rate limits"). */
export const RATE_LIMITS: RateLimits = {
  read: { limit: 120, interval: MINUTE },
  write: { limit: 30, interval: MINUTE },
  mcp: { limit: 120, interval: MINUTE },
  login: { limit: 180, interval: MINUTE },
  mint: { limit: 10, interval: MINUTE },
};

/** Maximum `per_page` of resource lists (specification, "Pagination"). */
export const RESOURCE_PAGE_CAP = 100;

/** Default and maximum `per_page` of reference tables (Common, Web, CTV; specification, "Pagination"). */
export const REFERENCE_PAGE_CAP = 500;

/** Default `per_page` of the Apps reference tables, which have no maximum (specification, "Pagination"). */
export const APPS_PAGE_SIZE = 250;

/** Bounds of a lookalike's `config.target_size`, inclusive (specification, "Rules known for creates", rule 5). */
export const LOOKALIKE_TARGET_SIZE = { min: 1, max: 4_000_000 } as const;

/** Minimum number of unique devices in an audience to activate (specification, "Other limits"). */
export const ACTIVATION_MINIMUM = 500;

/** Minimum number of devices in a lookalike to activate (specification, "Other limits"). */
export const LOOKALIKE_ACTIVATION_MINIMUM = 1_000;

/** Days for which the service keeps mapping keys after the latest dataset end date (specification, "Other limits"). */
export const MAPPING_KEY_RETENTION_DAYS = 90;

/** Earliest month of usage reports (specification, "Other limits"). */
export const EARLIEST_USAGE_MONTH = '2020-01';

/** Maximum age of a WebDomain dataset's start date in days (specification, "Other limits"). */
export const WEB_VISITATION_LOOKBACK_DAYS = 45;

/**
 * The longest interval of a rate bucket, in milliseconds (specification, "Rate limits"). If a job-starting create
 * request gets a 429 with a longer `Retry-After`, the client assumes that the build budget caused it, unless the usage
 * report shows otherwise.
 */
export const LONGEST_RATE_INTERVAL = MINUTE;

/**
 * Maximum bytes of an upload by kind (specification, "Other limits"). The specified 50 MB and 1 GB are assumed to mean
 * MiB and GiB.
 */
export const UPLOAD_SIZES: Readonly<Record<'poi_submission' | 'cohort', number>> = {
  poi_submission: 50 * 2 ** 20,
  cohort: 2 ** 30,
};

/** Milliseconds for which the service replays the response of a create request (specification, "Other limits"). */
export const IDEMPOTENCY_WINDOW = 24 * 60 * MINUTE;

/**
 * Milliseconds from the reservation until an upload can be neither sent nor claimed (specification, "Other limits").
 */
export const CLAIM_WINDOW = 15 * MINUTE;

/**
 * Milliseconds for which the client sends the same key again after a create request that may have taken effect. The
 * rest of the window, an hour, is a margin for the last attempt and for clock differences.
 */
export const MAX_KEY_AGE_MS = IDEMPOTENCY_WINDOW - 3_600_000;

/** Maximum milliseconds by which a create request may seem to be sent in the future. Beyond that, a clock was wrong. */
const MAX_CLOCK_LEAD_MS = 300_000;

/** Returns for how many more milliseconds a create request sent at `at` without a response may be sent again. */
export function timeToRepeat(at: Date): number {
  const age = Date.now() - at.getTime();
  return age < -MAX_CLOCK_LEAD_MS ? 0 : MAX_KEY_AGE_MS - Math.max(0, age);
}
