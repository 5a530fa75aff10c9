import type { Decode } from '../http/index.ts';

/** The part of the Standard Schema interface (version 1) needed to check a value; zod's schemas implement it. */
export interface StandardSchema<T> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<T> | Promise<StandardResult<T>>;
    readonly types?: { readonly input: unknown; readonly output: T } | undefined;
  };
}

/** Result of a check by a {@link StandardSchema}. */
export type StandardResult<T> =
  | { readonly value: T; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** One problem of a checked value. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** Returns a decoder that checks `data` by a caller's schema. */
export function decodeWith<T>(schema: StandardSchema<T>): Decode<T> {
  return async (data, context) => {
    const result = await schema['~standard'].validate(data);
    if (!result.issues) return result.value;
    const problems = result.issues.map(({ path, message }) => {
      const field = (path ?? []).map((part) => String(typeof part === 'object' ? part.key : part)).join('.');
      return field ? `${field}: ${message}` : message;
    });
    throw context.fail(`\`data\` does not fit the schema: ${problems.join('; ')}`);
  };
}
