export { BuildBudgetGate, type BuildPermit, PROBE_INTERVAL_MS, type SharedHold } from './build-budget.ts';
export {
  type AcquireOptions,
  type ClientLimiter,
  createRateLimiter,
  memoryLimiter,
  type PermitLog,
  type Priority,
  RateLimitBucket,
  type RateLimiter,
  SlidingWindowLog,
} from './rate-limiter.ts';
export { isBucket, mergeRateLimits } from './rate-limits.ts';
