import type { Company, UsageCounts } from './state.ts';

/** Returns the month of a time, as `yearmonth` of a usage report. */
export const monthOf = (time: number): string => new Date(time).toISOString().slice(0, 7);

/** Counts in the usage report of the month. */
export function countUsage({ usage }: Company, now: number, name: keyof UsageCounts, amount = 1): void {
  const month = monthOf(now);
  const counts = usage.get(month) ?? {};
  counts[name] = (counts[name] ?? 0) + amount;
  usage.set(month, counts);
}
