import type { CreateOutcome } from '../../index.ts';
import type { JsonObject } from '../../spec/wire-values.ts';
import { isObject, valueAt } from '../../util/json.ts';
import { KINDS, type Kind } from './findings.ts';

/** The parts of a response that the check evaluates. */
export interface Reply {
  /** HTTP status; 0 after a timeout or a lost connection. */
  readonly status: number;
  readonly headers: Headers;
  /** The parsed body; `undefined` if the body is not JSON. */
  readonly body: unknown;
  /** The envelope of a successful response; `undefined` for any other response. */
  readonly envelope: JsonObject | undefined;
  /** `outcome` of the client's error, if a create request failed. */
  readonly outcome?: CreateOutcome | undefined;
  /** Time of the response in milliseconds since 1970, from its `Date` header or this machine's clock. */
  readonly at: number;
}

/** Returns whether a status means that the path, or the method at this path, does not exist. */
export const isMissing = (status: number): boolean => status === 404 || status === 405 || status === 410;

/** Documented fields that several kinds of resources share. */
const SHARED = ['name', 'status', 'source_audience', 'created_by', 'project', 'created_at', 'updated_at'];

/** Documented fields of one kind of resource. The fields of projects and schedules are not documented. */
const OWN: Readonly<Record<Kind, readonly string[]>> = {
  audiences: ['is_cohort', 'is_lookalike', 'results_count', 'is_activation_allowed', 'eligibility', 'dataset'],
  activations: ['description', 'audience', 'partner', 'pricing_model', 'datastreams', 'filters', 'filter_hash'],
  cohorts: ['total_eids', 'source'],
  projects: [],
  schedules: [],
};

/** Returns whether a resource has fields of its kind, and does not look like a resource of another kind. */
export function fits(kind: Kind, row: JsonObject): boolean {
  const count = (fields: readonly string[]): number => fields.filter((field) => Object.hasOwn(row, field)).length;
  const foreign = Math.max(...KINDS.filter((other) => other !== kind).map((other) => count(OWN[other])));
  if (OWN[kind].length === 0) return foreign < 2;
  return count([...OWN[kind], ...SHARED]) >= 2 && count(OWN[kind]) >= foreign;
}

/**
 * Keys below which the check searches for rows and resources. Paths in its findings contain no other keys, which may be
 * data of the account.
 */
const PLACES: readonly string[] = [
  ...['data', 'items', 'item', 'rows', 'row', 'results', 'result', 'records', 'record', 'list', 'entries', 'entry'],
  ...['content', 'objects', 'object', 'resource', 'resources', 'payload', 'response', 'values', 'report', 'usage'],
  ...[...KINDS.flatMap((kind) => [kind, kind.slice(0, -1)]), 'lookalike', 'upload', 'reservation'],
];

/** A value found in an envelope, and its path, such as `data.items`. */
export interface Found<T> {
  readonly place: string;
  readonly value: T;
}

/** Returns the values at some keys of an envelope, up to three levels deep, the outer values first. */
export function valuesIn(envelope: unknown, keys: readonly string[] = PLACES): readonly Found<unknown>[] {
  const below = ({ place, value }: Found<unknown>): Found<unknown>[] =>
    keys
      .filter((key) => isObject(value) && Object.hasOwn(value, key))
      .map((key) => ({ place: place ? `${place}.${key}` : key, value: valueAt(value, [key]) }));
  const outer = below({ place: '', value: envelope });
  const inner = outer.flatMap(below);
  return [...outer, ...inner, ...inner.flatMap(below)];
}

/** Returns the values of an envelope, starting with the value at the path `at`. */
const foundIn = (envelope: JsonObject | undefined, at: string): readonly Found<unknown>[] => [
  { place: at, value: valueAt(envelope, at.split('.')) },
  ...valuesIn(envelope).filter(({ place }) => place !== at),
];

/** Returns whether a value has an id. Also accepts ids that are not integers, so that the check can report them. */
export const isRow = (value: unknown): value is JsonObject =>
  isObject(value) && (Number.isInteger(value.id) || (typeof value.id === 'string' && value.id !== ''));

/**
 * Returns the rows of a list and their path. If there are several arrays, returns the first array with rows, or
 * `undefined` if all are empty.
 */
export function rowsIn(envelope: JsonObject | undefined, at = 'data'): Found<readonly JsonObject[]> | undefined {
  const lists = foundIn(envelope, at).filter(
    (found): found is Found<readonly JsonObject[]> => Array.isArray(found.value) && found.value.every(isRow),
  );
  const list = lists.find(({ value }) => value.length > 0) ?? (lists.length === 1 ? lists[0] : undefined);
  return list && { place: list.place, value: list.value.map((row) => Object(snakeCased(row))) };
}

/** Returns the object of an envelope that passes a test, and its path. Unwraps one-element arrays. */
export function objectIn(
  envelope: JsonObject | undefined,
  test: (value: JsonObject) => boolean,
  at = 'data',
): Found<JsonObject> | undefined {
  for (const { place, value } of foundIn(envelope, at)) {
    const only: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
    if (isObject(only) && test(only)) return { place, value: Object(snakeCased(only)) };
  }
  return undefined;
}

/** Returns the resource with this id in an envelope, and its path. */
export const resourceIn = (envelope: JsonObject | undefined, id: string, at?: string): Found<JsonObject> | undefined =>
  objectIn(envelope, (value) => isRow(value) && String(value.id) === id, at);

/**
 * Returns the text of an error response without paths, numbers and names, so that the responses of two missing paths
 * are equal.
 */
export function fingerprint({ status, headers, body }: Reply): string {
  const message = `${(isObject(body) && (body.message ?? body.error ?? body.detail)) || typeof body}`
    .toLowerCase()
    .replace(/["'`]?\/\S*|check-?[0-9a-f]+|\b(?=\w*\d)[\w-]+\b/g, '')
    .replace(/\b(?:audience|activation|cohort|project|schedule|lookalike|estimate|upload)s?\b/g, '');
  return [status, headers.get('content-type'), message.replace(/\W+/g, '')].join(' ');
}

/** Returns a value with its field names in snake_case, which the package expects. */
function snakeCased(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeCased);
  if (!isObject(value)) return value;
  const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [snake(key), snakeCased(inner)]));
}
