const UNITS: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };

/**
 * Parses a duration such as `90s`, `10m`, `1h30m` or `250ms` to milliseconds. A number without a unit means seconds.
 */
export function parseDuration(text: string): number | undefined {
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text) * 1_000;
  if (!/^(?:\d+(?:\.\d+)?(?:ms|[dhms]))+$/.test(text)) return undefined;
  const parts = [...text.matchAll(/([\d.]+)(ms|[dhms])/g)];
  return parts.reduce((sum, [, value, unit = '']) => sum + Number(value) * (UNITS[unit] ?? 0), 0);
}
