import type { Credentials, TokenInput, TokenSource } from '../auth/token-source.ts';
import { ConfigurationError, check } from '../errors/audience-error.ts';
import { DEFAULTS, type Hooks, type Settings } from '../http/request-options.ts';
import type { RetryBudgetOptions } from '../http/retry-budget.ts';
import { type Fetch, type FetchOptions, platformFetch } from '../http/send.ts';
import { checkLimits } from '../rate-limit/check-limits.ts';
import type { RateLimiter } from '../rate-limit/rate-limiter.ts';
import { RATE_LIMITS, type RateLimits } from '../spec/limits.ts';
import { checkBaseUrl } from '../util/base-url.ts';
import { checkHeaders, checkSendable, lowerCased } from '../util/input-checks.ts';
import type { Optional } from '../util/input-types.ts';
import { createLogger, isLogLevel, type Logger, type LogLevel } from '../util/log.ts';
import { Redactor, secretHeaders } from '../util/redact.ts';
import type { Backoff } from '../util/retry.ts';
import { isTimeZone } from '../util/timestamp.ts';
import { VERSION } from '../version.ts';
import { type OperationOverrides, resolveOperations } from './operation-overrides.ts';

/** Options that {@link AudienceClient.withOptions} may change. Durations are milliseconds. */
export interface TunableOptions extends Hooks {
  /** One attempt, from sending until the whole body has arrived. @default 30000 */
  readonly timeout?: number | undefined;
  /** Attempts after the first. @default 4 */
  readonly maxRetries?: number | undefined;
  /** Waits where the service names none: the nth is random in [min, min(max, min·2^n)]. @default { min: 500, max: 30000 } */
  readonly backoff?: Optional<Backoff> | undefined;
  /** A longer `Retry-After` is not sat out: the call fails at once. @default 120000 */
  readonly maxRetryWait?: number | undefined;
  /**
   * Adapts operations to a service that differs from what is assumed: `'GET /path/{id}'` or more. In `withOptions`,
   * the fields of an override replace those that the client has for the same operation; all others stay.
   */
  readonly operations?: OperationOverrides | undefined;
  /** Whether odd fields in a success are logged (`lenient`) or thrown as `ResponseError`. @default 'lenient' */
  readonly validation?: 'lenient' | 'strict' | undefined;
  /** Time zone of the service's `Y-m-d H:i:s` (assumed). @default 'UTC' */
  readonly serverTimeZone?: string | undefined;
  /** Header that carries the request id (assumed). @default 'x-request-id' */
  readonly requestIdHeader?: string | undefined;
  /** Headers of every request; not `Authorization`, `Accept`, `Content-Type` or `Idempotency-Key`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Where log lines go. @default console */
  readonly logger?: Logger | undefined;
  /** @default 'warn' */
  readonly logLevel?: LogLevel | undefined;
  /** Sends requests in place of the global `fetch`. */
  readonly fetch?: Fetch | undefined;
  /** More options for `fetch`, such as a `dispatcher`. */
  readonly fetchOptions?: FetchOptions | undefined;
  /**
   * The largest response that is read, in bytes after decompression. A larger success is a `ResponseError` with code
   * `response-too-large`. Files of uploads and downloads are not counted.
   *
   * @default 67108864
   */
  readonly maxResponseBytes?: number | undefined;
}

/** Options of a client. Durations are milliseconds. */
export interface ClientOptions extends TunableOptions {
  /** Address of the service; a path prefix is kept. @default AUDIENCE_BASE_URL of the environment */
  readonly baseUrl?: string | undefined;
  /** Allows `http:` beyond loopback: the token travels readable. @default false */
  readonly allowInsecure?: boolean | undefined;
  /** The bearer token, or where it comes from. @default AUDIENCE_TOKEN of the environment */
  readonly token?: TokenInput | undefined;
  /** Instead of `token`: the same as `loginToken(credentials)`. */
  readonly credentials?: Credentials | undefined;
  /** Token for `client.mcp` only. */
  readonly mcpToken?: string | TokenSource | undefined;
  /** The service's limits; a bucket given replaces that bucket only, `false` switches them off. */
  readonly rateLimits?: Optional<RateLimits> | false | undefined;
  /** Replaces the limiter of this process, for instance by one that several share. */
  readonly limiter?: RateLimiter | undefined;
  /**
   * Limits retries of connection failures, timeouts and 5xx responses while the service fails; `false` sets no limit.
   * Waits, uploads and downloads are not counted.
   *
   * @default { capacity: 500, cost: 5 }
   */
  readonly retryBudget?: RetryBudgetOptions | false | undefined;
  /** How waits look at jobs. */
  readonly waits?: WaitsOptions | undefined;
}

/** How waits look at jobs. */
export interface WaitsOptions {
  /**
   * `list`: always by pages of a list, where there is one; `get`: each job by itself.
   *
   * @default whatever takes fewer reads
   */
  readonly via?: 'list' | 'get' | undefined;
}

/** Options with all defaults, ready for a transport. */
export interface ResolvedOptions {
  readonly settings: Settings;
  readonly redactor: Redactor;
  readonly limits: RateLimits | false;
}

/** The environment, where there is one. */
export function environment(name: string): string | undefined {
  const value = globalThis.process?.env?.[name];
  return value === '' ? undefined : value;
}

