import { expect, vi } from 'vitest';
import { type Clients, KINDS } from '../../support/redis-clients.ts';
import { type Fleet, type FleetReport, shares, startFleet } from './fleet.ts';
import { type StrictOptions, type StrictServer, startStrictServer } from './strict-server.ts';

export const READ = { limit: 60, interval: 3_000 } as const;
const MARGIN = 250;
/** Interval plus margin, in milliseconds. */
export const WINDOW = READ.interval + MARGIN;
const PROCESSES = 6;

/** Six processes that call a strict service. */
export interface Scene {
  /** Prefix of the keys of the limits in Redis. */
  readonly prefix: string;
  readonly service: StrictServer;
  readonly fleet: Fleet;
  /** Makes `total` calls, divided among the processes. */
  calls(total: number): Promise<FleetReport[]>;
  /** Resolves when at least `count` requests have arrived. */
  arrived(count: number): Promise<void>;
}

interface SceneOptions extends Pick<StrictOptions, 'latency'> {
  readonly margin?: number;
  readonly shared?: boolean;
}

let scenes = 0;

/**
 * Starts six processes, half of them with each Redis client. Unless `shared` is `false`, they share one log in Redis.
 */
export async function setScene(
  redisUrl: string,
  { margin = MARGIN, shared = true, latency }: SceneOptions = {},
): Promise<Scene> {
  const service = await startStrictServer({ ...READ, ...(latency && { latency }) });
  const prefix = `fleet-${scenes++}`;
  const log = { url: redisUrl, margin, processes: PROCESSES, prefix };
  const settings = { baseUrl: service.url, read: READ };
  const kinds = Array.from({ length: PROCESSES / KINDS.length }, () => KINDS).flat();
  const fleet = await startFleet(kinds.map((kind) => (shared ? { ...settings, shared: { ...log, kind } } : settings)));
  return {
    prefix,
    service,
    fleet,
    calls: (total) => Promise.all(shares(total, PROCESSES).map((count, at) => fleet.calls(at, count))),
    arrived: (count) =>
      vi.waitFor(() => expect(service.arrivals.length).toBeGreaterThanOrEqual(count), { timeout: 30_000, interval: 5 }),
  };
}

/** Returns the number of permits that are reserved in Redis for the future. */
export async function reservedIn(client: Clients['ioredis'], { prefix }: Scene): Promise<number> {
  const [key = ''] = await client.keys(`${prefix}:*`);
  return client.zcount(key, Date.now(), '+inf');
}

/** Waits in real time. */
export const pass = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Returns the minimum time in which `total` requests can be sent under the limit. */
export const ideal = (total: number): number => (Math.ceil(total / READ.limit) - 1) * READ.interval;

/** Expects that all requests arrived, and that the limit was kept. */
export function expectKept({ service }: Scene, total: number): void {
  expect(service.refused()).toBe(0);
  expect(service.most()).toBeLessThanOrEqual(READ.limit);
  expect(service.arrivals).toHaveLength(total);
}

/** Expects that no call failed. */
export const expectDone = (reports: readonly FleetReport[]): void =>
  expect(reports.flatMap(({ failed }) => failed)).toEqual([]);
