import type { Decode } from './decode.ts';

/**
 * The part of the Standard Schema interface (version 1) that checks a value. The schemas of zod, for example, implement
 * it.
 */
export interface StandardSchema<T> {
  /** Properties of the interface. See https://standardschema.dev. */
  readonly '~standard': {
    /** Version of the interface. */
    readonly version: 1;
    /** Name of the schema library, such as `zod`. */
    readonly vendor: string;
    /** Checks a value. Returns the converted value or its problems. */
    readonly validate: (value: unknown) => StandardResult<T> | Promise<StandardResult<T>>;
    /** Types of the schema, for the compiler only. */
    readonly types?:
      | {
          /** Type of the values to check. */
          readonly input: unknown;
          /** Type of the converted values. */
          readonly output: T;
        }
      | undefined;
  };
}

/** Result of a check with a {@link StandardSchema}. */
export type StandardResult<T> =
  | {
      /** The converted value. */
      readonly value: T;
      /** Not set for a valid value. */
      readonly issues?: undefined;
    }
  | {
      /** Problems of an invalid value. */
      readonly issues: readonly StandardIssue[];
    };

/** A problem of a checked value. */
export interface StandardIssue {
  /** Description of the problem. */
  readonly message: string;
  /** Keys from the value to its invalid part. Without a path, the value itself is invalid. */
  readonly path?:
    | readonly (
        | PropertyKey
        | {
            /** Name of a property, or index in an array. */
            readonly key: PropertyKey;
          }
      )[]
    | undefined;
}

/** Returns a decoder that checks `data` with a caller's schema. */
export function decodeWith<T>(schema: StandardSchema<T>): Decode<T> {
  return async (data, context) => {
    const result = await schema['~standard'].validate(data);
    if (!result.issues) return result.value;
    const problems = result.issues.map(({ path, message }) => {
      const field = (path ?? []).map((part) => String(typeof part === 'object' ? part.key : part)).join('.');
      return field ? `${field}: ${message}` : message;
    });
    throw context.fail(`\`data\` does not match the schema: ${problems.join('; ')}`);
  };
}