function checkTimeZone(name: string): string {
  if (isTimeZone(name)) return name;
  throw new ConfigurationError('`serverTimeZone` is no time zone: use a name such as "UTC" or "Europe/Berlin".');
}

function atLeast(name: string, value: number, least: number): number {
  if (typeof value === 'number' && value >= least) return value;
  throw new ConfigurationError(`\`${name}\` is ${value}: give a number of ${least} or more.`);
}

const VALIDATIONS: readonly unknown[] = ['lenient', 'strict'];
const WAITS_VIA: readonly unknown[] = ['list', 'get', undefined];
const OWN_FETCH_OPTIONS = ['body', 'headers', 'method', 'redirect', 'signal', 'window'];

/** What TypeScript would refuse, for JavaScript callers: each names the option and the fix. */
function checkChoices({
  logLevel,
  logger,
  validation,
  fetch,
  fetchOptions,
  requestIdHeader,
  waits,
  limiter,
}: ClientOptions): void {
  check(logLevel === undefined || isLogLevel(logLevel), '`logLevel` must be off, error, warn, info or debug.');
  check(validation === undefined || VALIDATIONS.includes(validation), '`validation` must be lenient or strict.');
  const isWaits = typeof waits === 'object' && waits !== null && Object.keys(waits).every((name) => name === 'via');
  check(waits === undefined || isWaits, '`waits` must be an object such as `{ via: "get" }`.');
  check(WAITS_VIA.includes(waits?.via), '`waits.via` must be list or get.');
  check(fetch === undefined || typeof fetch === 'function', '`fetch` must be a function.');
  const isLimiter = typeof limiter?.acquire === 'function' && typeof limiter.pause === 'function';
  check(limiter === undefined || isLimiter, '`limiter` needs acquire and pause, as `memoryLimiter()` has them.');
  const levels = ['error', 'warn', 'info', 'debug'] as const;
  check(
    !logger || levels.every((level) => typeof logger[level] === 'function'),
    '`logger` needs error, warn, info and debug.',
  );
  const taken = Object.keys(fetchOptions ?? {}).find((name) => OWN_FETCH_OPTIONS.includes(name));
  check(taken === undefined, `\`fetchOptions.${taken}\` is set by the client itself.`);
  check(/^[\w!#$%&'*+.^`|~-]+$/.test(requestIdHeader ?? 'x'), '`requestIdHeader` must be a header name.');
}

/**
 * Checks options and fills in defaults.
 *
 * @throws {ConfigurationError} naming the option and the fix, before any request.
 */
export function resolveOptions(options: ClientOptions, base = new Redactor()): ResolvedOptions {
  checkChoices(options);
  const redactor = base.with(secretHeaders(options.headers));
  const limits = options.rateLimits === false ? false : checkLimits(options.rateLimits ?? {});
  const min = atLeast('backoff.min', options.backoff?.min ?? DEFAULTS.backoff.min, 0);
  const { onRequest, onResponse, onRetry } = options;
  const settings: Settings = {
    baseUrl: checkBaseUrl(options.baseUrl, options.allowInsecure ?? false),
    timeout: atLeast('timeout', options.timeout ?? DEFAULTS.timeout, 0),
    maxRetries: atLeast('maxRetries', options.maxRetries ?? DEFAULTS.maxRetries, 0),
    maxRetryWait: atLeast('maxRetryWait', options.maxRetryWait ?? DEFAULTS.maxRetryWait, 0),
    backoff: { min, max: atLeast('backoff.max', options.backoff?.max ?? DEFAULTS.backoff.max, 0) },
    rateLimits: limits === false ? RATE_LIMITS : limits,
    operation: resolveOperations(options.operations),
    validation: options.validation ?? 'lenient',
    serverTimeZone: checkTimeZone(options.serverTimeZone ?? 'UTC'),
    requestIdHeader: options.requestIdHeader ?? 'x-request-id',
    headers: { ...userAgent(), ...ownHeaders(options.headers) },
    logger: createLogger(options.logger ?? console, options.logLevel ?? 'warn', redactor),
    redactor,
    observed: onResponse !== undefined || options.logLevel === 'debug',
    fetch: options.fetch ?? platformFetch,
    fetchOptions: options.fetchOptions ?? {},
    maxResponseBytes: atLeast('maxResponseBytes', options.maxResponseBytes ?? DEFAULTS.maxResponseBytes, 0),
    ...(onRequest && { onRequest }),
    ...(onResponse && { onResponse }),
    ...(onRetry && { onRetry }),
  };
  return { settings, redactor: base, limits };
}

/** The user's headers, for every call. */
function ownHeaders(headers: Readonly<Record<string, string>> = {}): Record<string, string> {
  checkHeaders(headers);
  try {
    checkSendable(headers);
  } catch (error) {
    throw new ConfigurationError(`\`headers\`: ${error instanceof Error ? error.message : error}`);
  }
  return lowerCased(headers);
}

/** Names the package to the service, in Node alone: in browsers it would cost a preflight. */
function userAgent(): Record<string, string> {
  const node = globalThis.process?.versions?.node;
  return node === undefined ? {} : { 'user-agent': `audience-activation/${VERSION} node/${node}` };
}
