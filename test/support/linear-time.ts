import { expect } from 'vitest';

/** Ratio of the two sizes that are compared. */
const FACTOR = 16;

/** Maximum ratio of the two times: linear work takes 16 times as long for the larger size, quadratic work 256 times. */
const MAX_GROWTH = 64;

/** Processor time that is spent on measurements before work counts as slow. Milliseconds. */
const MAX_SPENT_MS = 4_000;

/** Shortest time that the clock can measure. Milliseconds. */
const MIN_MS = 0.02;

/** Returns the milliseconds of processor time that `work` takes. */
async function cpuTime(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return Math.max(MIN_MS, (user + system) / 1_000);
}

/**
 * Checks that work takes processor time in proportion to its input, which `prepare` creates in two sizes: `size`, and a
 * sixteenth of it. Compares the shortest times. Other processes, the compiler and the garbage collector can only add to a
 * time, so work that seems slow is measured again.
 */
export async function expectLinearTime(prepare: (size: number) => () => unknown, size: number): Promise<void> {
  const [small, large] = [prepare(size / FACTOR), prepare(size)];
  let [shortest, longest, spent] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 0];
  while (spent < MAX_SPENT_MS) {
    // First, because it also warms the compiler up.
    const time = await cpuTime(large);
    longest = Math.min(longest, time);
    for (let run = 0; run < 3; run++) shortest = Math.min(shortest, await cpuTime(small));
    if (longest / shortest <= MAX_GROWTH) return;
    spent += time;
  }
  const [slow, fast] = [longest.toFixed(1), shortest.toFixed(2)];
  expect.fail(`It takes ${slow} ms for a size of ${size}, and ${fast} ms for a sixteenth of it.`);
}
