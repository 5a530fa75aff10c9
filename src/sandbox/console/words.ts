/** Removes the characters that change the text direction, for places that cannot isolate a text. */
export const withoutOverrides = (text: string): string => text.replaceAll(/[\u202A-\u202E\u2066-\u2069]/g, '');

/** Escapes the characters that change the text direction in code, as JSON and TypeScript do. */
export const withEscapes = (code: string): string =>
  code.replaceAll(
    /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g,
    (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Returns a date in words, in UTC. Omits the year if it is the year of `now`. */
export function dateText(time: number, now?: number): string {
  const date = new Date(time);
  const year = date.getUTCFullYear();
  const isSame = now !== undefined && new Date(now).getUTCFullYear() === year;
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}${isSame ? '' : ` ${year}`}`;
}

/** Returns a time of day in UTC, truncated to seconds or to the given number of characters. */
export const clockText = (time: number, digits = 8): string => new Date(time).toISOString().slice(11, 11 + digits);

/** Parses a time of the service, such as `2026-06-15 09:30:00`. Returns milliseconds; `undefined` if there is no time. */
export const serviceTime = (value: unknown): number | undefined =>
  typeof value === 'string' ? Date.parse(`${value.replace(' ', 'T')}Z`) : undefined;

const UNITS: readonly (readonly [unit: string, ms: number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
];

export function durationText(ms: number): string {
  const seconds = Math.round(ms / 1000) * 1000;
  const index = UNITS.findIndex(([, size]) => seconds >= size);
  if (index < 0) return '0 s';
  let rest = seconds;
  return UNITS.slice(index, index + 2)
    .map(([unit, size]) => {
      const count = Math.floor(rest / size);
      rest -= count * size;
      return count > 0 ? `${count} ${unit}` : '';
    })
    .filter(Boolean)
    .join(' ');
}

export function relativeText(ms: number): string {
  if (Math.abs(ms) < 1_000) return 'now';
  return ms < 0 ? `${durationText(-ms)} ago` : `in ${durationText(ms)}`;
}

export function keptText(things: string, kept: number, total: number): string {
  if (kept === total) return '';
  if (kept === 0) return `The earlier ${things} are not kept.`;
  return `Only the last ${kept === 1 ? '' : `${count(kept)} `}of ${count(total)} ${things} ${kept === 1 ? 'is' : 'are'} kept.`;
}

export const momentText = (time: number): string => `${dateText(time, time)}, ${clockText(time)}`;

export const capital = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

export const sentence = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);

export const count = (value: number): string => value.toLocaleString('en-US');

export const counted = (value: number, one: string, several = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : several}`;

/** Counts equal texts, such as "18 completed, 1 failed". */
export const tally = (texts: readonly string[]): string =>
  [...Map.groupBy(texts, (text) => text)].map(([text, same]) => `${count(same.length)} ${text}`).join(', ');

/** Returns an address of the console with the account filter, unless it sets another one. */
export function withAccount(href: string, account: string | null): string {
  if (!account || /[?&;]account=/.test(href)) return href;
  return href.replace(/[?#]|$/, (mark) => `?account=${encodeURIComponent(account)}${mark === '?' ? '&' : mark}`);
}
