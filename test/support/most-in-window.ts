/** Returns the maximum number of times, in any order, that are less than `interval` apart. */
export function mostInWindow(times: readonly number[], interval: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  let from = 0;
  let most = 0;
  for (const [at, time] of sorted.entries()) {
    while (time - (sorted[from] ?? time) >= interval) from++;
    most = Math.max(most, at - from + 1);
  }
  return most;
}
