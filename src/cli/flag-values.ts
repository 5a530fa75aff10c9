import { InvalidArgumentError } from 'commander';
import { parseDuration } from './terminal.ts';

/** Parsers of flag values. Each throws an error that names the flag and the value. */

/** Parses a duration to milliseconds. */
export function duration(text: string): number {
  const ms = parseDuration(text);
  if (ms !== undefined) return ms;
  throw new InvalidArgumentError('It must be a duration such as 90s, 10m or 1h30m.');
}

/** Parses an integer from `min`. */
export const integerFrom =
  (min: number, max = Number.MAX_SAFE_INTEGER) =>
  (text: string): number => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    const range = max === Number.MAX_SAFE_INTEGER ? `an integer from ${min}` : `an integer from ${min} to ${max}`;
    throw new InvalidArgumentError(`It must be ${range}.`);
  };

/** Parses a number from 0. */
export function nonNegative(text: string): number {
  if (text.trim() !== '' && Number(text) >= 0) return Number(text);
  throw new InvalidArgumentError('It must be a number from 0.');
}

/** Parses a list separated by commas. */
export function commaSeparated(text: string): readonly string[] {
  const parts = text.split(',').map((part) => part.trim());
  if (parts.every((part) => part !== '')) return parts;
  throw new InvalidArgumentError('It must be a list such as id,name,status.name.');
}

/** Collects the values of a repeatable flag. */
export const collect = (text: string, previous: readonly string[] = []): readonly string[] => [...previous, text];

/** Query parameters of a repeatable flag. */
export type QueryFlag = Readonly<Record<string, string | number>>;

/** Collects `name=value` pairs of a repeatable flag; values that are numbers become numbers. */
export function keyValue(text: string, previous: QueryFlag = {}): QueryFlag {
  const [, key, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (key === undefined || value === undefined) throw new InvalidArgumentError('It must be name=value.');
  return { ...previous, [key]: String(Number(value)) === value ? Number(value) : value };
}
