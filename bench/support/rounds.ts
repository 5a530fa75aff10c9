export const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

/** Measures contenders in turn, after a warm-up round; returns the values of each by its name. */
export async function valuesOfRounds<T>(
  contenders: Readonly<Record<string, T>>,
  rounds: number,
  measure: (contender: T) => Promise<number>,
): Promise<Map<string, readonly number[]>> {
  const values = new Map(Object.keys(contenders).map((name) => [name, [] as number[]]));
  for (let round = 0; round <= rounds; round++) {
    for (const [name, contender] of Object.entries(contenders)) {
      const value = await measure(contender);
      if (round > 0) values.get(name)?.push(value);
    }
  }
  return values;
}

/** Returns the median of the {@link valuesOfRounds} of each contender. */
export async function medianOfRounds<T>(...rounds: Parameters<typeof valuesOfRounds<T>>): Promise<Map<string, number>> {
  const values = await valuesOfRounds(...rounds);
  return new Map([...values].map(([name, measured]) => [name, median(measured)]));
}

/**
 * Returns the median of the ratios of two values of the same round, and the range of the ratios without the lowest and
 * the highest tenth. A slow round hardly changes these.
 */
export function ratioWithRange(values: readonly number[], others: readonly number[]): string {
  const ratios = values.map((value, round) => value / (others[round] ?? 0)).sort((a, b) => a - b);
  const tenth = Math.floor(ratios.length / 10);
  const [low, high] = [ratios[tenth] ?? 0, ratios.at(-1 - tenth) ?? 0];
  return `${median(ratios).toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})`;
}

/** Returns the CPU microseconds of this process per call, with `concurrency` calls at a time. */
export async function cpuOf(call: () => unknown, calls: number, concurrency = 1): Promise<number> {
  let started = 0;
  const callRepeatedly = async (): Promise<void> => {
    while (started++ < calls) await call();
  };
  const before = process.cpuUsage();
  await Promise.all(Array.from({ length: concurrency }, callRepeatedly));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / calls;
}
