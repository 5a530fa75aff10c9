import '../support/nothing-left.ts';
import { expect, it, onTestFinished } from 'vitest';
import { AudienceClient, AudienceError } from '../../src/index.ts';
import { amount, seeded } from '../support/seeded.ts';
import { wireAudience } from '../support/wire-audience.ts';

const CASES = amount(4_000, 100_000);

const STATUSES = [
  200, 200, 200, 200, 201, 204, 206, 299, 400, 401, 403, 404, 406, 408, 409, 410, 418, 422, 429, 451, 500, 502, 503,
  504, 599,
];
const WAITS = [
  '0',
  '1e3',
  '-5',
  'soon',
  '',
  ' ',
  '0.001',
  '999999999999999999999',
  'Thu, 01 Jan 1970 00:00:00 GMT',
  'Infinity',
  'NaN',
  '٣',
  '1, 2',
  '\t0',
];
const ODD: readonly unknown[] = [
  null,
  undefined,
  0,
  -1,
  1e308,
  '',
  'text',
  true,
  [],
  {},
  [[]],
  { __proto__: null },
  { toString: 1 },
  '\u0000',
  '\ud800',
  'x'.repeat(9_000),
];

type Random = () => number;
const pick = <T>(random: Random, from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;

/** A value with some of its parts replaced, dropped or added. */
function mutated(value: unknown, random: Random, depth = 0): unknown {
  if (random() < 0.08) return pick(random, ODD);
  if (typeof value !== 'object' || value === null || depth > 6) return value;
  if (Array.isArray(value)) {
    const rows = value.map((one) => mutated(one, random, depth + 1));
    return random() < 0.1 ? [...rows, ...rows] : rows;
  }
  const entries = Object.entries(value)
    .filter(() => random() > 0.04)
    .map(([key, one]): [string, unknown] => [
      random() < 0.02 ? pick(random, ['__proto__', 'constructor', '']) : key,
      mutated(one, random, depth + 1),
    ]);
  return Object.fromEntries(entries);
}

/** Text with bytes dropped, doubled or replaced. */
function garbled(text: string, random: Random): string {
  let garbage = text;
  for (let times = Math.floor(random() * 4); times > 0; times--) {
    const at = Math.floor(random() * garbage.length);
    const middle = pick(random, ['', '\u0000', '"', '{', '}', '\\', '\ufeff', garbage.slice(at, at + 20).repeat(2)]);
    garbage = garbage.slice(0, at) + middle + garbage.slice(at + Math.floor(random() * 10));
  }
  return garbage;
}

function answer(random: Random): Response {
  const status = pick(random, STATUSES);
  const envelope = {
    status: status < 400 ? 'success' : 'error',
    code: status,
    message: 'text',
    data: [wireAudience()],
    errors: { name: ['wrong'] },
  };
  const text = JSON.stringify(random() < 0.7 ? mutated(envelope, random) : envelope) ?? '';
  const headers = new Headers({ 'content-type': pick(random, ['application/json', 'text/html', 'x']) });
  if (random() < 0.5) headers.set('retry-after', pick(random, WAITS));
  if (random() < 0.2) headers.set('x-request-id', pick(random, ['', 'r'.repeat(5_000), 'req 1']));
  const body = random() < 0.4 ? garbled(text, random) : text;
  return new Response(status === 204 ? null : body, { status, headers });
}

it(`${CASES} mutated responses end in data or a typed error, and none hangs`, async () => {
  const random = seeded('fuzz of answers');
  const client = new AudienceClient({
    baseUrl: 'http://localhost',
    token: () => 'test-token',
    rateLimits: false,
    backoff: { min: 0, max: 0 },
    maxRetries: 1,
    maxRetryWait: 1,
    logLevel: 'off',
    fetch: async () => answer(random),
  });
  onTestFinished(() => client.close());
  const kinds = new Map<string, number>();
  for (let at = 0; at < CASES; at++) {
    const calls = [
      () => client.audiences.get(42),
      () => client.audiences.create({ name: 'x' }, { deadline: 2_000 }),
      () => client.audiences.list(),
      () => client.usage.get(),
      () => client.webhooks.list(),
      () => client.auth.login({ email: 'a@example.com', password: 'secret' }),
      () => client.audiences.delete(1),
    ];
    const outcome = await pick(random, calls)().then(
      () => 'data',
      (error: unknown) => (AudienceError.isInstance(error) ? error.code : `untyped: ${String(error)}`),
    );
    kinds.set(outcome, (kinds.get(outcome) ?? 0) + 1);
  }
  expect([...kinds.keys()].filter((kind) => kind.startsWith('untyped'))).toEqual([]);
  expect(kinds.size).toBeGreaterThan(8);
}, 600_000);
