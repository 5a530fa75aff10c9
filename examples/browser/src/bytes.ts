const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const;

/** Formats a size in the unit that suits it. Units are binary, as the service's limits are: 1 GB is 2^30 bytes. */
export function formatBytes(bytes: number): string {
  const power = UNITS.findLastIndex((_, index) => index === 0 || bytes >= 1024 ** index);
  const unitDisplay = power === 0 ? 'long' : 'short';
  const format = new Intl.NumberFormat(undefined, {
    style: 'unit',
    unit: UNITS[power],
    unitDisplay,
    maximumFractionDigits: 1,
  });
  return format.format(bytes / 1024 ** power);
}
