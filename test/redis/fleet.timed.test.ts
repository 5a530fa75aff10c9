import { describe, expect, it, vi } from 'vitest';
import { type Fleet, type FleetReport, shares, startFleet } from '../support/fleet.ts';
import { type Clients, KINDS } from '../support/redis-clients.ts';
import { suiteRedis } from '../support/redis-server.ts';
import { seeded } from '../support/seeded.ts';
import { type StrictOptions, type StrictServer, startStrictServer } from '../support/strict-server.ts';

const READ = { limit: 60, interval: 3_000 } as const;
const MARGIN = 250;
const SPAN = READ.interval + MARGIN;
const PROCESSES = 6;
const OUTAGE = 5_000;
/** Milliseconds that a request is under way at most, where that is random: arrivals swap places. */
const JITTER = 200;

const redis = suiteRedis();

interface Scene {
  /** Begins the keys of its limits. */
  readonly prefix: string;
  readonly service: StrictServer;
  readonly fleet: Fleet;
  /** Has the processes make so many calls in all. */
  calls(total: number): Promise<FleetReport[]>;
  /** Resolves when so many requests have arrived. */
  arrived(count: number): Promise<void>;
}

interface SceneOptions extends Pick<StrictOptions, 'latency'> {
  readonly margin?: number;
  readonly shared?: boolean;
}

let scenes = 0;

