import { ConfigurationError } from '../errors/audience-error.ts';
import { PAGE_NUMBERS, type ServiceContract } from '../spec/contract.ts';
import type { RateLimits } from '../spec/limits.ts';
import type { Optional } from '../spec/wire-values.ts';
import { checkBaseUrl } from '../util/base-url.ts';
import { messageOf } from '../util/callbacks.ts';
import { checkHeaders, checkSendable, lowerCased } from '../util/input-checks.ts';
import { createLogger, isLogger, LOG_LEVELS, type Logger, type LogLevel } from '../util/log.ts';
import {
  anyOption,
  booleanOption,
  choice,
  functionOption,
  nestedOptions,
  nonNegative,
  type OptionFields,
  optionChecker,
  optionOf,
  stringOption,
} from '../util/options.ts';
import { mergeRateLimits } from '../util/rate-limits.ts';
import { type Redactor, secretHeaders } from '../util/redact.ts';
import type { Backoff } from '../util/retry.ts';
import { isHookSet } from '../util/run-hooks.ts';
import { isServerRuntime } from '../util/runtime.ts';
import { VERSION } from '../util/version.ts';
import type { Credentials, TokenInput, TokenSource } from './auth/token-source.ts';
import { contractOption, headerNameOption, pagingOf, timeZoneOption, viaOption } from './contract-option.ts';
import { debugLog } from './http/call-observer.ts';
import { DEFAULTS, type Settings } from './http/request-options.ts';
import { type Fetch, type FetchOptions, fetchOf, OWN_FETCH_OPTIONS } from './http/send.ts';
import { mergeOverrides, type OperationOverrides, resolveOperations } from './operation-overrides.ts';
import type { Hooks } from './polling/wait-events.ts';
import type { RateLimiter } from './rate-limit/permits.ts';

/** Options that {@link AudienceClient.withOptions} can change. Durations are in milliseconds. */
export interface TunableOptions extends Hooks {
  /** Timeout of one attempt, from sending until the entire body has arrived. @default 30000 ms */
  readonly timeout?: number | undefined;
  /** Maximum number of retries after transient errors. @default 4 retries */
  readonly maxRetries?: number | undefined;
  /**
   * Delays between attempts, in milliseconds, if a response has no `Retry-After`. The nth delay is random between `min`
   * and `min · 2^n`, at most `max`.
   *
   * @default { min: 500, max: 30000 } ms
   */
  readonly backoff?: Optional<Backoff> | undefined;
  /** The longest `Retry-After` to honor. If the service asks for more, the call fails immediately. @default 120000 ms */
  readonly maxRetryWait?: number | undefined;
  /**
   * Overrides of operations, for a service that differs from the assumptions of this package. An override is a method
   * and path, such as `'GET /path/{id}'`, or an object. `withOptions` merges overrides field by field.
   */
  readonly operations?: OperationOverrides | undefined;
  /**
   * How to handle fields of a 2xx response that differ from the documentation: `lenient` logs them, `strict` throws a
   * `ResponseError`.
   *
   * @default 'lenient'
   */
  readonly validation?: 'lenient' | 'strict' | undefined;
  /** Time zone of the service's `Y-m-d H:i:s` timestamps. The specification does not define it. @default 'UTC' */
  readonly serverTimeZone?: string | undefined;
  /** Name of the response header with the request id. The specification does not define it. @default 'x-request-id' */
  readonly requestIdHeader?: string | undefined;
  /**
   * Headers to add to every request to the service, except `Authorization`, `Accept`, `Content-Type` and
   * `Idempotency-Key`.
   */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Logger that receives the log lines. @default console */
  readonly logger?: Logger | undefined;
  /** Minimum severity of the lines to log. @default the environment variable AUDIENCE_LOG (not in Deno), or 'warn' */
  readonly logLevel?: LogLevel | undefined;
  /**
   * Function that sends requests instead of the global `fetch`. If it rejects, the request counts as not sent only if
   * the error names the address of the service.
   */
  readonly fetch?: Fetch | undefined;
  /** Additional options for `fetch`, such as a `dispatcher`. */
  readonly fetchOptions?: FetchOptions | undefined;
  /**
   * Maximum size of a response, in bytes after decompression. A larger 2xx response throws a `ResponseError` with the
   * code `response-too-large`. Does not apply to downloads.
   *
   * @default 16777216 bytes (16 MiB)
   */
  readonly maxResponseBytes?: number | undefined;
  /**
   * Additional hooks, such as `openTelemetry()` of `audience-activation/otel`. The client calls them before the other
   * hooks.
   */
  readonly telemetry?: Hooks | undefined;
}

