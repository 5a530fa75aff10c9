/** A rate limit: at most `limit` requests in any `interval` of milliseconds. */
export interface WindowLimit {
  /** Maximum number of requests. */
  readonly limit: number;
  /** Length of the window, in milliseconds of the sandbox's clock. */
  readonly interval: number;
}

/**
 * The limits of the sandbox that can be changed. Durations are milliseconds of the sandbox's clock unless stated
 * otherwise.
 */
export interface SandboxLimits {
  /** GET requests of one token. @default 120 a minute */
  readonly read: WindowLimit;
  /** POST requests of one token, such as creates and deletes, other than to the MCP endpoint. @default 30 a minute */
  readonly write: WindowLimit;
  /** Requests of one token to the MCP endpoint. @default 120 a minute */
  readonly mcp: WindowLimit;
  /** Login requests from one IP address. @default 180 a minute */
  readonly login: WindowLimit;
  /** Requests from one IP address that issue or revoke tokens. @default 10 a minute */
  readonly mint: WindowLimit;
  /** Builds of an organization in a rolling hour. @default 60 builds */
  readonly buildsPerHour: number;
  /** Builds of an organization in a rolling day. @default 300 builds */
  readonly buildsPerDay: number;
  /** Active tokens of one account, for each of `api` and `mcp`. @default 10 tokens */
  readonly activeTokens: number;
  /** How long the presigned URL of an upload is valid and the upload can be claimed. @default 15 minutes */
  readonly claimWindow: number;
  /** Response timeout of a webhook receiver, in milliseconds of the machine's clock. @default 10_000 ms */
  readonly deliveryTimeout: number;
  /**
   * Maximum number of entries in the log of requests and in the log of deliveries. The oldest entries are dropped.
   * @default 10_000 entries
   */
  readonly logLength: number;
}

const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** Longest duration on the sandbox's clock. A task that begins before {@link MAX_TIME} then ends at a valid date. */
export const MAX_DURATION_MS = 100 * 366 * DAY;

/** The defaults: the limits of the service (specification, "Limits"), and `logLength`. */
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

/** Waits between the six deliveries of an event (specification, "Delivery"). */
export const DELIVERY_RETRY_WAITS_MS = [MINUTE, 5 * MINUTE, 25 * MINUTE, 2 * HOUR, 6 * HOUR] as const;

/**
 * Number of consecutive events whose deliveries all failed, after which an endpoint is disabled (specification,
 * "Delivery").
 */
export const MAX_CONSECUTIVE_FAILURES = 20;

/**
 * How long after a rotation deliveries also contain a signature with the previous secret (specification, "Signature").
 */
export const SECRET_OVERLAP_MS = 24 * HOUR;

/** Lifetime of API and MCP tokens (specification, "Authentication"). */
export const TOKEN_LIFETIME_MS = 365 * DAY;

/** Lifetimes of OAuth tokens (specification, "Authentication"). */
export const ACCESS_TOKEN_LIFETIME_MS = 60 * MINUTE;
export const REFRESH_TOKEN_LIFETIME_MS = 60 * DAY;

/** Lifetime of an authorization code: not specified; RFC 6749 recommends at most ten minutes. */
export const CODE_LIFETIME_MS = 10 * MINUTE;

/** How long the response stored under an idempotency key is replayed (specification, "Other limits"). */
export const REPLAY_WINDOW_MS = 24 * HOUR;

/** Default and maximum of `per_page` on resource lists (specification, "Pagination"). */
export const PAGE_DEFAULT = 25;
export const PAGE_CAP = 100;

/**
 * Default and maximum of `per_page` on reference lists, and the default on lists of apps, which have no maximum
 * (specification, "Pagination").
 */
export const REFERENCE_PAGE = 500;
export const APPS_PAGE = 250;

/**
 * Maximum size of each kind of upload in bytes (specification, "Other limits"); 50 MB and 1 GB are read as binary
 * units.
 */
export const MAX_UPLOAD_BYTES: Readonly<Record<string, number>> = { poi_submission: 50 * 2 ** 20, cohort: 2 ** 30 };

/** How long an unclaimed upload is kept (specification, "Other limits"). */
export const UNCLAIMED_CLEANUP_MS = 24 * HOUR;

/** Minimum numbers of devices (specification, "Other limits"). */
export const MIN_DEVICES_TO_ACTIVATE = 500;
export const MIN_DEVICES_TO_ACTIVATE_LOOKALIKE = 1_000;
export const MIN_SEED_DEVICES = 1_000;

/** Bounds of `config.target_size` (specification, "Rules known for creates", rule 5). */
export const TARGET_SIZE = { min: 1, max: 4_000_000 } as const;

/** Days that mapping keys are kept after the latest dataset end date (specification, "Other limits"). */
export const RETENTION_DAYS = 90;

/** Maximum age of a WebDomain dataset's start date, in days (specification, "Other limits"). */
export const LOOKBACK_DAYS = 45;

/** First month with a usage report (specification, "Other limits"). */
export const FIRST_USAGE_MONTH = '2020-01';
