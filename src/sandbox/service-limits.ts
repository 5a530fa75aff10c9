/** A limit as the service keeps it: so many in any one interval. Milliseconds. */
export interface WindowLimit {
  readonly limit: number;
  readonly interval: number;
}

/** Every limit of the sandbox, for options that change one. Durations in milliseconds of the sandbox's clock. */
export interface SandboxLimits {
  readonly read: WindowLimit;
  readonly write: WindowLimit;
  readonly mcp: WindowLimit;
  readonly login: WindowLimit;
  readonly mint: WindowLimit;
  readonly buildsPerHour: number;
  readonly buildsPerDay: number;
  readonly activeTokens: number;
  /** Milliseconds that a presigned URL works and its upload can be claimed. */
  readonly claimWindow: number;
  /** Milliseconds of the machine that a webhook receiver may take. */
  readonly deliveryTimeout: number;
  /** How many requests, and how many deliveries, are logged; older ones are forgotten. */
  readonly logLength: number;
}

const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** The service's own numbers (specification, "Limits"). */
export const SERVICE_LIMITS: SandboxLimits = {
  read: { limit: 120, interval: MINUTE },
  write: { limit: 30, interval: MINUTE },
  mcp: { limit: 120, interval: MINUTE },
  login: { limit: 180, interval: MINUTE },
  mint: { limit: 10, interval: MINUTE },
  buildsPerHour: 60,
  buildsPerDay: 300,
  activeTokens: 10,
  claimWindow: 15 * MINUTE,
  deliveryTimeout: 10_000,
  logLength: 10_000,
};

/** Waits between the six attempts of a delivery ("Delivery"). */
export const DELIVERY_WAITS = [MINUTE, 5 * MINUTE, 25 * MINUTE, 2 * HOUR, 6 * HOUR] as const;

/** Deliveries in a row that exhausted all attempts, after which an endpoint is switched off ("Delivery"). */
export const EXHAUSTED_IN_A_ROW = 20;

/** How long two signatures are sent after a rotation ("Signature"). */
export const SECRET_OVERLAP = 24 * HOUR;

/** API and MCP token lifetime ("Authentication"). */
export const TOKEN_LIFETIME = 365 * DAY;

/** OAuth token lifetimes ("Authentication"). */
export const ACCESS_TOKEN_LIFETIME = 60 * MINUTE;
export const REFRESH_TOKEN_LIFETIME = 60 * DAY;

/** How long an authorization code can be exchanged; not specified, RFC 6749 recommends ten minutes at most. */
export const CODE_LIFETIME = 10 * MINUTE;

/** Replay window of an idempotency key ("Other limits"). */
export const REPLAY_WINDOW = 24 * HOUR;

/** Cap of `per_page` on resource lists, and its default ("Pagination"). */
export const PAGE_CAP = 100;
export const PAGE_DEFAULT = 25;

/** `per_page` of reference reads: default and cap, and the default of Apps, which has no cap ("Pagination"). */
export const REFERENCE_PAGE = 500;
export const APPS_PAGE = 250;

/** Largest upload of each kind in bytes ("Other limits"); 50 MB and 1 GB are read as binary. */
export const UPLOAD_SIZES: Readonly<Record<string, number>> = { poi_submission: 50 * 2 ** 20, cohort: 2 ** 30 };

/** When an upload that nobody claimed is cleaned up ("Other limits"). */
export const UNCLAIMED_CLEANUP = 24 * HOUR;

/** Devices needed to activate an audience, or a lookalike, and to grow one ("Other limits"). */
export const ACTIVATION_MINIMUM = 500;
export const LOOKALIKE_ACTIVATION_MINIMUM = 1_000;
export const SEED_MINIMUM = 1_000;

/** Bounds of `config.target_size` ("Rules known for creates", rule 5). */
export const TARGET_SIZE = { min: 1, max: 4_000_000 } as const;

/** Days that mapping keys are kept after the latest dataset end date ("Other limits"). */
export const RETENTION_DAYS = 90;

/** How far a WebDomain dataset may look back, in days ("Other limits"). */
export const LOOKBACK_DAYS = 45;

/** First month with a usage report ("Other limits"). */
export const FIRST_USAGE_MONTH = '2020-01';
