import { ConfigurationError } from '../errors/audience-error.ts';

const TIMESTAMP = /^(\d{4})-(\d{2})-(\d{2}) (\d{2}):(\d{2}):(\d{2})$/;

export function isTimeZone(name: string): boolean {
  // Avoid `Intl.DateTimeFormat` for UTC: the first instance of a process takes ten milliseconds.
  if (name === 'UTC') return true;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** Returns the offset of a time zone from UTC at a moment, in milliseconds. */
function offsetAt(moment: number, timeZone: string): number {
  // The text ends with an offset such as "GMT+01:00", or "GMT-00:01:15" for local mean times of the past, or with
  // "GMT".
  const text = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' }).format(moment);
  const [, sign, hours, minutes, seconds = 0] = /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?$/.exec(text) ?? [];
  if (sign === undefined) return 0;
  return (sign === '-' ? -1000 : 1000) * (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds));
}

/**
 * Parses a timestamp of a resource, `Y-m-d H:i:s` (specification, "Response envelope"), in UTC by default: the
 * specification names no time zone. If a local time occurs twice (when daylight saving time ends), returns the earlier one.
 *
 * @returns `undefined` for another format, and for a date that does not exist.
 * @throws {ConfigurationError} for an unknown time zone.
 * @example
 * parseTimestamp('2026-11-20 10:00:00'); // 2026-11-20T10:00:00Z
 */
export function parseTimestamp(text: string, timeZone = 'UTC'): Date | undefined {
  if (!isTimeZone(timeZone))
    throw new ConfigurationError(`"${timeZone}" is not a time zone.`, {
      advice: 'Use a name such as "Europe/Berlin".',
    });
  const match = TIMESTAMP.exec(text);
  if (!match) return undefined;
  const wall = Date.parse(`${text.replace(' ', 'T')}Z`);
  // Compare the text, because some runtimes parse 30 February as a day in March.
  if (Number.isNaN(wall) || !new Date(wall).toISOString().startsWith(text.replace(' ', 'T'))) return undefined;
  if (timeZone === 'UTC') return new Date(wall);
  const before = wall - offsetAt(wall - 86_400_000, timeZone);
  const after = wall - offsetAt(wall + 86_400_000, timeZone);
  const moment = before + offsetAt(before, timeZone) === wall ? before : after;
  return new Date(moment);
}

/**
 * Returns whether one state of a resource is older than another, by `updated_at`: a string in the service's format
 * (read as UTC) or in another date format, a `Date`, or milliseconds since 1970. Returns `false` if either `updated_at`
 * is missing or invalid.
 */
export const isOlder = (state: unknown, other: unknown): boolean => updatedAt(state) < updatedAt(other);

/** Returns `updated_at` in milliseconds since 1970. Without it, returns `NaN`, for which every comparison is false. */
export function updatedAt(resource: unknown): number {
  const time: unknown = Object(resource).updated_at;
  if (typeof time === 'string') return Date.parse(TIMESTAMP.test(time) ? `${time.replace(' ', 'T')}Z` : time);
  return time instanceof Date || typeof time === 'number' ? Number(time) : Number.NaN;
}
