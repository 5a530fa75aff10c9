import type { RateLimiter } from '../../../src/client/rate-limit/rate-limiter.ts';
import { AudienceClient } from '../../../src/index.ts';
import { redisLimiter } from '../../../src/redis/index.ts';
import { RATE_LIMITS } from '../../../src/spec/limits.ts';
import type { Logger } from '../../../src/util/log.ts';
import { connectTo } from '../../support/redis-clients.ts';
import type { FleetReport, FleetSettings } from './fleet.ts';

/** Makes as many concurrent reads as each message requires, and reports when all of them have settled. */
const [, , settings = ''] = process.argv;
const { baseUrl, read, shared }: FleetSettings = JSON.parse(settings);
const rateLimits = { ...RATE_LIMITS, read };
const warnings: string[] = [];
const ignore = (): void => {};
const logger: Logger = { error: ignore, info: ignore, debug: ignore, warn: (message) => void warnings.push(message) };

async function sharedLimiter(): Promise<RateLimiter | undefined> {
  if (!shared) return undefined;
  const { kind, url, margin, processes, prefix } = shared;
  const { client } = await connectTo(kind, url);
  return redisLimiter(client, { rateLimits, margin, prefix, fallback: { processes }, logger });
}

const limiter = await sharedLimiter();
const client = new AudienceClient({ baseUrl, token: 'token', rateLimits, limiter, logLevel: 'off' });

async function callsOf(count: number): Promise<FleetReport> {
  const results = await Promise.allSettled(Array.from({ length: count }, () => client.webhooks.list()));
  const failed = results.flatMap((result) => (result.status === 'rejected' ? [String(result.reason)] : []));
  return { failed, warnings: warnings.splice(0) };
}

process.on('message', async ({ id, count }: { id: number; count: number }) => {
  process.send?.({ done: id, report: await callsOf(count) });
});
process.once('disconnect', () => process.exit());
process.send?.('ready');
