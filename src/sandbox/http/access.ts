import type { Context, MiddlewareHandler } from 'hono';
import type { Paging } from '../../spec/contract.ts';
import type { Bucket } from '../../spec/limits.ts';
import type { BuildBudget } from '../../spec/usage-report.ts';
import { formatExpiry } from '../clock.ts';
import type { Service } from '../service.ts';
import { SlidingWindow } from '../sliding-window.ts';
import type { AccountRecord, AddressBucket, FileStats, LimitUse, Token, TokenBucket } from '../state.ts';
import { findToken } from '../tokens.ts';
import { failure, tooManyRequests, unauthenticated } from './responses.ts';

/** Context of a request: bindings of its transport, and variables that middleware sets for routes and the log. */
export interface Env {
  Bindings: {
    readonly address: string;
    /**
     * Set for requests over HTTP: the origin of the server, and the names that `Host` may contain besides IP addresses
     * and localhost.
     */
    readonly overHttp?: { readonly origin?: string; readonly names: readonly string[] };
    /** Origin of the storage to use. @default `storageUrl` of the state */
    readonly storageUrl?: string;
    /** Token of this run, which requests to the console require. If not set, they require no token. */
    readonly consoleToken?: string;
    /** Token of a request that an MCP tool makes. */
    readonly token?: Token;
  };
  Variables: {
    account: AccountRecord;
    token: Token;
    /** `true` if the service replayed a stored response. */
    replayed: boolean;
    /** Description of the fault rule that applies. */
    fault: string;
    /** Why the service refuses the request, for the log. */
    why: string;
    /** Id of the resource that the request has created. */
    createdId: number;
    /** Time from which the service would accept the request, in milliseconds since 1970. */
    freeAt: number;
    bucket: LimitUse;
    budget: BuildBudget;
    paging: Paging;
    /** Bucket that counts the request, if the contract changes it. */
    bucketName: Bucket | undefined;
    /** Cursor of the next page; `null` after the last page. */
    nextCursor: string | null;
    /** Path parameters that the contract moves to the query, to the body or to a part of a path segment. */
    params: Readonly<Record<string, string>>;
    /** The body, once a route has read it. */
    body: Uint8Array<ArrayBuffer>;
    file: FileStats;
    /** Waits while a fault rule keeps the create request in flight. */
    holdInFlight?: () => Promise<void>;
  };
}

type Middleware = MiddlewareHandler<Env>;

/** Maximum number of characters of a reason in the log. */
export const MAX_WHY = 500;

/** Returns an error response, and logs the reason. */
export function refuse(context: Context<Env>, why: string, response: Response): Response {
  context.set('why', why.slice(0, MAX_WHY));
  return response;
}

/** Returns a 406 if the request lacks `Accept: application/json`. */
export function checkAccept(context: Context<Env>): Response | undefined {
  const accept = context.req.header('accept');
  if (/(?:^|,)\s*application\/json\s*(?:[;,]|$)/i.test(accept ?? '')) return undefined;
  const why =
    accept === undefined
      ? 'The request has no Accept header'
      : `The Accept header is "${accept}", without application/json`;
  return refuse(context, why, failure(406, 'Not acceptable: send Accept: application/json.'));
}

const bearerValue = (context: Context<Env>): string | undefined =>
  /^bearer (\S+)$/i.exec(context.req.header('authorization') ?? '')?.[1];

/** Returns the valid token of the `Authorization` header. */
export function bearerToken(service: Service, context: Context<Env>): Token | undefined {
  const value = bearerValue(context);
  return value === undefined ? undefined : findToken(service, value);
}

/** Returns a 401 for a request without a valid token. */
export function refuseToken(service: Service, context: Context<Env>): Response {
  return refuse(context, tokenProblem(service, context), unauthenticated());
}

function tokenProblem({ state, clock }: Service, context: Context<Env>): string {
  if (context.req.header('authorization') === undefined) return 'The request has no Authorization header';
  const value = bearerValue(context);
  if (value === undefined) return 'The Authorization header must be a bearer token';
  const token = state.tokens.get(value);
  if (!token) return 'The sandbox does not know the token: it is from elsewhere, was revoked, or has expired';
  if (token.expiresAt <= clock.now()) return `The token ${token.id} expired at ${formatExpiry(token.expiresAt)}`;
  return `The token ${token.id} has the scope mcp, which is valid only on the MCP endpoint`;
}

export function setToken(context: Context<Env>, token: Token): void {
  context.set('token', token);
  context.set('account', token.account);
}

/** Counts a request in a bucket. Returns a 429 if the bucket is exhausted. */
function consume(
  { clock }: Service,
  context: Context<Env>,
  name: LimitUse['name'],
  window: SlidingWindow,
  owner: string,
): Response | undefined {
  const now = clock.now();
  const wait = window.consume(now);
  const { limit } = window;
  const used = window.count(now);
  context.set('bucket', { name, used, limit });
  if (wait === 0) return undefined;
  context.set('freeAt', now + wait);
  const why = `The bucket ${name} of ${owner} contains ${used} of ${limit} requests`;
  return refuse(context, why, tooManyRequests('Too many requests.', wait));
}

/** Returns a 429 if a bucket of the token is exhausted; otherwise counts the request (specification, "Rate limits"). */
export function checkRate(
  service: Service,
  context: Context<Env>,
  token: Token,
  usual: TokenBucket,
): Response | undefined {
  const named = context.get('bucketName');
  const bucket = named === 'read' || named === 'write' || named === 'mcp' ? named : usual;
  const window = token.buckets.get(bucket) ?? new SlidingWindow(service.limits[bucket]);
  token.buckets.set(bucket, window);
  return consume(service, context, bucket, window, `token ${token.id}`);
}

/**
 * Middleware of general endpoints: responds with 406, 401 or 429, or continues. Tokens of scope `mcp` are valid only at
 * the MCP endpoint.
 */
export const requireToken =
  (service: Service, bucket: TokenBucket): Middleware =>
  async (context, next) => {
    const unacceptable = checkAccept(context);
    if (unacceptable) return unacceptable;
    const sent = bearerToken(service, context);
    const token = context.env.token ?? (sent?.kind === 'login' || sent?.kind === 'api' ? sent : undefined);
    if (!token) return refuseToken(service, context);
    setToken(context, token);
    return checkRate(service, context, token, bucket) ?? next();
  };

/**
 * Middleware of the credential exchange: responds with 406, or with 429 if the client's IP address has exceeded the
 * limit (specification, "Rate limits").
 */
export const limitByAddress =
  (service: Service, bucket: AddressBucket): Middleware =>
  async (context, next) => {
    return checkAccept(context) ?? checkAddress(service, context, bucket) ?? next();
  };

/** Returns a 429 if a bucket of the client's IP address is exhausted; otherwise counts the request. */
function checkAddress(service: Service, context: Context<Env>, bucket: AddressBucket): Response | undefined {
  const { state, clock, limits } = service;
  const now = clock.now();
  const key = `${bucket} ${context.env.address}`;
  let window = state.addressBuckets.get(key);
  if (!window) {
    for (const [old, other] of state.addressBuckets) if (other.count(now) === 0) state.addressBuckets.delete(old);
    window = new SlidingWindow(limits[bucket]);
    state.addressBuckets.set(key, window);
  }
  return consume(service, context, bucket, window, context.env.address);
}

/** Returns the origin of the storage for the address of a request. */
export const storageUrlOf = ({ state }: Service, { env }: Context<Env>): string => env.storageUrl ?? state.storageUrl;
