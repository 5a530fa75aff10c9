import type { Context, MiddlewareHandler } from 'hono';
import type { Service } from '../service.ts';
import { SlidingWindow } from '../sliding-window.ts';
import type { AccountRecord, AddressBucket, Token, TokenBucket } from '../state.ts';
import { findToken } from '../tokens.ts';
import { failure, tooManyRequests, unauthenticated } from './responses.ts';

/** Context of a request: bindings of its transport, and variables that middleware sets for routes and the log. */
export interface Env {
  Bindings: {
    /** Address of the client. */
    readonly address: string;
    /** Set for requests over HTTP: the names that `Host` may hold besides addresses and localhost. */
    readonly overHttp?: { readonly names: readonly string[] };
    /** Origin of the storage to use. @default `storageUrl` of the state */
    readonly storageUrl?: string;
    /** Token of a request that an MCP tool makes. */
    readonly token?: Token;
  };
  Variables: {
    account: AccountRecord;
    token: Token;
    /** `true` if the response stored under an idempotency key was replayed. */
    replayed: boolean;
    /** Description of the fault rule that applies. */
    fault: string;
    /** Waits while a fault rule keeps the create request in flight. */
    holdInFlight?: () => Promise<void>;
  };
}

type Middleware = MiddlewareHandler<Env>;

/** Returns a 406 if the request lacks `Accept: application/json`. */
export function checkAccept(context: Context<Env>): Response | undefined {
  if (/(?:^|,)\s*application\/json\s*(?:[;,]|$)/i.test(context.req.header('accept') ?? '')) return undefined;
  return failure(406, 'Not acceptable: send Accept: application/json.');
}

/** Returns the live token of the `Authorization` header. */
export function bearerToken(service: Service, context: Context<Env>): Token | undefined {
  const value = /^bearer (\S+)$/i.exec(context.req.header('authorization') ?? '')?.[1];
  return value === undefined ? undefined : findToken(service, value);
}

export function setToken(context: Context<Env>, token: Token): void {
  context.set('token', token);
  context.set('account', token.account);
}

/** Returns a 429 if a bucket of the token is exhausted; otherwise counts the request (specification, "Rate limits"). */
export function checkRate({ clock, limits }: Service, token: Token, bucket: TokenBucket): Response | undefined {
  const window = token.buckets.get(bucket) ?? new SlidingWindow(limits[bucket]);
  token.buckets.set(bucket, window);
  return rateResponse(window.consume(clock.now()));
}

/**
 * Middleware of general endpoints: responds with 406, 401 or 429, or continues. Tokens of scope `mcp` are valid on the
 * MCP endpoint only.
 */
export const requireToken =
  (service: Service, bucket: TokenBucket): Middleware =>
  async (context, next) => {
    const unacceptable = checkAccept(context);
    if (unacceptable) return unacceptable;
    const sent = bearerToken(service, context);
    const token = context.env.token ?? (sent?.kind === 'login' || sent?.kind === 'api' ? sent : undefined);
    if (!token) return unauthenticated();
    setToken(context, token);
    return checkRate(service, token, bucket) ?? next();
  };

/**
 * Middleware of the credential exchange: responds with 406, or with 429 if the client's IP address has exceeded the
 * limit (specification, "Rate limits").
 */
export const limitByAddress =
  ({ state, clock, limits }: Service, bucket: AddressBucket): Middleware =>
  async (context, next) => {
    const unacceptable = checkAccept(context);
    if (unacceptable) return unacceptable;
    const now = clock.now();
    const key = `${bucket} ${context.env.address}`;
    let window = state.addressBuckets.get(key);
    if (!window) {
      for (const [old, other] of state.addressBuckets) if (other.count(now) === 0) state.addressBuckets.delete(old);
      window = new SlidingWindow(limits[bucket]);
      state.addressBuckets.set(key, window);
    }
    return rateResponse(window.consume(now)) ?? next();
  };

/** Returns the origin of the storage that belongs to the address a request was sent to. */
export const storageUrlOf = ({ state }: Service, { env }: Context<Env>): string => env.storageUrl ?? state.storageUrl;

const rateResponse = (wait: number): Response | undefined =>
  wait > 0 ? tooManyRequests('Too many requests.', wait) : undefined;
