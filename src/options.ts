import { ConfigurationError } from './errors/base.ts';
import { type Bucket, RATE_LIMITS, type RateLimit, type RateLimits } from './limits.ts';
import {
  isOperationName,
  type OperationName,
  type OperationOverride,
  operations,
  type ResolvedOperation,
} from './operations.ts';
import { isTimeZone } from './timestamp.ts';
import type { RateLimiter } from './transport/limiter.ts';
import { createLogger, isLogLevel, type Logger, type LogLevel } from './transport/log.ts';
import { createRedactor, type Redactor } from './transport/redact.ts';
import { checkHeaders } from './transport/request.ts';
import type { Backoff } from './transport/retry.ts';
import type { Fetch, FetchOptions } from './transport/send.ts';
import type { Hooks, Settings } from './transport/settings.ts';
import type { Credentials, TokenInput, TokenSource } from './transport/tokens.ts';
import { VERSION } from './version.ts';

/** Options that {@link AudienceClient.withOptions} may change. Durations are milliseconds. */
export interface TunableOptions extends Hooks {
  /** One attempt, from sending until the whole body has arrived. @default 30000 */
  readonly timeout?: number;
  /** Attempts after the first. @default 4 */
  readonly maxRetries?: number;
  /** Waits where the service names none: the nth is random in [min, min(max, min·2^n)]. @default { min: 500, max: 30000 } */
  readonly backoff?: Partial<Backoff>;
  /** A longer `Retry-After` is not sat out: the call fails at once. @default 120000 */
  readonly maxRetryWait?: number;
  /** Adapts operations to a service that differs from what is assumed: `'GET /path/{id}'` or more. */
  readonly operations?: Readonly<Partial<Record<OperationName, string | OperationOverride>>>;
  /** Whether odd fields in a success are logged (`lenient`) or thrown as `ResponseError`. @default 'lenient' */
  readonly validation?: 'lenient' | 'strict';
  /** Time zone of the service's `Y-m-d H:i:s` (assumed). @default 'UTC' */
  readonly serverTimeZone?: string;
  /** Header that carries the request id (assumed). @default 'x-request-id' */
  readonly requestIdHeader?: string;
  /** Headers of every request; not `Authorization`, `Accept`, `Content-Type` or `Idempotency-Key`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Where log lines go. @default console */
  readonly logger?: Logger;
  /** @default 'warn' */
  readonly logLevel?: LogLevel;
  /** Sends requests in place of the global `fetch`. */
  readonly fetch?: Fetch;
  /** More options for `fetch`, such as a `dispatcher`. */
  readonly fetchOptions?: FetchOptions;
}

