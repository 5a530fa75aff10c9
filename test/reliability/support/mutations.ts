type Random = () => number;

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

/** Returns a random element. */
export const pick = <T>(random: Random, from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;

/** Returns a value with some of its parts replaced, dropped or added. */
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

/** Returns text with bytes dropped, doubled or replaced. */
function garbled(text: string, random: Random): string {
  let garbage = text;
  for (let times = Math.floor(random() * 4); times > 0; times--) {
    const at = Math.floor(random() * garbage.length);
    const middle = pick(random, ['', '\u0000', '"', '{', '}', '\\', '\ufeff', garbage.slice(at, at + 20).repeat(2)]);
    garbage = garbage.slice(0, at) + middle + garbage.slice(at + Math.floor(random() * 10));
  }
  return garbage;
}

/** Values of `Retry-After`, many of which no service should send. */
const WAITS: readonly string[] = [
  ...['0', '1', '30', '59', '61', '2400', '1e3', '-5', 'soon', '', ' ', '0.001', '9'.repeat(21), 'Infinity', 'NaN'],
  ...['Thu, 01 Jan 1970 00:00:00 GMT', '٣', '1, 2', '\t0'],
];

/** Returns a response whose envelope and text may be damaged, of any type, and that may ask for a wait. */
export function damaged(random: Random, status: number, envelope: object): Response {
  const text = JSON.stringify(random() < 0.4 ? mutated(envelope, random) : envelope) ?? '';
  const headers = new Headers({ 'content-type': pick(random, ['application/json', 'text/html', 'x']) });
  if (random() < 0.3) headers.set('retry-after', pick(random, WAITS));
  if (random() < 0.2) headers.set('x-request-id', pick(random, ['', 'r'.repeat(5_000), 'req 1']));
  const body = random() < 0.3 ? garbled(text, random) : text;
  return new Response(status === 204 ? null : body, { status, headers });
}
