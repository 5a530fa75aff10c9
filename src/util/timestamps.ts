import { ConfigurationError } from '../errors/audience-error.ts';

const TIMESTAMP = /^(\d{4})-(\d{2})-(\d{2}) (\d{2}):(\d{2}):(\d{2})$/;

/** Returns whether this runtime knows a time zone. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** Returns the offset of a time zone from UTC at a moment, in milliseconds. */
function offsetAt(moment: number, timeZone: string): number {
  // Ends like "GMT+01:00"; local mean times of the past have seconds, too, and UTC is "GMT" only.
  const text = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' }).format(moment);
  const [, sign, hours, minutes, seconds = 0] = /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?$/.exec(text) ?? [];
  if (sign === undefined) return 0;
  return (sign === '-' ? -1000 : 1000) * (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds));
}

/**
 * Parses a timestamp of a resource, `Y-m-d H:i:s` ("Response envelope"). The specification names no time zone: UTC is
 * assumed. A time that a clock change makes ambiguous is the earlier one.
 *
 * @returns `undefined` for a string of another format, and for a date that does not exist.
 * @throws {ConfigurationError} for an unknown time zone.
 * @example
 * parseTimestamp('2026-11-20 10:00:00'); // 2026-11-20T10:00:00Z
 */
export function parseTimestamp(text: string, timeZone = 'UTC'): Date | undefined {
  if (!isTimeZone(timeZone))
    throw new ConfigurationError(`"${timeZone}" is not a time zone. Use a name such as "Europe/Berlin".`);
  const match = TIMESTAMP.exec(text);
  if (!match) return undefined;
  const wall = Date.parse(`${text.replace(' ', 'T')}Z`);
  // `Date.parse` rolls 30 February over in some runtimes.
  if (Number.isNaN(wall) || !new Date(wall).toISOString().startsWith(text.replace(' ', 'T'))) return undefined;
  if (timeZone === 'UTC') return new Date(wall);
  const before = wall - offsetAt(wall - 86_400_000, timeZone);
  const after = wall - offsetAt(wall + 86_400_000, timeZone);
  const moment = before + offsetAt(before, timeZone) === wall ? before : after;
  return new Date(moment);
}

/**
 * Returns whether one state of a resource is older than another, by their `updated_at`. The service's format is read as UTC;
 * dates, milliseconds and ISO strings are accepted as well. Without two times it is `false`.
 */
export const isOlder = (state: unknown, other: unknown): boolean => updatedAt(state) < updatedAt(other);

/** Returns milliseconds; `NaN`, which compares as false, without a time. */
function updatedAt(resource: unknown): number {
  const time: unknown = Object(resource).updated_at;
  if (typeof time === 'string') return Date.parse(TIMESTAMP.test(time) ? `${time.replace(' ', 'T')}Z` : time);
  return time instanceof Date || typeof time === 'number' ? Number(time) : Number.NaN;
}
