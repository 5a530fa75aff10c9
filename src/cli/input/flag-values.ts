import { InvalidArgumentError } from 'commander';
import { parseDuration } from '../../util/duration.ts';

/** Parses a duration, such as `90s`, to milliseconds. */
export function duration(text: string): number {
  const ms = parseDuration(text);
  if (ms !== undefined) return ms;
  throw new InvalidArgumentError('Pass a duration such as 90s, 10m or 1h30m.');
}

/** Maximum duration of a timer in days, rounded down. */
const MAX_DAYS = 24;

/** Parses a duration that a timer supports to milliseconds. */
export function timeLimit(text: string): number {
  const ms = duration(text);
  if (ms > 0 && ms <= MAX_DAYS * 86_400_000) return ms;
  throw new InvalidArgumentError(`The duration must be longer than 0, and at most ${MAX_DAYS} days.`);
}

/** Maximum time without data that Node's own `fetch` allows, in minutes. */
const MAX_REQUEST_MINUTES = 5;

/** Parses the timeout of an attempt to milliseconds. */
export function requestTimeLimit(text: string): number {
  const ms = timeLimit(text);
  if (ms <= MAX_REQUEST_MINUTES * 60_000) return ms;
  throw new InvalidArgumentError(
    `The duration must be at most ${MAX_REQUEST_MINUTES}m: Node ends a request after ${MAX_REQUEST_MINUTES} minutes without a response.`,
  );
}

/** Parses an integer from `min` to `max`. */
export const integerFrom =
  (min: number, max = Number.MAX_SAFE_INTEGER) =>
  (text: string): number => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    const range = max === Number.MAX_SAFE_INTEGER ? `an integer of ${min} or more` : `an integer from ${min} to ${max}`;
    throw new InvalidArgumentError(`Pass ${range}.`);
  };

/** Parses an idempotency key, which a header must be able to contain. */
export function idempotencyKey(text: string): string {
  if (/^(?! )[\x20-\x7e]{1,255}(?<! )$/.test(text)) return text;
  throw new InvalidArgumentError('Pass 1 to 255 ASCII characters, without leading or trailing spaces.');
}

/** Parses a number of 0 or more. */
export function nonNegative(text: string): number {
  if (text.trim() !== '' && Number(text) >= 0) return Number(text);
  throw new InvalidArgumentError('Pass a number of 0 or more.');
}

/** Parses a list separated by commas. */
export function commaSeparated(text: string): readonly string[] {
  const parts = text.split(',').map((part) => part.trim());
  if (parts.every((part) => part !== '')) return parts;
  throw new InvalidArgumentError('Pass a list separated by commas, without empty elements.');
}

/** Parses paths of fields. Converts `datastreams[0].name` to `datastreams.0.name`. */
export const fieldPaths = (text: string): readonly string[] =>
  commaSeparated(text).map((path) => path.replace(/\[(\d+)\]/g, '.$1'));

export const collect = (text: string, previous: readonly string[] = []): readonly string[] => [...previous, text];

/** Query parameters of a repeatable flag. */
export type QueryFlag = Readonly<Record<string, string | number>>;

/** Collects `name=value` pairs of a repeatable flag. Converts numeric values to numbers. */
export function keyValue(text: string, previous: QueryFlag = {}): QueryFlag {
  const [, key, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (key === undefined || value === undefined) throw new InvalidArgumentError('Pass the parameter as name=value.');
  return { ...previous, [key]: String(Number(value)) === value ? Number(value) : value };
}
