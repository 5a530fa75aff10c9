import { ConfigurationError, check } from '../errors/audience-error.ts';
import { formatValue, unknownOption } from './input-checks.ts';
import { isObject, jsonTypeOf } from './json.ts';

/**
 * Checks the value of an option.
 *
 * @param path Name of the option, after the names of the options that contain it.
 * @param of Owner of the options, as named in errors.
 * @throws {ConfigurationError} for an invalid value.
 */
export type OptionCheck = (value: unknown, path: string, of: string) => void;

/** The fields of an option object: a check for each name. */
export type OptionFields<Options> = { readonly [Name in keyof Options]-?: OptionCheck };

/** Checks an option object, and returns it unchanged. `of` is the owner of the options, as named in errors. */
export type CheckOptions<Options> = (options: Options, of?: string) => Options;

export const optional =
  (check: OptionCheck): OptionCheck =>
  (value, path, of) =>
    value === undefined ? undefined : check(value, path, of);

export const anyOption: OptionCheck = () => {};

/** Checks a number of 0 or more, such as a duration in milliseconds. Allows `Infinity`. */
export const nonNegative = optional(
  requiredNumber((value) => typeof value === 'number' && value >= 0, 'must be a number of 0 or more'),
);

export const functionOption = optionOf((value) => typeof value === 'function', 'must be a function');

export const booleanOption = optional(requiredValue((value) => typeof value === 'boolean', 'must be true or false'));

export const stringOption = optionOf((value) => typeof value === 'string', 'must be a string');

/** Checks a required string that is not blank. */
export const requiredString = requiredValue(
  (value) => typeof value === 'string' && value.trim() !== '',
  'must be a non-empty string',
);

/** Checks an `AbortSignal`, including signals of another realm. */
export const signalOption = optionOf(
  (value) => 'throwIfAborted' in Object(value),
  'must be an AbortSignal, such as the `signal` of an AbortController',
);

export const choice = (...values: readonly string[]): OptionCheck => optional(requiredChoice(...values));

export function requiredChoice(...values: readonly string[]): OptionCheck {
  const last = values.at(-1);
  const message = `must be ${values.slice(0, -1).join(', ')} or ${last}`;
  return requiredValue((value) => typeof value === 'string' && values.includes(value), message);
}

/**
 * Checks an optional value with `isValid`. `message` follows the option's name in the error. The error does not contain
 * the value, which may be a secret, but names its type.
 */
export function optionOf(isValid: (value: unknown) => boolean, message: string): OptionCheck {
  return optional((value, path) => {
    const type = isObject(value) ? '' : `, but is ${jsonTypeOf(value)}`;
    check(isValid(value), `\`${path}\` ${message}${type}.`);
  });
}

/** Checks an optional value, as `optionOf` does, but the error contains the value. */
export const valueOption = (isValid: (value: unknown) => boolean, message: string): OptionCheck =>
  optional(requiredValue(isValid, message));

function requiredValue(isValid: (value: unknown) => boolean, message: string): OptionCheck {
  return (value, path) => check(isValid(value), `\`${path}\` ${message}, not ${formatValue(value)}.`);
}

/** Returns a check of a number. For a value such as `30s`, the error contains the unit of the option. */
function requiredNumber(isValid: (value: unknown) => boolean, message: string): OptionCheck {
  return (value, path) => {
    const unit = typeof value === 'string' && DURATION.test(value) ? ': durations are in milliseconds' : '';
    check(isValid(value), `\`${path}\` ${message}, not ${formatValue(value)}${unit}.`);
  };
}

const DURATION = /^\d+ ?(?:ms|s|m|min|h)$/;

/** Returns a check of a required integer from `min` to `max`, both inclusive. */
export function integer(min: number, max = Number.POSITIVE_INFINITY): OptionCheck {
  const isValid = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= min && Number(value) <= max;
  return requiredNumber(isValid, `must be an integer of ${max === Infinity ? `${min} or more` : `${min} to ${max}`}`);
}

/** Returns a check of an option that is an object of options. */
export const nestedOptions = <Options>(fields: OptionFields<Options>): OptionCheck =>
  optional((value, path, of) => checkFields(value, fields, of, path));

/**
 * Returns a function that checks an option object. It refuses unknown names, because a misspelled option would have no
 * effect.
 *
 * @param of Owner of the options, as named in errors, such as `the client`.
 * @throws {ConfigurationError} for an unknown name or an invalid value.
 */
export function optionChecker<Options extends object>(
  of: string,
  fields: OptionFields<Options>,
): CheckOptions<Options> {
  return (options, owner = of) => {
    checkFields(options, fields, owner);
    return options;
  };
}

/** Checks the options at a path, or the options of the owner if there is no path. */
function checkFields(options: unknown, fields: Readonly<Record<string, OptionCheck>>, of: string, path?: string): void {
  const prefix = path === undefined ? '' : `${path}.`;
  if (!isObject(options)) {
    throw new ConfigurationError(
      path === undefined
        ? `The options of ${of} must be an object.`
        : `\`${path}\` must be an object, but is ${jsonTypeOf(options)}.`,
    );
  }
  const names = Object.keys(fields);
  for (const name of names) fields[name]?.(options[name], prefix + name, of);
  const unknown = Object.keys(options).find((name) => !names.includes(name));
  if (unknown !== undefined) throw new ConfigurationError(unknownOption(unknown, of, names, prefix));
}
