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
export function mutated(value: unknown, random: Random, depth = 0): unknown {
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
export function garbled(text: string, random: Random): string {
  let garbage = text;
  for (let times = Math.floor(random() * 4); times > 0; times--) {
    const at = Math.floor(random() * garbage.length);
    const middle = pick(random, ['', '\u0000', '"', '{', '}', '\\', '\ufeff', garbage.slice(at, at + 20).repeat(2)]);
    garbage = garbage.slice(0, at) + middle + garbage.slice(at + Math.floor(random() * 10));
  }
  return garbage;
}
