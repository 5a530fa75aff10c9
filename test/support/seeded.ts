/** Returns a generator of random numbers in [0, 1) that depend only on the seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns the random numbers of a test. Prints the seed, so that `SEED=…` repeats a failure. */
export function seeded(
  name: string,
  seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31)),
): () => number {
  console.info(`${name}: SEED=${seed}`);
  return randomOf(seed);
}
