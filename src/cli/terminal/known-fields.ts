import document from '../../spec/generated/openapi.json' with { type: 'json' };
import type { OperationName } from '../../spec/operations.ts';
import { differByOneLetter, lettersOf } from '../../util/similar-names.ts';
import { usageError } from './exit-codes.ts';

/** A part of the OpenAPI document. */
type Part = Readonly<Record<string, unknown>>;

const isPart = (value: unknown): value is Part => typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Checks a path of `--fields`.
 *
 * @param value Object to print, if there is one. Its properties are fields.
 * @param operation Operation whose response the OpenAPI document describes.
 * @throws {CommandError} if neither the object nor the response has the field. The error suggests a similar field, or
 * lists all fields.
 */
export function checkField(path: string, value: unknown, operation: OperationName | undefined): void {
  const keys = path.split('.');
  let schema = operation && dataSchema(operation);
  let at = value;
  for (const [index, key] of keys.entries()) {
    const parent = keys.slice(0, index).join('.');
    const isIndex = /^\d+$/.test(key);
    if (Array.isArray(at) || schema?.type === 'array') {
      if (!isIndex) throw usageError(`--fields: ${parent} is an array. Name an element, such as ${parent}.0.${key}.`);
      schema = resolved(schema?.items);
      at = Array.isArray(at) ? at[Number(key)] : undefined;
      continue;
    }
    const documented = schema ? propertiesOf(schema) : {};
    const described = Object.keys(documented).filter((name) => index > 0 || !ASSUMED_FIELDS.includes(name));
    const isAbsent = at === null || at === undefined;
    if (isAbsent && described.length === 0 && !hasScalarType(schema)) return;
    const names = [...new Set([...(isPart(at) ? Object.keys(at) : []), ...Object.keys(documented)])];
    if (!names.includes(key)) throw unknownField(path, parent, key, names);
    schema = resolved(documented[key]);
    at = isPart(at) ? at[key] : undefined;
  }
}

function unknownField(path: string, parent: string, key: string, names: readonly string[]): Error {
  const near =
    names.find((name) => lettersOf(name) === lettersOf(key)) ?? names.find((name) => differByOneLetter(name, key));
  const prefix = parent === '' ? '' : `${parent}.`;
  const all = names.map((name) => `${prefix}${name}`).join(', ');
  const advice = near ? `Did you mean ${prefix}${near}?` : all === '' ? `${parent} has no fields.` : `Fields: ${all}`;
  return usageError(`--fields: there is no field ${path}. ${advice}`);
}

/** Fields of resources without specified fields, such as projects. These resources may have any other field. */
const ASSUMED_FIELDS: readonly string[] = ['id', 'status'];

const TYPES_WITH_FIELDS: readonly unknown[] = ['object', 'array'];

/** Returns whether the values of a schema have no fields. */
function hasScalarType(schema: Part | undefined): boolean {
  if (Array.isArray(schema?.anyOf)) return schema.anyOf.every((part) => hasScalarType(resolved(part)));
  return schema?.type !== undefined && ![schema.type].flat().some((type) => TYPES_WITH_FIELDS.includes(type));
}

/** Returns the schema of an object in the `data` of an operation. */
function dataSchema(operation: OperationName): Part | undefined {
  const operations = Object.values<Part>(document.paths).flatMap((item) => Object.values(item).filter(isPart));
  const match = operations.find(
    ({ operationId, 'x-operations': names }) =>
      operationId === operation || (Array.isArray(names) && names.includes(operation)),
  );
  const envelope = partAt(match, ['responses', '200', 'content', 'application/json', 'schema', 'properties', 'data']);
  const data = resolved(envelope);
  return data?.type === 'array' ? resolved(data.items) : data;
}

const partAt = (part: unknown, keys: readonly string[]): unknown =>
  keys.reduce((at, key) => (isPart(at) ? at[key] : undefined), part);

/** Returns a schema, or the schema to which it refers. */
function resolved(schema: unknown): Part | undefined {
  if (!isPart(schema)) return undefined;
  return typeof schema.$ref === 'string' ? resolved(partAt(document, schema.$ref.split('/').slice(1))) : schema;
}

const propertiesOf = ({ properties }: Part): Part => (isPart(properties) ? properties : {});
