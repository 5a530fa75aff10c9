import type { Context, MiddlewareHandler } from 'hono';
import type { Service } from '../service.ts';
import { REPLAY_WINDOW } from '../service-limits.ts';
import { SlidingLog } from '../sliding-window.ts';
import type { AccountRecord, AddressBucket, Replay, Token, TokenBucket } from '../state.ts';
import { findToken } from '../tokens.ts';
import { bytesOf } from './request-body.ts';
import { refusal, tooMany, unauthenticated } from './responses.ts';

/** What gates leave for the routes behind them, and what stands in front of them. */
export interface Env {
  Bindings: {
    /** Where the request comes from. */
    readonly address: string;
    /** Given where it came over HTTP: the names that `Host` may hold beside addresses and localhost. */
    readonly overHttp?: { readonly names: readonly string[] };
    /** Origin of the storage beside it, if not the sandbox's latest. */
    readonly storageUrl?: string;
    /** Whose request it is, where the MCP endpoint sends it. */
    readonly token?: Token;
  };
  Variables: {
    account: AccountRecord;
    token: Token;
    replayed: boolean;
    fault: string;
    /** Keeps a create in flight, as a fault rule says. */
    inFlight?: () => Promise<void>;
  };
}

type Gate = MiddlewareHandler<Env>;

/** 406 without `Accept: application/json`. */
export const accept: Gate = async (context, next) => {
  if (/(?:^|,)\s*application\/json\s*(?:[;,]|$)/i.test(context.req.header('accept') ?? '')) return next();
  return refusal(406, 'Not acceptable: send Accept: application/json.');
};

/** The live token that came with a request. */
export function tokenOf(service: Service, context: Context<Env>): Token | undefined {
  const value = /^bearer (\S+)$/i.exec(context.req.header('authorization') ?? '')?.[1];
  return value === undefined ? undefined : findToken(service, value);
}

/** Who sends a request, for the routes and the log. */
export function identify(context: Context<Env>, token: Token): void {
  context.set('token', token);
  context.set('account', token.account);
}

/** 401 without a live general token; tokens of scope `mcp` are valid on the MCP endpoint only. */
export const bearer =
  (service: Service): Gate =>
  async (context, next) => {
    const sent = tokenOf(service, context);
    const general = sent?.kind === 'login' || sent?.kind === 'api' ? sent : undefined;
    const token = context.env.token ?? general;
    if (!token) return unauthenticated();
    identify(context, token);
    return next();
  };

/** Counts a request in a bucket of its token ("Rate limits"). */
export const metered =
  ({ clock, limits }: Service, bucket: TokenBucket): Gate =>
  async (context, next) => {
    const { buckets } = context.get('token');
    const log = buckets.get(bucket) ?? new SlidingLog(limits[bucket]);
    buckets.set(bucket, log);
    return refuseFor(log.take(clock.now())) ?? next();
  };

/** Counts a request in a bucket of its address ("Rate limits"). */
export const meteredByAddress =
  ({ state, clock, limits }: Service, bucket: AddressBucket): Gate =>
  async (context, next) => {
    const key = `${bucket} ${context.env.address}`;
    const known = state.addresses.get(key);
    const log = known ?? new SlidingLog(limits[bucket]);
    const now = clock.now();
    if (!known) {
      for (const [old, other] of state.addresses) if (other.count(now) === 0) state.addresses.delete(old);
      state.addresses.set(key, log);
    }
    return refuseFor(log.take(now)) ?? next();
  };

const refuseFor = (wait: number): Response | undefined => (wait > 0 ? tooMany('Too many requests.', wait) : undefined);

/**
 * Replays the stored response of an idempotency key for 24 hours; 409 for another body, or while
 * the first create is in flight. Only successes are stored, so a refused create can be mended.
 */
export const idempotent =
  ({ clock }: Service, operation: string): Gate =>
  async (context, next) => {
    const key = context.req.header('idempotency-key');
    if (!key) return next();
    const { replays } = context.get('account');
    const now = clock.now();
    // Oldest first: all keys live equally long.
    for (const [old, { expiresAt }] of replays) {
      if (expiresAt > now) break;
      replays.delete(old);
    }
    const known = replays.get(key);
    if (known) {
      const answer = replayed(known, operation, await bytesOf(context));
      context.set('replayed', answer.status < 400);
      return answer;
    }
    const replay: Replay = { operation, body: undefined, response: undefined, expiresAt: now + REPLAY_WINDOW };
    replays.set(key, replay);
    try {
      replay.body = await bytesOf(context);
      await context.get('inFlight')?.();
      await next();
      const { res } = context;
      if (res.status < 300) replay.response = { status: res.status, text: await res.clone().text() };
    } finally {
      if (!replay.response) replays.delete(key);
    }
    return undefined;
  };

function replayed(known: Replay, operation: string, body: Uint8Array): Response {
  if (!known.response) return refusal(409, 'A request with this idempotency key is still in flight.');
  if (known.operation !== operation || !sameBytes(known.body, body)) {
    return refusal(409, 'This idempotency key was used with a different body.');
  }
  return new Response(known.response.text, {
    status: known.response.status,
    headers: { 'content-type': 'application/json' },
  });
}

const sameBytes = (a: Uint8Array | undefined, b: Uint8Array): boolean =>
  a?.length === b.length && a.every((byte, at) => byte === b[at]);

/** 429 while the organization's budget of the hour or the day is used up. */
export function refuseBuild({ clock }: Service, { company }: AccountRecord): Response | undefined {
  const now = clock.now();
  const wait = Math.max(company.hour.wait(now), company.day.wait(now));
  return wait > 0 ? tooMany('Build budget exceeded.', wait) : undefined;
}

/** Counts one build in the organization's budget. */
export function countBuild({ clock }: Service, { company }: AccountRecord): void {
  company.hour.take(clock.now());
  company.day.take(clock.now());
}
