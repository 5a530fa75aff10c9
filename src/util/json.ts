import type { JsonObject } from '../spec/wire-values.ts';

/** Returns whether a value is a JSON object: neither an array nor `null`. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Parses a JSON string. Returns `undefined` for any other string. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the value at a path such as `['data', 'items']` within a value, or `undefined`. */
export function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce(
    (at, key) => (Array.isArray(at) ? at[Number(key)] : isObject(at) ? at[String(key)] : undefined),
    value,
  );
}

/** Returns the strings in an array, or an empty array for any other value. */
export function stringsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === 'string') : [];
}

/** Describes a value in a message by its JSON type, such as "an array", because its content may be a secret. */
export function jsonTypeOf(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** Converts the fields with the names in `flags` from `1` or `0` to booleans. */
export function normalizeFlags(resource: object, flags: readonly string[]): void {
  for (const flag of flags) {
    const value: unknown = Reflect.get(resource, flag);
    if (value === 1 || value === 0) Reflect.set(resource, flag, value === 1);
  }
}
