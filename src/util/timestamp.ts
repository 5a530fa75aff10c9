import { ConfigurationError } from '../errors/audience-error.ts';

const TIMESTAMP = /^(\d{4})-(\d{2})-(\d{2}) (\d{2}):(\d{2}):(\d{2})$/;

/** Whether a name is a time zone this runtime knows. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** How far a zone's wall clock is ahead of UTC at a moment, in milliseconds. */
function offsetAt(moment: number, timeZone: string): number {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  const part = Object.fromEntries(format.formatToParts(moment).map(({ type, value }) => [type, Number(value)]));
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(moment / 1000) * 1000;
}

/**
 * The moment of a timestamp inside a resource, `Y-m-d H:i:s` ("Response envelope"). The
 * specification names no zone: UTC is assumed. A time that a zone's clock shows twice is the
 * earlier one.
 *
 * @returns `undefined` for a text of another form, and for a date that does not exist.
 * @example
 * parseTimestamp('2026-11-20 10:00:00'); // 2026-11-20T10:00:00Z
 */
export function parseTimestamp(text: string, timeZone = 'UTC'): Date | undefined {
  if (!isTimeZone(timeZone))
    throw new ConfigurationError(`"${timeZone}" is no time zone: use a name such as "Europe/Berlin".`);
  const match = TIMESTAMP.exec(text);
  if (!match) return undefined;
  const wall = Date.parse(`${text.replace(' ', 'T')}Z`);
  // `Date.parse` rolls 30 February over in some runtimes; a timestamp that changes is none.
  if (Number.isNaN(wall) || !new Date(wall).toISOString().startsWith(text.replace(' ', 'T'))) return undefined;
  if (timeZone === 'UTC') return new Date(wall);
  const before = wall - offsetAt(wall - 86_400_000, timeZone);
  const after = wall - offsetAt(wall + 86_400_000, timeZone);
  const moment = before + offsetAt(before, timeZone) === wall ? before : after;
  return new Date(moment);
}
