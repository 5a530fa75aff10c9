import type { FieldErrors } from '../errors/error-details.ts';
import { isObject, type JsonObject } from '../util/json.ts';

/** Returns a body with the fields of `extraBody` added. */
export const withExtraBody = (body: unknown, extraBody: JsonObject): unknown => ({ ...Object(body), ...extraBody });

/** Returns the errors of an `extraBody`: a field that the body sets, too, would have two values. */
export function extraBodyErrors(body: unknown, extraBody: JsonObject): FieldErrors {
  if (!isObject(extraBody)) return { extraBody: ['must be an object of fields to add to the body.'] };
  const fields = isObject(body) ? body : {};
  const repeated = Object.keys(extraBody).filter((name) => fields[name] !== undefined);
  return repeated.length === 0 ? {} : { extraBody: [`must not set ${repeated.join(', ')}: the body sets it.`] };
}
