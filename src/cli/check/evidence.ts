import type { JsonObject } from '../../spec/wire-values.ts';
import { isObject, valueAt } from '../../util/json.ts';
import { KINDS, type Kind } from './findings.ts';

/** Id of a resource. The client only accepts integers. The check also finds other ids, and reports them. */
export type Id = number | string;

/** A response as the check judges it. */
export interface Reply {
  /** HTTP status; 0 if there was none, because of a timeout or a lost connection. */
  readonly status: number;
  readonly headers: Headers;
  /** The body as JSON; `undefined` for anything else. */
  readonly body: unknown;
  /** Target of a redirect on the service's own origin, as a path with `{id}`. */
  readonly redirect?: string | undefined;
  /** Milliseconds since 1970, by the `Date` of the response or the clock of this machine. */
  readonly at: number;
}

/** Documented fields of several kinds of resources. */
const SHARED = ['name', 'status', 'source_audience', 'created_by', 'project', 'created_at', 'updated_at'];

/** Documented fields of one kind of resource. The fields of projects and schedules are not documented. */
const OWN: Readonly<Record<Kind, readonly string[]>> = {
  audiences: ['is_cohort', 'is_lookalike', 'results_count', 'is_activation_allowed', 'eligibility', 'dataset'],
  activations: ['description', 'audience', 'partner', 'pricing_model', 'datastreams', 'filters', 'filter_hash'],
  cohorts: ['total_eids', 'source'],
  projects: [],
  schedules: [],
};
const FIELDS: readonly string[] = [...SHARED, ...Object.values(OWN).flat()];

/** Keys below which rows and resources are searched. Other keys may be names of the account, and are never shown. */
const PLACES: readonly string[] = [
  ...['data', 'items', 'item', 'rows', 'row', 'results', 'result', 'records', 'record', 'list', 'entries', 'entry'],
  ...['content', 'objects', 'object', 'resource', 'resources', 'payload', 'response', 'values', 'report', 'usage'],
  ...[...KINDS.flatMap((kind) => [kind, kind.slice(0, -1)]), 'lookalike', 'upload', 'reservation'],
];

/** Returns the envelope of a success; `undefined` for any other response. */
export const envelopeOf = ({ status = 0, body }: Partial<Reply> = {}): JsonObject | undefined =>
  status >= 200 && status < 300 && isObject(body) && body.status === 'success' ? body : undefined;

/** A value found in an envelope, and its place: `data` or a path such as `data.items`. */
export interface Found<T> {
  readonly place: string;
  readonly value: T;
}

/** Returns the values below some keys of an envelope, outer ones first, three levels deep. */
export function valuesIn(envelope: unknown, keys: readonly string[] = PLACES): readonly Found<unknown>[] {
  const below = ({ place, value }: Found<unknown>): Found<unknown>[] =>
    keys
      .filter((key) => isObject(value) && Object.hasOwn(value, key))
      .map((key) => ({ place: place ? `${place}.${key}` : key, value: valueAt(value, [key]) }));
  const outer = below({ place: '', value: envelope });
  const inner = outer.flatMap(below);
  return [...outer, ...inner, ...inner.flatMap(below)];
}

/** Returns the values of an envelope, the one at a place first. */
const foundIn = (envelope: JsonObject | undefined, at: string): readonly Found<unknown>[] => [
  { place: at, value: valueAt(envelope, at.split('.')) },
  ...valuesIn(envelope).filter(({ place }) => place !== at),
];

/** An object with an id. */
export type Row = JsonObject & { readonly id: Id };

export const isRow = (value: unknown): value is Row =>
  isObject(value) && (Number.isInteger(value.id) || (typeof value.id === 'string' && value.id !== ''));

/** Returns whether two ids are the same in a path. */
export const isSameId = (one: Id | undefined, other: Id | undefined): boolean => String(one) === String(other);

/**
 * Returns the rows of a list and their place; of several arrays, the first one with rows. If all are empty, returns
 * `undefined` unless there is only one.
 */
export function rowsIn(envelope: JsonObject | undefined, at = 'data'): Found<readonly Row[]> | undefined {
  const lists = foundIn(envelope, at).filter(
    (found): found is Found<readonly Row[]> => Array.isArray(found.value) && found.value.every(isRow),
  );
  const list = lists.find(({ value }) => value.length > 0) ?? (lists.length === 1 ? lists[0] : undefined);
  return list && { ...list, value: list.value.map((row) => snakeCased(row) as Row) }; // it has an id still
}

/** Returns the object of an envelope that passes a test, and its place; an array of one counts as its element. */
export function objectIn<T extends JsonObject>(
  envelope: JsonObject | undefined,
  test: (value: JsonObject) => value is T,
  at = 'data',
): Found<T> | undefined {
  for (const { place, value } of foundIn(envelope, at)) {
    const only: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
    if (isObject(only) && test(only)) return { place, value: snakeCased(only) as T }; // fields of the test are short
  }
  return undefined;
}

/** Returns the resource of an envelope and its place. */
export const resourceIn = (envelope: JsonObject | undefined, id: Id, at?: string): Found<Row> | undefined =>
  objectIn(envelope, (value): value is Row => isRow(value) && isSameId(value.id, id), at);

/** Returns whether a resource has fields of its kind, and does not look like one of another kind. */
export function fits(kind: Kind, row: Row): boolean {
  const count = (fields: readonly string[]): number => fields.filter((field) => Object.hasOwn(row, field)).length;
  const foreign = Math.max(...KINDS.filter((other) => other !== kind).map((other) => count(OWN[other])));
  if (OWN[kind].length === 0) return foreign < 2;
  return count([...OWN[kind], ...SHARED]) >= 2 && count(OWN[kind]) >= foreign;
}

/**
 * Returns the text of a refusal without paths, numbers and names, so that the refusals of two missing routes are equal.
 */
export function fingerprint({ status, headers, body }: Reply): string {
  const message = `${(isObject(body) && (body.message ?? body.error ?? body.detail)) || typeof body}`
    .toLowerCase()
    .replace(/["'`]?\/\S*|check-?[0-9a-f]+|\b(?=\w*\d)[\w-]+\b/g, '')
    .replace(/\b(?:audience|activation|cohort|project|schedule|lookalike|estimate|upload)s?\b/g, '');
  return [status, headers.get('content-type'), message.replace(/\W+/g, '')].join(' ');
}

/** Returns whether a status says that a path, or the method for it, does not exist. */
export const isMissing = (status: number): boolean => status === 404 || status === 405 || status === 410;

const snakeName = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Returns a value whose fields are named in snake_case, as the package reads them. */
export function snakeCased(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeCased);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [snakeName(key), snakeCased(inner)]));
}

/** Returns whether rows have documented fields in camelCase. */
export const isCamelCased = (envelope: JsonObject | undefined): boolean =>
  valuesIn(envelope).some(({ value }) =>
    Object.keys(Object([value].flat()[0])).some((key) => snakeName(key) !== key && FIELDS.includes(snakeName(key))),
  );
