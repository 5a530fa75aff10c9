import { afterEach, beforeAll, beforeEach } from 'vitest';
import { AudienceClient } from '../../../src/index.ts';
import { type RedisLimiterOptions, redisLimiter } from '../../../src/redis/index.ts';
import { atSuiteEnd, startRedis } from '../../support/redis-server.ts';
import { connectVirtualRedis, type Link, type VirtualRedis } from '../../support/virtual-redis.ts';
import { startVirtualTime, type VirtualTime } from '../../support/virtual-time.ts';
import { createStrictService, type StrictService } from './strict-service.ts';

export const READ = { limit: 60, interval: 3_000 } as const;
const MARGIN = 250;

const PROCESSES = 6;

/** Waits in virtual time. */
export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A Redis server and its clock, which is virtual during each test. */
export interface VirtualSuite {
  readonly redis: VirtualRedis;
  readonly time: VirtualTime;
}

/** Starts a Redis server for a file. Each test runs in virtual time, with an empty server. */
export function suiteVirtualRedis(): () => VirtualSuite {
  const atEnd = atSuiteEnd();
  let redis: VirtualRedis | undefined;
  let time: VirtualTime | undefined;
  beforeAll(async () => {
    const connected = await connectVirtualRedis((await startRedis(atEnd)).url);
    atEnd(() => connected.close());
    redis = connected;
    // The script is hashed at its first use, on another thread, which virtual time does not wait for.
    await redisLimiter(connected.connect()).acquire('read', { scope: 'hash', priority: 'foreground' });
  });
  beforeEach(async () => {
    await redis?.inspect((server) => server.flushall());
    time = startVirtualTime(() => redis?.isBusy === true);
  });
  afterEach(() => time?.end());
  return () => {
    if (!redis || !time) throw new Error('Call this inside a test.');
    return { redis, time };
  };
}

interface FleetOptions extends Pick<RedisLimiterOptions, 'margin' | 'fallback'> {
  /** False if each process counts alone. @default true */
  readonly isShared?: boolean;
  /** Returns the milliseconds until a request arrives at the service. @default 0 for each */
  readonly latency?: () => number;
  /** The connection of all processes to Redis. */
  readonly link?: Link;
}

/** Six processes that share one limit, and call a strict service. */
export interface Fleet {
  readonly service: StrictService;
  readonly clients: readonly AudienceClient[];
  /** Warnings of the limiters. */
  readonly warnings: readonly string[];
  /** Makes calls, divided among the processes. Rejects if one fails. */
  calls(total: number): Promise<void>;
  /** Makes calls of the process with index `at`. */
  callsOf(at: number, count: number): Promise<void>;
}

/** Starts a fleet: several limiters in this process, each with its own connection to Redis. */
export function startFleet(redis: VirtualRedis, options: FleetOptions = {}): Fleet {
  const { margin = MARGIN, fallback = { processes: PROCESSES }, isShared = true, latency = () => 0, link } = options;
  const service = createStrictService(READ);
  const warnings: string[] = [];
  const logger = { warn: (message: string) => void warnings.push(message) };
  const rateLimits = { read: READ };
  const newLimiter = () => redisLimiter(redis.connect(link), { rateLimits, margin, fallback, logger });
  const clients = Array.from(
    { length: PROCESSES },
    () =>
      new AudienceClient({
        baseUrl: 'http://localhost',
        token: 'token',
        rateLimits,
        logLevel: 'off',
        ...(isShared && { limiter: newLimiter() }),
        async fetch() {
          await sleep(latency());
          return service.respond();
        },
      }),
  );
  async function callsOf(at: number, count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, () => clients[at]?.webhooks.list()));
  }
  return {
    service,
    clients,
    warnings,
    callsOf,
    async calls(total) {
      const share = (at: number): number => Math.floor((total + at) / PROCESSES);
      await Promise.all(clients.map((_, at) => callsOf(at, share(at))));
    },
  };
}

/** Returns the minimum time in which `total` requests can be sent under the limit. */
export const ideal = (total: number): number => (Math.ceil(total / READ.limit) - 1) * READ.interval;
