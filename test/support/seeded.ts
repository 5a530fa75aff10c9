/** Random numbers from 0 to 1 that a seed decides (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Random numbers of a test; the seed is printed so that a failure can be repeated. */
export function seeded(
  name: string,
  seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31)),
): () => number {
  console.info(`${name}: SEED=${seed}`);
  return randomOf(seed);
}

/** How much a random test does: the short form with `npm test`, the full one with `npm run test:soak`. */
export const amount = (short: number, full: number): number => (process.env.SOAK === '1' ? full : short);
