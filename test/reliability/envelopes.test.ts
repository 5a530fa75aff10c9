import '../support/nothing-left.ts';
import { expect, it } from 'vitest';
import { AudienceClient, AudienceError } from '../../src/index.ts';
import { inVirtualTime } from '../support/in-virtual-time.ts';
import { seeded } from '../support/seeded.ts';
import { runs } from '../support/volume.ts';
import { wireAudience } from '../support/wire-audience.ts';
import { damaged, pick } from './support/mutations.ts';

const CREATES = runs(100, 1_000, 20_000);
/** Creates of one client: a long wait that the service asks for holds back the later creates of its client. */
const PER_CLIENT = 20;

const time = inVirtualTime();

/** Counts of one name: requests that arrived, and resources created. */
interface Deeds {
  arrived: number;
  created: number;
}

const REFUSED = { code: 'ECONNREFUSED', syscall: 'connect' };

/** One create in twenty finds no service. */
const isOffline = (name: string): boolean => name.endsWith('-7');

/** Returns a service that does what its status says, or whose status says nothing, in envelopes that may be damaged. */
function startCounting(random: () => number) {
  const deeds = new Map<string, Deeds>();
  const keys = new Set<string>();
  const refuse = (status: number, code = status): Response =>
    damaged(random, status, { status: 'error', code, message: 'Refused.', data: [], errors: { name: ['wrong'] } });
  const lost = (cause: object): Promise<never> =>
    Promise.reject(new TypeError('fetch failed', { cause: Object.assign(new Error('lost'), cause) }));

  async function fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const request = new Request(input, init);
    if (request.method === 'GET') return damaged(random, 200, { status: 'success', code: 200, message: '', data: [] });
    const { name } = await request.json();
    if (isOffline(name) || random() < 0.05) return lost({ ...REFUSED, address: '127.0.0.1', port: 80 });
    const key = request.headers.get('idempotency-key') ?? '';
    const deed = deeds.get(name) ?? { arrived: 0, created: 0 };
    deeds.set(name, deed);
    deed.arrived++;
    const chance = random();
    // Before the key is read.
    if (chance < 0.15) return refuse(pick(random, [401, 403, 408, 409, 429, 451, 500, 502, 503, 504]));
    if (chance < 0.2) return lost({ code: 'ECONNRESET', syscall: 'read' });
    if (!keys.has(key) && chance < 0.4) {
      const code = pick(random, [400, 404, 406, 410, 418, 422, 500]);
      return refuse(pick(random, [code, code, 200]), code);
    }
    // The service acts, or replays what it did.
    if (!keys.has(key)) deed.created++;
    keys.add(key);
    if (chance < 0.45) return lost({ code: 'ECONNRESET', syscall: 'read' });
    // A connection of the user's own `fetch`, after the response.
    if (chance < 0.5) return lost({ ...REFUSED, address: '192.0.2.1', port: 4318 });
    if (chance < 0.65) return refuse(pick(random, [408, 500, 502, 503, 504]));
    const status = pick(random, [200, 200, 201, 202]);
    return damaged(random, status, { status: 'success', code: status, message: 'ok', data: [wireAudience()] });
  }
  return { deeds, fetch };
}

it(`${CREATES} creates with default options, in random envelopes, have the outcome that the service counts`, async () => {
  const random = seeded('envelopes');
  const { deeds, fetch } = startCounting(random);
  const kinds = new Map<string, number>();
  const wrong: string[] = [];
  for (let round = 0; round < CREATES / PER_CLIENT; round++) {
    const client = new AudienceClient({ baseUrl: 'http://127.0.0.1', token: 'test-token', logLevel: 'off', fetch });
    const calls = Array.from({ length: PER_CLIENT }, async (_, at) => {
      const name = `${round}-${at}`;
      const outcome = await client.audiences.create({ name }).then(
        () => 'data',
        (error: unknown) => (AudienceError.isInstance(error) ? String(error.outcome) : `untyped: ${String(error)}`),
      );
      kinds.set(outcome, (kinds.get(outcome) ?? 0) + 1);
      const { arrived, created } = deeds.get(name) ?? { arrived: 0, created: 0 };
      const isRight = {
        data: created === 1,
        done: created === 1,
        unknown: arrived > 0 && created <= 1,
        refused: arrived > 0 && created === 0,
        'not-sent': arrived === 0,
      }[outcome];
      if (!isRight) wrong.push(`${name} is ${outcome}, has arrived ${arrived} and created ${created} times`);
    });
    await time.until(Promise.all(calls));
    await client.close();
  }
  console.info(JSON.stringify(Object.fromEntries(kinds)));
  expect(wrong).toEqual([]);
  expect([...kinds.keys()].toSorted()).toEqual(['data', 'done', 'not-sent', 'refused', 'unknown']);
}, 1_800_000);