async function setScene({ margin = MARGIN, shared = true, latency }: SceneOptions = {}): Promise<Scene> {
  const service = await startStrictServer({ ...READ, ...(latency && { latency }) });
  const prefix = `fleet-${scenes++}`;
  const log = { url: redis().url, margin, processes: PROCESSES, prefix };
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

/** Slots in the log that are for later. */
async function reservedIn(client: Clients['ioredis'], { prefix }: Scene): Promise<number> {
  const [key = ''] = await client.keys(`${prefix}:*`);
  return client.zcount(key, Date.now(), '+inf');
}

/** Times on the way that a seed decides. */
function jitter(): () => number {
  const random = seeded('fleet');
  return () => random() * JITTER;
}

const pass = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** The least time from the first of so many requests to the last. */
const ideal = (total: number): number => (Math.ceil(total / READ.limit) - 1) * READ.interval;

function expectKept({ service }: Scene, total: number): void {
  expect(service.refused()).toBe(0);
  expect(service.most()).toBeLessThanOrEqual(READ.limit);
  expect(service.arrivals).toHaveLength(total);
}

const expectDone = (reports: readonly FleetReport[]): void =>
  expect(reports.flatMap(({ failed }) => failed)).toEqual([]);

/** Who had calls to make meanwhile has told of it. */
const expectWarned = (reports: readonly FleetReport[]): void =>
  expect(reports.flatMap(({ warnings }) => warnings).join('\n')).toMatch(/not answer.*\n.*answers again/);

/** Has a fleet make 181 calls while something befalls its Redis, and expects that they end in time. */
async function expectToOutlive(outage: number, trouble: () => Promise<void>): Promise<FleetReport[]> {
  const scene = await setScene();
  const calls = scene.calls(181);
  await scene.arrived(READ.limit);
  await trouble();
  const reports = await calls;
  expectDone(reports);
  expectKept(scene, 181);
  expect(scene.service.took()).toBeLessThanOrEqual(ideal(181) + outage + 2 * SPAN);
  return reports;
}

describe('six processes that share 60 per 3 s', () => {
  it('never send more, and lose less than a tenth of what they may send', async () => {
    const scene = await setScene();
    expectDone(await scene.calls(241));
    expectKept(scene, 241);
    expect(scene.service.took()).toBeLessThanOrEqual(ideal(241) / 0.9);
  });

  it('never send more that arrive in another order than they left in', async () => {
    const scene = await setScene({ latency: jitter() });
    expectDone(await scene.calls(181));
    expectKept(scene, 181);
    expect(scene.service.took()).toBeLessThanOrEqual(ideal(181) / 0.9 + JITTER);
  });

  it('never send more in bursts before and after the end of a window', async () => {
    const scene = await setScene();
    const first = scene.calls(1);
    await scene.arrived(1);
    await pass(READ.interval - 50);
    const before = scene.calls(READ.limit);
    await pass(100);
    const after = scene.calls(READ.limit);
    const reports = await Promise.all([first, before, after]);
    expectDone(reports.flat());
    expectKept(scene, 1 + 2 * READ.limit);
    expect(scene.service.took()).toBeLessThanOrEqual(2 * SPAN + 100);
  });

  it('never send more when one is killed that has slots reserved', async () => {
    const scene = await setScene();
    const client = await redis().connect('ioredis');
    const ended = expect(scene.fleet.calls(0, 80)).rejects.toThrow('ended before its calls');
    const calls = Promise.all([1, 2, 3, 4, 5].map((at) => scene.fleet.calls(at, 10)));
    await scene.arrived(READ.limit);
    await vi.waitFor(async () => expect(await reservedIn(client, scene)).toBeGreaterThan(20), { timeout: 10_000 });
    scene.fleet.signal(0, 'SIGKILL');
    await ended;
    expectDone(await calls);
    expect(scene.service.refused()).toBe(0);
    expect(scene.service.arrivals.length).toBeLessThan(130);
    expect(scene.service.most()).toBeLessThanOrEqual(READ.limit);
    expect(scene.service.took()).toBeLessThanOrEqual(2 * SPAN + 100);
  });

  it('never send more when one sleeps through the slots that it has reserved', async () => {
    const scene = await setScene();
    const client = await redis().connect('ioredis');
    const calls = [80, 20, 20, 20, 20, 20].map((count, at) => scene.fleet.calls(at, count));
    await scene.arrived(READ.limit);
    await vi.waitFor(async () => expect(await reservedIn(client, scene)).toBeGreaterThan(20), { timeout: 10_000 });
    scene.fleet.signal(0, 'SIGSTOP');
    await pass(SPAN);
    scene.fleet.signal(0, 'SIGCONT');
    expectDone(await Promise.all(calls));
    expectKept(scene, 180);
  });

  it('go on when Redis forgets their scripts', async () => {
    const scene = await setScene();
    const calls = scene.calls(121);
    await scene.arrived(READ.limit);
    await (await redis().connect('ioredis')).script('FLUSH');
    expectDone(await calls);
    expectKept(scene, 121);
    expect(scene.service.took()).toBeLessThanOrEqual(ideal(121) / 0.9);
  });
});

describe('six processes whose Redis', () => {
  it('answers nothing for 5 s take their parts until it does', async () => {
    const reports = await expectToOutlive(OUTAGE, async () => {
      redis().pause();
      await pass(OUTAGE);
      redis().resume();
    });
    expectWarned(reports);
  });

  it('starts anew send no more than before', async () => {
    await expectToOutlive(0, () => redis().restart());
  });

  it('is gone for 5 s take their parts until it is there again, empty', async () => {
    const reports = await expectToOutlive(OUTAGE, async () => {
      await redis().kill();
      await pass(OUTAGE);
      await redis().restart();
    });
    expectWarned(reports);
  });
});

describe('what these tests would find', () => {
  it('is that requests overtake each other where there is no margin', async () => {
    const scene = await setScene({ margin: 0, latency: jitter() });
    await scene.calls(121);
    expect(scene.service.refused()).toBeGreaterThan(0);
    expect(scene.service.most()).toBeGreaterThan(READ.limit);
  });

  it('is that each process keeps the limit by itself', async () => {
    const scene = await setScene({ shared: false });
    void Promise.allSettled([scene.calls(2 * READ.limit)]);
    await scene.arrived(2 * READ.limit);
    expect(scene.service.refused()).toBeGreaterThanOrEqual(READ.limit);
  });
});