/** Options of a client. Durations are in milliseconds. */
export interface ClientOptions extends TunableOptions {
  /**
   * Differences between your service and the assumptions of this package, for example from a contract file. Other
   * options take precedence over the contract. Imported JSON needs `as ServiceContract`.
   */
  readonly contract?: ServiceContract | undefined;
  /** URL of the service, with or without a path prefix. @default the environment variable AUDIENCE_BASE_URL */
  readonly baseUrl?: string | undefined;
  /** Allows `http:` URLs other than loopback. Others on the network can then read the token. @default false */
  readonly allowInsecure?: boolean | undefined;
  /**
   * The bearer token, or its source.
   * @default the environment variable AUDIENCE_TOKEN, unless AUDIENCE_BASE_URL and `baseUrl` have different origins
   */
  readonly token?: TokenInput | undefined;
  /** Email and password, instead of `token`. Equivalent to `token: loginToken(credentials)`. */
  readonly credentials?: Credentials | undefined;
  /** Token of scope `mcp`, or its source. The client sends it only to the MCP endpoint. */
  readonly mcpToken?: string | TokenSource | undefined;
  /**
   * Rate limits of the service, by bucket. Buckets that you do not set keep their defaults. With `false`, the client
   * limits only its polls, and pauses requests only after a 429.
   *
   * @default per minute: 120 reads, 30 writes and 120 MCP requests per token; 180 logins and 10 other token requests
   * per IP address
   */
  readonly rateLimits?: Optional<RateLimits> | false | undefined;
  /** Replaces the in-process limiter, for example with a limiter that several processes share. */
  readonly limiter?: RateLimiter | undefined;
  /** How waits poll. */
  readonly waits?: WaitsOptions | undefined;
  /** Your application. In Node, Bun and Deno, the client adds it to the `User-Agent` header. */
  readonly appInfo?: AppInfo | undefined;
}

/** An application that uses this package. */
export interface AppInfo {
  /** Name without spaces, such as `my-app`. */
  readonly name: string;
  /** Version, which follows the name: `my-app/1.2.3`. */
  readonly version?: string | undefined;
  /** URL of a page about the application. `User-Agent` contains it in parentheses. */
  readonly url?: string | undefined;
}

/** How waits poll. */
export interface WaitsOptions {
  /**
   * `list` reads pages of the list, if the kind of job has a list. `get` reads each job by its id.
   *
   * @default the choice of the contract; without it, the choice that takes fewer requests
   */
  readonly via?: 'list' | 'get' | undefined;
}

const isLimiter = (value: unknown): boolean =>
  typeof Object(value).acquire === 'function' && typeof Object(value).pause === 'function';

const HOOKS: readonly (keyof Hooks)[] = [
  'onRequest',
  'onResponse',
  'onRetry',
  'onWaiting',
  'shouldRetry',
  'onEnd',
  'onWait',
  'onBuildBudget',
  'around',
];

const TUNABLE_OPTIONS: OptionFields<TunableOptions> = {
  timeout: nonNegative,
  maxRetries: nonNegative,
  backoff: nestedOptions<Optional<Backoff>>({ min: nonNegative, max: nonNegative }),
  maxRetryWait: nonNegative,
  operations: anyOption,
  validation: choice('lenient', 'strict'),
  serverTimeZone: timeZoneOption,
  requestIdHeader: headerNameOption,
  headers: anyOption,
  logger: optionOf(isLogger, 'must have the methods error, warn, info and debug'),
  logLevel: choice(...LOG_LEVELS),
  fetch: functionOption,
  fetchOptions: optionOf(
    (value) => Object.keys(Object(value)).every((name) => !OWN_FETCH_OPTIONS.includes(name)),
    `must not set ${OWN_FETCH_OPTIONS.join(', ')}`,
  ),
  maxResponseBytes: nonNegative,
  onRequest: functionOption,
  onResponse: functionOption,
  onRetry: functionOption,
  onWaiting: functionOption,
  shouldRetry: functionOption,
  onEnd: functionOption,
  onWait: functionOption,
  onBuildBudget: functionOption,
  around: functionOption,
  telemetry: optionOf(
    (value) => isHookSet(value, HOOKS),
    'must be `openTelemetry()`, or another object whose properties are hook functions',
  ),
};

