import type { Envelope, JsonObject } from '../../spec/wire-values.ts';
import { numberProblem } from '../../util/input-checks.ts';
import { isObject, jsonTypeOf, normalizeFlags, valueAt } from '../../util/json.ts';

import type { ResourceSchema } from './shared-schemas.ts';

/** Converts the `data` of an envelope to the payload. */
export type Decode<T> = (data: unknown, context: DecodeContext) => T | Promise<T>;

/** The parts of a call that the decoder of its response needs. */
export interface DecodeContext {
  /** The envelope, for decoders that also use other fields of the envelope. */
  readonly envelope: Envelope;
  /** `strict` throws for each field that differs from the documentation. */
  readonly validation: 'lenient' | 'strict';
  /** Returns the error for a payload that cannot be decoded. */
  fail(problem: string): Error;
  /** Logs that a field differs from the documentation, once per field and kind of resource. */
  warn(kind: string, field: string, problem: string): void;
}

/** Fields that must match the documentation in both validation modes, because waits and calls need them. */
const REQUIRED_FIELDS: ReadonlySet<string> = new Set(['', 'id', 'status', 'status.id']);

/** Fields that a list row must have. With the id, the client can read the other fields. */
const REQUIRED_ROW_FIELDS: ReadonlySet<string> = new Set(['', 'id']);

interface Issue {
  readonly path: readonly PropertyKey[];
  /** The documented type, if the value has another type. */
  readonly expected?: string;
}

/** Names of types in messages that differ from zod's names. */
const TYPE_NAMES: Readonly<Record<string, string>> = {
  int: 'an integer',
  array: 'an array',
  object: 'an object',
};

/** Describes a differing field without its value, which may be a secret. */
function describeIssue(value: unknown, { path, expected }: Issue): string {
  if (numberProblem(valueAt(value, path)) !== undefined) return 'is beyond 2^53-1, so JavaScript may have rounded it';
  if (expected === undefined) return 'is not in the documented format';
  return `is ${jsonTypeOf(valueAt(value, path))}, but must be ${TYPE_NAMES[expected] ?? `a ${expected}`}`;
}

/** Returns how a value differs from the schema of a resource. */
function issuesOf(value: unknown, { schema }: ResourceSchema<unknown>): readonly Issue[] {
  schema.built ??= schema.build();
  return schema.built.safeParse(truncateArrays(value)).error?.issues ?? [];
}

/** Maximum number of elements to check in an array of a resource. */
const MAX_CHECKED_ELEMENTS = 1_000;

/** Returns a value with its array fields truncated to `MAX_CHECKED_ELEMENTS`. */
function truncateArrays(value: unknown): unknown {
  const cut: Record<string, unknown> = {};
  for (const [key, field] of Object.entries(Object(value))) {
    if (Array.isArray(field) && field.length > MAX_CHECKED_ELEMENTS) cut[key] = field.slice(0, MAX_CHECKED_ELEMENTS);
  }
  return Object.keys(cut).length === 0 ? value : { ...Object(value), ...cut };
}

/** Returns a copy of a response object with its flags converted to booleans. */
function normalize(wire: object, { flags = [] }: ResourceSchema<unknown>): JsonObject {
  const normalized: Record<string, unknown> = { ...wire };
  normalizeFlags(normalized, flags);
  return normalized;
}

function isRequired(
  path: readonly PropertyKey[],
  { required }: ResourceSchema<unknown>,
  fields: ReadonlySet<string>,
): boolean {
  const field = path.map(String).join('.');
  return fields.has(field) || (required?.includes(field) ?? false);
}

/**
 * Decodes one object. Throws if a required field differs or, in strict mode, if any field differs. Otherwise logs the
 * difference and keeps the field.
 */
function decodeObject<T>(
  value: unknown,
  resource: ResourceSchema<T>,
  context: DecodeContext,
  required: ReadonlySet<string>,
): T {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw context.fail(`\`data\` is ${jsonTypeOf(value)}, but must be an object`);
  }
  const normalized = normalize(value, resource);
  for (const issue of issuesOf(normalized, resource)) {
    const problem = describeIssue(normalized, issue);
    if (context.validation === 'strict' || isRequired(issue.path, resource, required)) {
      throw context.fail(`\`data\` is not as documented: \`${issue.path.map(String).join('.')}\` ${problem}`);
    }
    const field = issue.path.map((key) => (typeof key === 'number' ? '*' : String(key))).join('.');
    context.warn(resource.name, field, `${problem}. The client does not change the value`);
  }
  return normalized as T; // checked above, except unknown fields
}

/** Maximum number of create requests to remember. The rate limits allow far fewer in the relevant ten seconds. */
const MAX_RECENT_CREATES = 10_000;

/** Times at which this client created resources, by `namespace id`. */
interface RecentCreates {
  readonly name: string;
  readonly created: Map<string, number>;
}

/**
 * Decodes the `data` of a single resource: an object, or a one-element array, which the service returns for GET
 * requests.
 */
export function decodeOne<T>(resource: ResourceSchema<T>, creates?: RecentCreates): Decode<T> {
  return (data, context) => {
    const only: unknown = Array.isArray(data) ? data[0] : data;
    if (Array.isArray(data) && data.length !== 1)
      throw context.fail(`\`data\` has ${data.length} elements, but must have one`);
    const decoded = decodeObject(only, resource, context, REQUIRED_FIELDS);
    if (creates) {
      const { name, created } = creates;
      if (created.size >= MAX_RECENT_CREATES) created.clear();
      created.set(`${name} ${Object(only).id}`, performance.now());
    }
    return decoded;
  };
}

export function decodeList<T>(resource: ResourceSchema<T>): Decode<T[]> {
  return (data, context) => {
    if (!Array.isArray(data)) throw context.fail(`\`data\` is ${jsonTypeOf(data)}, but must be an array`);
    return data.map((row) => decodeObject(row, resource, context, REQUIRED_ROW_FIELDS));
  };
}

/**
 * Returns a value as a resource, or `undefined` if the value lacks documented fields or `decodeOne` would refuse it.
 */
export function decodeComplete<T>(
  value: unknown,
  resource: ResourceSchema<T>,
  { validation }: Pick<DecodeContext, 'validation'>,
): T | undefined {
  if (!isObject(value)) return undefined;
  const normalized = normalize(value, resource);
  const isComplete = issuesOf(normalized, resource).every(
    ({ path }) =>
      validation === 'lenient' &&
      !isRequired(path, resource, REQUIRED_FIELDS) &&
      valueAt(normalized, path) !== undefined,
  );
  return isComplete ? (normalized as T) : undefined; // checked above
}

/** Decodes the response of an operation without payload. */
export const decodeNothing: Decode<void> = () => undefined;
