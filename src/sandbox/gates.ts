import type { Context, MiddlewareHandler } from 'hono';
import { refusal, tooMany, unauthenticated } from './answers.ts';
import { createSlidingLog, REPLAY_WINDOW, type SandboxLimits } from './limits.ts';
import { findToken, type Service } from './service.ts';
import type { AccountRecord, Replay } from './state.ts';

/** What gates leave for the routes behind them. */
export interface Env {
  Variables: { account: AccountRecord; replayed: boolean };
}

type Gate = MiddlewareHandler<Env>;

/** Rate buckets of the service. */
export type BucketName = 'read' | 'write' | 'mcp' | 'login' | 'mint';

/** 406 without `Accept: application/json`. */
export const accept: Gate = async (context, next) => {
  if (/application\/json/i.test(context.req.header('accept') ?? '')) return next();
  return refusal(406, 'Not acceptable: send Accept: application/json.');
};

const tokenOf = (context: Context<Env>): string | undefined =>
  /^bearer (\S+)$/i.exec(context.req.header('authorization') ?? '')?.[1];

/** 401 without a live general token; an MCP token is valid on the MCP endpoint only. */
export const bearer =
  (service: Service): Gate =>
  async (context, next) => {
    const value = tokenOf(context);
    const found = value === undefined ? undefined : findToken(service, value);
    if (!found || found.token.kind === 'mcp') return unauthenticated();
    context.set('account', found.account);
    return next();
  };

/** Counts a request in a bucket: per address for login and mint, per token for the rest. */
export const metered =
  ({ state, clock, limits }: Service, bucket: BucketName): Gate =>
  async (context, next) => {
    const limit: SandboxLimits[BucketName] = limits[bucket];
    const perAddress = bucket === 'login' || bucket === 'mint';
    const key = `${bucket} ${perAddress ? 'address' : tokenOf(context)}`;
    const log = state.buckets.get(key) ?? createSlidingLog(limit);
    state.buckets.set(key, log);
    const wait = log.take(clock.now());
    return wait > 0 ? tooMany('Too many requests.', wait) : next();
  };

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
    const known = replays.get(key);
    if (known && known.expiresAt > clock.now()) {
      const body = await context.req.text();
      const answer = replayed(known, operation, body);
      context.set('replayed', answer.status < 400);
      return answer;
    }
    const replay: Replay = { operation, body: undefined, response: undefined, expiresAt: clock.now() + REPLAY_WINDOW };
    replays.set(key, replay);
    try {
      replay.body = await context.req.text();
      await next();
      if (context.res.status < 300)
        replay.response = { status: context.res.status, text: await context.res.clone().text() };
    } finally {
      if (!replay.response) replays.delete(key);
    }
    return undefined;
  };

function replayed(known: Replay, operation: string, body: string): Response {
  if (!known.response) return refusal(409, 'A request with this idempotency key is still in flight.');
  if (known.operation !== operation || known.body !== body) {
    return refusal(409, 'This idempotency key was used with a different body.');
  }
  return new Response(known.response.text, {
    status: known.response.status,
    headers: { 'content-type': 'application/json' },
  });
}

/** Spends one build of the organization's budget: 429 while the hour or the day is used up. */
export function spendBuild({ clock }: Service, { company }: AccountRecord): Response | undefined {
  const now = clock.now();
  const wait = Math.max(company.hour.wait(now), company.day.wait(now));
  if (wait > 0) return tooMany('Build budget exceeded.', wait);
  company.hour.take(now);
  company.day.take(now);
  return undefined;
}
