/**
 * Numbers of the service, each written once. The comment names the part of the service's
 * specification that a number comes from.
 */

/** How many requests the service accepts in one interval. */
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

/** Limits, "Other limits": the first month that usage reports reach back to. */
export const EARLIEST_USAGE_MONTH = '2020-01';

/** Limits, "Other limits": how many days a WebDomain dataset may look back. */
export const WEB_VISITATION_LOOKBACK_DAYS = 45;

/**
 * A refusal of a job-starting create that asks for a longer wait than this comes from the build
 * budget: no rate bucket has a longer interval (Limits, "Rate limits"). Milliseconds.
 */
export const LONGEST_RATE_INTERVAL = MINUTE;
