import * as z from 'zod/mini';
import { ConfigurationError } from '../errors/audience-error.ts';
import { unknownOption } from './input-checks.ts';

/** The fields of an option object: a schema for each name. */
export type OptionFields<Options> = { readonly [Name in keyof Options]-?: z.ZodMiniType };

/** Checks an option object and returns it unchanged. `of` names the owner of the options in errors. */
export type CheckOptions<Options> = (options: Options, of?: string) => Options;

/** Allows an option to be left out. */
export const optional = (schema: z.ZodMiniType): z.ZodMiniType => z.optional(schema);

/** Any value; it is checked where it is used. */
export const anyOption = optional(z.unknown());

/** A number of 0 or more, such as a duration in milliseconds. `Infinity` is allowed. */
export const nonNegative = optionOf(
  (value) => typeof value === 'number' && value >= 0,
  'must be a number of 0 or more',
);

/** A function. */
export const functionOption = optionOf((value) => typeof value === 'function', 'must be a function');

/** `true` or `false`. */
export const booleanOption = optionOf((value) => typeof value === 'boolean', 'must be true or false');

/** A string. */
export const stringOption = optionOf((value) => typeof value === 'string', 'must be a string');

/** A required string that is not blank. */
export const requiredString = requiredOption(
  (value) => typeof value === 'string' && value.trim() !== '',
  'must be a non-empty string',
);

/** An `AbortSignal`, also one of another realm. */
export const signalOption = optionOf(
  (value) => 'throwIfAborted' in Object(value),
  'must be an AbortSignal, such as that of an AbortController',
);

/** One of several strings. */
export const choice = (...values: readonly string[]): z.ZodMiniType => optional(requiredChoice(...values));

/** As {@link choice}, for an option that must be set. */
export function requiredChoice(...values: readonly string[]): z.ZodMiniType {
  const last = values.at(-1);
  const message = `must be ${values.slice(0, -1).join(', ')} or ${last}`;
  return requiredOption((value) => typeof value === 'string' && values.includes(value), message);
}

/** An optional value that `isValid` accepts; `message` follows the option's name in the error. */
export function optionOf(isValid: (value: unknown) => boolean, message: string): z.ZodMiniType {
  return optional(requiredOption(isValid, message));
}

/** As {@link optionOf}, for an option that must be set. */
export function requiredOption(isValid: (value: unknown) => boolean, message: string): z.ZodMiniType {
  return z.custom(isValid, { error: message });
}

/** A required integer from `min` to `max`, both inclusive. */
export function integer(min: number, max = Number.POSITIVE_INFINITY): z.ZodMiniType {
  const isValid = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= min && Number(value) <= max;
  return requiredOption(isValid, `must be an integer of ${max === Infinity ? `${min} or more` : `${min} to ${max}`}`);
}

/** An option that is an object of options. */
export function nestedOptions<Options>(fields: OptionFields<Options>, message = 'must be an object'): z.ZodMiniType {
  return optional(z.strictObject(fields, { error: message }));
}

/**
 * Returns a function that checks an option object. It refuses unknown names, because a misspelled option would have no
 * effect.
 *
 * @param of Owner of the options, as named in errors, such as `the client`.
 * @throws {ConfigurationError} naming the option that is wrong.
 */
export function optionChecker<Options extends object>(
  of: string,
  fields: OptionFields<Options>,
): CheckOptions<Options> {
  const schema = z.strictObject(fields);
  return (options, owner = of) => {
    const issue = schema.safeParse(options, { jitless: true }).error?.issues[0];
    if (issue) throw new ConfigurationError(messageOf(issue, owner, Object.keys(fields)));
    return options;
  };
}

function messageOf(issue: z.core.$ZodIssue, of: string, names: readonly string[]): string {
  const path = issue.path.join('.');
  if (issue.code !== 'unrecognized_keys') {
    return path === '' ? `The options of ${of} must be an object.` : `\`${path}\` ${issue.message}.`;
  }
  const [name = ''] = issue.keys;
  return path === '' ? unknownOption(name, of, names) : `\`${path}.${name}\` is not an option of ${of}.`;
}
