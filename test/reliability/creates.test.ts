import '../support/nothing-left.ts';
import { expect, it, onTestFinished } from 'vitest';
import { type AudienceClient, AudienceError, type CreateOptions } from '../../src/index.ts';
import { type Fault, LOST, type Passing, startFaultProxy } from '../support/fault-proxy.ts';
import { quickly } from '../support/quickly.ts';
import { startBench } from '../support/sandbox.ts';
import { seeded } from '../support/seeded.ts';
import { failureOf } from '../support/server.ts';
import { runs } from '../support/volume.ts';

const CREATES = runs(70, 700, 10_000);
const AT_ONCE = 50;
const SHARE = 0.3;

/** No bucket and no budget is in the way of this test. */
const limits = {
  write: { limit: 1e9, interval: 60_000 },
  read: { limit: 1e9, interval: 60_000 },
  buildsPerHour: 1e9,
  buildsPerDay: 1e9,
};

const answer = (status: number, wait?: string): Fault[] => [
  { kind: 'answer', status, ...(wait !== undefined && { headers: { 'retry-after': wait } }) },
  { kind: 'answer', status, acted: true, ...(wait !== undefined && { headers: { 'retry-after': wait } }) },
];

/** Every way a request fares badly. A 4xx comes from the service itself, so it never follows an act. */
const FAULTS: readonly Fault[] = [
  ...LOST,
  { kind: 'drip' },
  { kind: 'late', ms: 120 },
  ...answer(500),
  ...answer(502, '0'),
  ...answer(503, new Date(0).toUTCString()),
  ...answer(503, '-5'),
  ...answer(504, 'soon'),
  { kind: 'answer', status: 503, headers: { 'retry-after': '99999999' } },
  { kind: 'answer', status: 503, acted: true, headers: { 'retry-after': '99999999' } },
  { kind: 'answer', status: 429, headers: { 'retry-after': '0' } },
  { kind: 'answer', status: 409 },
  { kind: 'answer', status: 401, body: '{"message":"Unauthenticated."}' },
  { kind: 'answer', status: 200, acted: true, body: '<html>a proxy</html>' },
];

type Kind = 'audiences' | 'lookalikes' | 'estimates' | 'activations' | 'cohorts' | 'projects' | 'schedules';
const KINDS: readonly Kind[] = [
  'audiences',
  'lookalikes',
  'estimates',
  'activations',
  'cohorts',
  'projects',
  'schedules',
];

/** The result of one call. */
interface Outcome {
  readonly kind: Kind;
  readonly name: string;
  readonly id?: number;
  readonly error?: AudienceError;
}

/** A namespace whose creates take a name. */
interface Named {
  create(body: { readonly name: string }, options: CreateOptions): PromiseLike<{ readonly id: number }>;
}

async function create(
  client: AudienceClient,
  kind: Kind,
  name: string,
  seed: number,
  idempotencyKey?: string,
): Promise<number> {
  const options = { idempotencyKey };
  switch (kind) {
    case 'lookalikes':
      return (
        await client.lookalikes.create({ name, source_audience_id: seed, config: { target_size: 5_000 } }, options)
      ).id;
    case 'activations':
      return (await client.activations.create({ description: name, audience_id: seed }, options)).id;
    default: {
      const resources: Named = client[kind];
      return (await resources.create({ name }, options)).id;
    }
  }
}

/** A sandbox that remembers which names were created, behind a proxy that harms three requests in ten. */
async function startFaulty() {
  const random = seeded('creates under faults');
  const made = new Map<string, number>();
  const note = (name: string): void => void made.set(name, (made.get(name) ?? 0) + 1);
  const jobs = {
    duration: ({ name }: { name: string }) => {
      note(name);
      return 60_000;
    },
  };
  const { url, sandbox, account, connect } = await startBench({ limits, jobs });
  const choose = ({ path }: Passing): Fault | undefined =>
    path.endsWith('/create') && random() < SHARE ? FAULTS[Math.floor(random() * FAULTS.length)] : undefined;
  const proxy = await startFaultProxy(url, choose);
  const token = account.token('api');
  const options = { rateLimits: false, backoff: { min: 1, max: 4 } } as const;
  const direct = connect({ ...options, token });
  const faulty = connect({ ...options, baseUrl: proxy.url, token: () => token, timeout: 60, maxRetries: 2 });
  const seed = await direct.audiences.create({ name: 'Seed' });
  await sandbox.advance(60_000);
  const count = async (): Promise<ReadonlyMap<string, number>> => {
    // Projects and schedules start no job: the service itself lists them.
    const all = new Map(made);
    for (const kind of ['projects', 'schedules'] as const) {
      for await (const { name } of direct[kind].list()) all.set(String(name), (all.get(String(name)) ?? 0) + 1);
    }
    return all;
  };
  return { direct, faulty, seed: seed.id, count, proxy };
}