/** Options that `withOptions` cannot change. */
const FIXED_OPTIONS: OptionFields<Omit<ClientOptions, keyof TunableOptions>> = {
  contract: contractOption,
  baseUrl: anyOption,
  allowInsecure: booleanOption,
  token: anyOption,
  credentials: anyOption,
  mcpToken: anyOption,
  rateLimits: anyOption,
  limiter: optionOf(isLimiter, 'must have acquire and pause, like `memoryLimiter()`'),
  waits: nestedOptions<WaitsOptions>({ via: viaOption }),
  appInfo: nestedOptions<AppInfo>({ name: stringOption, version: stringOption, url: stringOption }),
};

export const CLIENT_OPTIONS: OptionFields<ClientOptions> = { ...TUNABLE_OPTIONS, ...FIXED_OPTIONS };

export const checkClientOptions = optionChecker<ClientOptions>('the client', CLIENT_OPTIONS);

export function checkTunableOptions(options: TunableOptions): void {
  checkClientOptions(options);
  const fixed = Object.keys(options).find((name) => name in FIXED_OPTIONS);
  if (fixed === undefined) return;
  throw new ConfigurationError(`\`withOptions\` cannot change \`${fixed}\`.`, {
    advice: 'Create another client.',
  });
}

/**
 * Fills in the defaults of options. Also checks the options that {@link checkClientOptions} does not check, such as the
 * URL and the headers. `redactor` contains the secrets of the client.
 *
 * @throws {ConfigurationError} for an invalid option.
 */
export function resolveOptions(options: ClientOptions, redactor: Redactor): Settings {
  const { contract = {} } = options;
  const withHeaders = redactor.with(secretHeaders(options.headers));
  const logLevel = options.logLevel ?? environmentLevel() ?? 'warn';
  const logger = createLogger(options.logger ?? console, logLevel, withHeaders);
  const sets: readonly Hooks[] = [options.telemetry ?? {}, options, logLevel === 'debug' ? debugLog(logger) : {}];
  return {
    baseUrl: checkBaseUrl(options.baseUrl, options.allowInsecure ?? false),
    timeout: options.timeout ?? DEFAULTS.timeout,
    maxRetries: options.maxRetries ?? DEFAULTS.maxRetries,
    maxRetryWait: options.maxRetryWait ?? DEFAULTS.maxRetryWait,
    backoff: {
      min: options.backoff?.min ?? DEFAULTS.backoff.min,
      max: options.backoff?.max ?? DEFAULTS.backoff.max,
    },
    rateLimits: mergeRateLimits(options.rateLimits || {}),
    operations: resolveOperations(mergeOverrides(contract.operations, options.operations)),
    validation: options.validation ?? 'lenient',
    paging: pagingOf(contract) ?? PAGE_NUMBERS,
    statuses: contract.statuses,
    results: contract.results ?? {},
    serverTimeZone: options.serverTimeZone ?? contract.serverTimeZone ?? 'UTC',
    requestIdHeader: options.requestIdHeader ?? contract.requestIdHeader ?? 'x-request-id',
    headers: checkClientHeaders({ ...userAgent(options.appInfo), ...options.headers }),
    logger,
    redactor: withHeaders,
    hooks: sets.filter((hooks) => HOOKS.some((name) => hooks[name])),
    fetch: fetchOf(options.fetch),
    fetchOptions: options.fetchOptions ?? {},
    maxResponseBytes: options.maxResponseBytes ?? DEFAULTS.maxResponseBytes,
  };
}

/** Checks the `headers` option, and returns the headers with lower-case names. */
function checkClientHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  checkHeaders(headers);
  try {
    checkSendable(headers);
  } catch (error) {
    throw new ConfigurationError(`\`headers\`: ${messageOf(error)}`);
  }
  return lowerCased(headers);
}

/** Returns the log level of the environment, or `undefined` if AUDIENCE_LOG is not set or has another value. */
function environmentLevel(): LogLevel | undefined {
  // Deno asks the user for permission to read each variable.
  const level = 'Deno' in globalThis ? undefined : globalThis.process?.env?.AUDIENCE_LOG;
  return LOG_LEVELS.find((candidate) => candidate === level);
}

/**
 * Returns a `User-Agent` header with the version of Node. Returns no header in browsers, where the service would have
 * to allow it (CORS).
 */
function userAgent({ name = '', version, url }: Partial<AppInfo> = {}): Record<string, string> {
  const node = isServerRuntime ? globalThis.process?.versions?.node : undefined;
  const app = [version === undefined ? name : `${name}/${version}`, url === undefined ? '' : `(${url})`];
  return node === undefined
    ? {}
    : { 'user-agent': [`audience-activation/${VERSION} node/${node}`, ...app].join(' ').trim() };
}
