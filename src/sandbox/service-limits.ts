/** A rate limit: at most `limit` requests in any `interval`. */
export interface WindowLimit {
  /** Maximum number of requests. */
  readonly limit: number;
  /** Length of the window, in milliseconds of the sandbox's clock. */
  readonly interval: number;
}

/**
 * Limits of the sandbox that you can change. Durations are in milliseconds of the sandbox's clock unless stated
 * otherwise.
 */
export interface SandboxLimits {
  /** GET requests per token, except those to the MCP endpoint. @default 120 requests per minute */
  readonly read: WindowLimit;
  /** POST requests per token, except those to the MCP endpoint. @default 30 requests per minute */
  readonly write: WindowLimit;
  /** Requests to the MCP endpoint per token. @default 120 requests per minute */
  readonly mcp: WindowLimit;
  /** Login requests per IP address. @default 180 requests per minute */
  readonly login: WindowLimit;
  /** Requests per IP address that issue or revoke API or MCP tokens. @default 10 requests per minute */
  readonly mint: WindowLimit;
  /** Maximum builds in a rolling hour, for new organizations. @default 60 builds */
  readonly buildsPerHour: number;
  /** Maximum builds in a rolling day, for new organizations. @default 300 builds */
  readonly buildsPerDay: number;
  /** Maximum active API tokens per account, and maximum active MCP tokens per account. @default 10 tokens */
  readonly activeTokens: number;
  /** Milliseconds for which an upload can be sent and claimed. @default 900_000 ms (15 minutes) */
  readonly claimWindow: number;
  /** Response timeout of a webhook receiver, in milliseconds of the machine's clock. @default 10_000 ms */
  readonly deliveryTimeout: number;
  /**
   * Maximum number of entries in the request log, in the delivery log, and in the console's lists of events and of
   * jobs with their statuses. The sandbox drops the oldest entries.
   * @default 10_000 entries
   */
  readonly logLength: number;
}

const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** Maximum duration on the sandbox's clock. A task that begins before {@link MAX_TIME} then ends at a valid date. */
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

/** Milliseconds from the start of an attempt to deliver an event to the next attempt (specification, "Delivery"). */
export const DELIVERY_RETRY_WAITS_MS = [MINUTE, 5 * MINUTE, 25 * MINUTE, 2 * HOUR, 6 * HOUR] as const;

/**
 * Number of consecutive events whose deliveries all failed, after which an endpoint is disabled (specification,
 * "Delivery").
 */
export const MAX_CONSECUTIVE_FAILURES = 20;

/**
 * Milliseconds after a rotation during which deliveries also contain a signature with the previous secret
 * (specification, "Signature").
 */
export const SECRET_OVERLAP_MS = 24 * HOUR;

/** Lifetime of API and MCP tokens (specification, "Authentication"). */
export const TOKEN_LIFETIME_MS = 365 * DAY;

/** Lifetimes of OAuth tokens (specification, "Authentication"). */
export const ACCESS_TOKEN_LIFETIME_MS = 60 * MINUTE;
export const REFRESH_TOKEN_LIFETIME_MS = 60 * DAY;

/** Lifetime of an authorization code, which is not specified. RFC 6749 recommends at most ten minutes. */
export const CODE_LIFETIME_MS = 10 * MINUTE;

/**
 * Milliseconds for which the service replays the stored response of an idempotency key (specification, "Other limits").
 */
export const REPLAY_WINDOW_MS = 24 * HOUR;

/** Default and maximum `per_page` of resource lists (specification, "Pagination"). */
export const PAGE_DEFAULT = 25;
export const PAGE_CAP = 100;

/**
 * Default and maximum `per_page` of reference tables; default of the apps tables, which have no maximum (specification,
 * "Pagination").
 */
export const REFERENCE_PAGE = 500;
export const APPS_PAGE = 250;

/**
 * Maximum bytes of an upload by kind (specification, "Other limits"). The specified 50 MB and 1 GB are assumed to mean
 * MiB and GiB.
 */
export const MAX_UPLOAD_BYTES: Readonly<Record<string, number>> = { poi_submission: 50 * 2 ** 20, cohort: 2 ** 30 };

/** Milliseconds for which the service keeps an unclaimed upload (specification, "Other limits"). */
export const UNCLAIMED_CLEANUP_MS = 24 * HOUR;

/** Minimum numbers of devices (specification, "Other limits"). */
export const MIN_DEVICES_TO_ACTIVATE = 500;
export const MIN_DEVICES_TO_ACTIVATE_LOOKALIKE = 1_000;
export const MIN_SEED_DEVICES = 1_000;

/** Bounds of `config.target_size` (specification, "Rules known for creates", rule 5). */
export const TARGET_SIZE = { min: 1, max: 4_000_000 } as const;

/** Days for which the service keeps mapping keys after the latest dataset end date (specification, "Other limits"). */
export const RETENTION_DAYS = 90;

/** Maximum age of a WebDomain dataset's start date, in days (specification, "Other limits"). */
export const LOOKBACK_DAYS = 45;

/** First month with a usage report (specification, "Other limits"). */
export const FIRST_USAGE_MONTH = '2020-01';