async function createMany(client: AudienceClient, seed: number): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < CREATES; at = next++) {
      const kind = KINDS[at % KINDS.length] ?? 'audiences';
      const name = `${kind}-${at}`;
      try {
        outcomes.push({ kind, name, id: await create(client, kind, name, seed) });
      } catch (error) {
        if (!AudienceError.isInstance(error)) throw error;
        outcomes.push({ kind, name, error });
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return outcomes;
}

it(
  `${CREATES} creates of seven kinds under 30 % faults: none lost, none doubled, and every outcome is true`,
  () =>
    quickly(async () => {
      const unhandled: unknown[] = [];
      const note = (reason: unknown): void => void unhandled.push(reason);
      process.on('unhandledRejection', note);
      onTestFinished(() => void process.off('unhandledRejection', note));
      const { faulty, direct, seed, count, proxy } = await startFaulty();
      const outcomes = await createMany(faulty, seed);
      // What was on its way when its caller gave up has arrived by now.
      await new Promise((resolve) => setTimeout(resolve, 300));
      const before = await count();

      const wrong: string[] = [];
      for (const { name, id, error } of outcomes) {
        const times = before.get(name) ?? 0;
        if (id !== undefined && times !== 1) wrong.push(`${name} returned and exists ${times} times`);
        if (error?.outcome === 'unknown' && times > 1) wrong.push(`${name} is unknown and exists ${times} times`);
        if (error && ['not-sent', 'refused'].includes(error.outcome ?? '') && times !== 0) {
          wrong.push(`${name} is ${error.outcome} (${error.code}) and exists ${times} times`);
        }
        if (error && !['not-sent', 'refused', 'unknown'].includes(error.outcome ?? ''))
          wrong.push(`${name}: ${error.outcome}`);
      }
      expect(wrong).toEqual([]);
      expect(outcomes).toHaveLength(CREATES);
      const ids = outcomes.flatMap(({ id }) => id ?? []);
      expect(new Set(ids).size).toBe(ids.length);

      const unknown = outcomes.filter(({ error }) => error?.outcome === 'unknown');
      // Few creates may all end with a known outcome.
      expect(unknown.length).toBeGreaterThanOrEqual(runs(0, 1));
      for (const { kind, name, error } of unknown) await create(direct, kind, name, seed, error?.idempotencyKey);
      const after = await count();
      for (const { name } of unknown) expect([name, after.get(name)]).toEqual([name, 1]);
      expect(proxy.passed.filter(({ fault }) => fault).length).toBeGreaterThan(CREATES * SHARE * 0.4);
      expect(unhandled).toEqual([]);
    }),
  600_000,
);

it.each([
  [{ kind: 'cut-before' }, 'unknown'],
  [{ kind: 'cut-after' }, 'unknown'],
  [{ kind: 'stall-headers' }, 'unknown'],
  [{ kind: 'truncate' }, 'unknown'],
  [{ kind: 'answer', status: 503, headers: { 'retry-after': '99999999' } }, 'unknown'],
  [{ kind: 'answer', status: 409, headers: { 'retry-after': '61' } }, 'unknown'],
] satisfies [Fault, string][])('a create that always meets %j ends as %s', (fault, outcome) =>
  quickly(async () => {
    const { url, account, connect } = await startBench();
    const proxy = await startFaultProxy(url, () => fault);
    // A short timeout only where nothing comes: a busy machine is slow.
    const timeout = fault.kind === 'stall-headers' ? 400 : 30_000;
    const client = connect({ baseUrl: proxy.url, token: account.token('api'), timeout, maxRetries: 1 });
    const error = await failureOf(client.projects.create({ name: 'x' }));
    expect(error).toMatchObject({ outcome, idempotencyKey: expect.any(String) });
  }),
);