/** Options of a client. Durations are milliseconds. */
export interface ClientOptions extends TunableOptions {
  /** Address of the service; a path prefix is kept. @default AUDIENCE_BASE_URL of the environment */
  readonly baseUrl?: string;
  /** Allows `http:` beyond loopback: the token travels readable. @default false */
  readonly allowInsecure?: boolean;
  /** The bearer token, or where it comes from. @default AUDIENCE_TOKEN of the environment */
  readonly token?: TokenInput;
  /** Instead of `token`: the same as `loginToken(credentials)`. */
  readonly credentials?: Credentials;
  /** Token for `client.mcp` only. */
  readonly mcpToken?: string | TokenSource;
  /** The service's limits; a bucket given replaces that bucket only, `false` switches them off. */
  readonly rateLimits?: Readonly<Partial<RateLimits>> | false;
  /** Replaces the limiter of this process, for instance by one that several share. */
  readonly limiter?: RateLimiter;
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

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

function checkBaseUrl(given: string | undefined, allowInsecure: boolean): string {
  const text = given ?? environment('AUDIENCE_BASE_URL');
  if (text === undefined) {
    throw new ConfigurationError(
      '`baseUrl` is missing: give it, or set AUDIENCE_BASE_URL, such as "https://api.example.com".',
    );
  }
  const url = typeof text === 'string' && URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new ConfigurationError('`baseUrl` is no http(s) address: give one such as "https://api.example.com".');
  }
  if (url.username || url.password || url.search || url.hash) {
    throw new ConfigurationError('`baseUrl` may not hold a user, a query or a fragment: give origin and path only.');
  }
  if (url.protocol === 'http:' && !LOOPBACK.test(url.hostname) && !allowInsecure) {
    throw new ConfigurationError(
      `\`baseUrl\` uses http on ${url.hostname}, where the token could be read on the way: use https, or set \`allowInsecure: true\`.`,
    );
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

function checkTimeZone(name: string): string {
  if (isTimeZone(name)) return name;
  throw new ConfigurationError('`serverTimeZone` is no time zone: use a name such as "UTC" or "Europe/Berlin".');
}

function atLeast(name: string, value: number, least: number): number {
  if (typeof value === 'number' && value >= least) return value;
  throw new ConfigurationError(`\`${name}\` is ${value}: give a number of ${least} or more.`);
}

function checkLimits(given: ClientOptions['rateLimits']): RateLimits | false {
  if (given === false) return false;
  const limits = { ...RATE_LIMITS };
  for (const [bucket, rate] of Object.entries<RateLimit | undefined>(given ?? {})) {
    if (rate === undefined) continue;
    if (!isBucket(bucket)) {
      throw new ConfigurationError(
        `\`rateLimits.${bucket}\` is no bucket: use ${Object.keys(RATE_LIMITS).join(', ')}.`,
      );
    }
    if (!Number.isInteger(rate.limit) || rate.limit < 1 || !(rate.interval > 0 && Number.isFinite(rate.interval))) {
      throw new ConfigurationError(
        `\`rateLimits.${bucket}\` needs an integer \`limit\` from 1 and an \`interval\` above 0.`,
      );
    }
    limits[bucket] = rate;
  }
  return limits;
}

function isBucket(name: string): name is Bucket {
  return Object.hasOwn(RATE_LIMITS, name);
}

function resolveOperations(overrides: TunableOptions['operations'] = {}): Settings['operation'] {
  for (const name of Object.keys(overrides)) {
    if (!isOperationName(name)) {
      throw new ConfigurationError(`\`operations\` has no operation "${name}": see the table in docs/assumptions.md.`);
    }
  }
  const known = new Map<OperationName, ResolvedOperation>();
  for (const name of Object.keys(operations)) {
    if (isOperationName(name)) known.set(name, resolveOperation(name, overrides[name]));
  }
  return (name) => known.get(name) ?? { ...operations[name], name };
}

function resolveOperation(name: OperationName, override: string | OperationOverride = {}): ResolvedOperation {
  const row = operations[name];
  if (typeof override !== 'string') return checkPath({ ...row, ...override, name });
  const match = /^(GET|POST|PUT|PATCH|DELETE) (\/\S*)$/.exec(override);
  const [, method, path] = match ?? [];
  if (!isMethod(method) || path === undefined) {
    throw new ConfigurationError(`\`operations["${name}"]\` must read like "GET /api/v2/audiences/{id}".`);
  }
  return { ...row, method, path, name };
}

function checkPath(operation: ResolvedOperation): ResolvedOperation {
  if (operation.path.startsWith('/')) return operation;
  throw new ConfigurationError(`\`operations["${operation.name}"].path\` must start with "/".`);
}

function isMethod(text: string | undefined): text is ResolvedOperation['method'] {
  return text !== undefined && ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].includes(text);
}

/** Called late, so that a `fetch` replaced after the client was created is used. */
const globalFetch: Fetch = (input, init) => globalThis.fetch(input, init);

/**
 * Checks options and fills in defaults.
 *
 * @throws {ConfigurationError} naming the option and the fix, before any request.
 */
export function resolveOptions(options: ClientOptions, redactor = createRedactor()): ResolvedOptions {
  const level = options.logLevel ?? 'warn';
  if (!isLogLevel(level)) throw new ConfigurationError('`logLevel` must be off, error, warn, info or debug.');
  checkHeaders(options.headers ?? {});
  const limits = checkLimits(options.rateLimits);
  const min = atLeast('backoff.min', options.backoff?.min ?? 500, 0);
  const { onRequest, onResponse, onRetry } = options;
  const settings: Settings = {
    baseUrl: checkBaseUrl(options.baseUrl, options.allowInsecure ?? false),
    timeout: atLeast('timeout', options.timeout ?? 30_000, 0),
    maxRetries: atLeast('maxRetries', options.maxRetries ?? 4, 0),
    maxRetryWait: atLeast('maxRetryWait', options.maxRetryWait ?? 120_000, 0),
    backoff: { min, max: atLeast('backoff.max', options.backoff?.max ?? 30_000, 0) },
    rateLimits: limits === false ? RATE_LIMITS : limits,
    operation: resolveOperations(options.operations),
    validation: options.validation ?? 'lenient',
    serverTimeZone: checkTimeZone(options.serverTimeZone ?? 'UTC'),
    requestIdHeader: options.requestIdHeader ?? 'x-request-id',
    headers: { ...userAgent(), ...options.headers },
    logger: createLogger(options.logger ?? console, level, redactor),
    fetch: options.fetch ?? globalFetch,
    fetchOptions: options.fetchOptions ?? {},
    ...(onRequest && { onRequest }),
    ...(onResponse && { onResponse }),
    ...(onRetry && { onRetry }),
  };
  return { settings, redactor, limits };
}

/** Names the package to the service, in Node alone: in browsers it would cost a preflight. */
function userAgent(): Record<string, string> {
  const node = globalThis.process?.versions?.node;
  return node === undefined ? {} : { 'user-agent': `audience-activation/${VERSION} node/${node}` };
}
