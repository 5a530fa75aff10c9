import type { CreateOutcome } from '../../index.ts';
import type { JsonObject } from '../../spec/wire-values.ts';
import { isObject, valueAt } from '../../util/json.ts';
import { KINDS, type Kind } from './findings.ts';

/** A response as the check judges it. */
export interface Reply {
  /** HTTP status; 0 if there was none, because of a timeout or a lost connection. */
  readonly status: number;
  readonly headers: Headers;
  /** The body as JSON; `undefined` for anything else. */
  readonly body: unknown;
  /** The body of a success in the envelope; `undefined` for any other response. */
  readonly envelope: JsonObject | undefined;
  /** What the error of the client says of a create request. */
  readonly outcome?: CreateOutcome | undefined;
  /** Milliseconds since 1970, by the `Date` of the response or the clock of this machine. */
  readonly at: number;
}

/** Returns whether a status says that a path, or the method for it, does not exist. */
export const isMissing = (status: number): boolean => status === 404 || status === 405 || status === 410;

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

/** Returns whether a resource has fields of its kind, and does not look like one of another kind. */
export function fits(kind: Kind, row: JsonObject): boolean {
  const count = (fields: readonly string[]): number => fields.filter((field) => Object.hasOwn(row, field)).length;
  const foreign = Math.max(...KINDS.filter((other) => other !== kind).map((other) => count(OWN[other])));
  if (OWN[kind].length === 0) return foreign < 2;
  return count([...OWN[kind], ...SHARED]) >= 2 && count(OWN[kind]) >= foreign;
}

/** Keys below which rows and resources are searched. Other keys may be names of the account, and are never shown. */
const PLACES: readonly string[] = [
  ...['data', 'items', 'item', 'rows', 'row', 'results', 'result', 'records', 'record', 'list', 'entries', 'entry'],
  ...['content', 'objects', 'object', 'resource', 'resources', 'payload', 'response', 'values', 'report', 'usage'],
  ...[...KINDS.flatMap((kind) => [kind, kind.slice(0, -1)]), 'lookalike', 'upload', 'reservation'],
];

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

/** Returns whether a value has an id. The client only accepts integers. The check also finds other ids, and reports them. */
export const isRow = (value: unknown): value is JsonObject =>
  isObject(value) && (Number.isInteger(value.id) || (typeof value.id === 'string' && value.id !== ''));

/**
 * Returns the rows of a list and their place; of several arrays, the first one with rows. If all are empty, returns
 * `undefined` unless there is only one.
 */
export function rowsIn(envelope: JsonObject | undefined, at = 'data'): Found<readonly JsonObject[]> | undefined {
  const lists = foundIn(envelope, at).filter(
    (found): found is Found<readonly JsonObject[]> => Array.isArray(found.value) && found.value.every(isRow),
  );
  const list = lists.find(({ value }) => value.length > 0) ?? (lists.length === 1 ? lists[0] : undefined);
  return list && { place: list.place, value: list.value.map((row) => Object(snakeCased(row))) };
}

/** Returns the object of an envelope that passes a test, and its place; an array of one counts as its element. */
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

/** Returns the resource of an envelope with an id, and its place. */
export const resourceIn = (envelope: JsonObject | undefined, id: string, at?: string): Found<JsonObject> | undefined =>
  objectIn(envelope, (value) => isRow(value) && String(value.id) === id, at);

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

/** Returns a value whose fields are named in snake_case, as the package reads them. */
function snakeCased(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeCased);
  if (!isObject(value)) return value;
  const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [snake(key), snakeCased(inner)]));
}
