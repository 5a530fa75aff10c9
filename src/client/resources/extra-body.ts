import type { FieldErrors } from '../../errors/error-details.ts';
import type { JsonObject } from '../../spec/wire-values.ts';
import { promiseProblem } from '../../util/input-checks.ts';
import { isObject } from '../../util/json.ts';

/** Returns a body with the fields of `extraBody` added. */
export const withExtraBody = (body: unknown, extraBody: JsonObject): unknown => ({ ...Object(body), ...extraBody });

/** Returns the errors of an `extraBody`, such as a field that the body also has. */
export function extraBodyErrors(body: unknown, extraBody: JsonObject | undefined): FieldErrors {
  if (extraBody === undefined) return {};
  if (!isObject(extraBody) || promiseProblem(extraBody)) {
    return { extraBody: [promiseProblem(extraBody) ?? 'must be an object of fields to add to the body.'] };
  }
  // Other bodies, such as objects with a `toJSON` method, would lose fields when merged.
  if (!isObject(body) || promiseProblem(body) || 'toJSON' in body) {
    return { body: [promiseProblem(body) ?? 'must be an object of plain fields if you pass `extraBody`.'] };
  }
  const repeated = Object.keys(extraBody).filter((name) => body[name] !== undefined);
  return repeated.length === 0
    ? {}
    : { extraBody: [`must not set fields that the body also has (${repeated.join(', ')}).`] };
}
