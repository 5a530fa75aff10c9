import type { JsonObject } from '../../spec/wire-values.ts';
import { isObject, parseJson, stringsOf, valueAt } from '../../util/json.ts';
import { KINDS, type Kind } from './findings.ts';

/** Id of a resource. The client has integers; another one is found, and reported. */
export type Id = number | string;

/** A response as the check judges it. */
export interface Reply {
  /** HTTP status; 0 if there was none, because of a timeout or a lost connection. */
  readonly status: number;
  readonly headers: Headers;
  /** The body as JSON; `undefined` for anything else. */
  readonly body: unknown;
  readonly format: 'json' | 'html' | 'text' | 'empty';
  /** Target of a redirect on the service's own origin, as a path with `{id}`. */
  readonly redirect?: string | undefined;
  /** Milliseconds since 1970, by the `Date` of the response or the clock of this machine. */
  readonly at: number;
}

/** Documented fields that several kinds have. */
const SHARED = ['name', 'status', 'source_audience', 'created_by', 'project', 'created_at', 'updated_at'];

/** Documented fields that one kind has. Those of projects and schedules are not documented. */
const OWN: Readonly<Record<Kind, readonly string[]>> = {
  audiences: [
    ...['is_cohort', 'is_lookalike', 'results_count', 'is_activation_allowed', 'eligibility', 'operator', 'dataset'],
  ],
  activations: ['description', 'audience', 'partner', 'pricing_model', 'datastreams', 'filters', 'filter_hash'],
  cohorts: ['total_eids', 'source'],
  projects: [],
  schedules: [],
};

/** Keys below which rows and resources are searched. Other keys may be names of the account, and are never shown. */
const PLACES: readonly string[] = [
  ...['data', 'items', 'item', 'rows', 'row', 'results', 'result', 'records', 'record', 'list', 'entries', 'entry'],
  ...['content', 'objects', 'object', 'resource', 'resources', 'payload', 'response', 'values'],
  ...['audiences', 'audience', 'activations', 'activation', 'cohorts', 'cohort', 'projects', 'project'],
  ...['schedules', 'schedule', 'lookalike', 'estimate', 'upload', 'reservation', 'usage', 'report'],
];

/** Returns the envelope of a success; `undefined` for any other response. */
export function envelopeOf({ status = 0, body }: Partial<Reply> = {}): JsonObject | undefined {
  return status >= 200 && status < 300 && isObject(body) && body.status === 'success' ? body : undefined;
}

/** Something found in an envelope, and where: `data` or a path such as `data.items`. */
export interface Found<T> {
  readonly place: string;
  readonly value: T;
}

/** Returns the values below some keys of an envelope, outer ones first. */
export function valuesIn(envelope: unknown, keys: readonly string[] = PLACES, depth = 3): Found<unknown>[] {
  const found: Found<unknown>[] = [];
  let level: readonly Found<unknown>[] = [{ place: '', value: envelope }];
  while (depth-- > 0) {
    level = level.flatMap(({ place, value }) =>
      keys.flatMap((key) =>
        isObject(value) && Object.hasOwn(value, key)
          ? [{ place: place ? `${place}.${key}` : key, value: value[key] }]
          : [],
      ),
    );
    found.push(...level);
  }
  return found;
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

/** Returns the rows of a list and their place; of several arrays, the first one with rows. Of two empty ones none counts. */
export function rowsIn(envelope: JsonObject | undefined, at = 'data'): Found<readonly Row[]> | undefined {
  const lists = foundIn(envelope, at).filter(
    (found): found is Found<readonly Row[]> => Array.isArray(found.value) && found.value.every(isRow),
  );
  const filled = lists.find(({ value }) => value.length > 0);
  const list = filled ?? (lists.length === 1 ? lists[0] : undefined);
  return list && { ...list, value: list.value.map((row) => snakeCased(row) as Row) }; // it has an id still
}

/** Returns the object of an envelope that passes a test, and its place; an array of one counts as its element. */
export function objectIn(
  envelope: JsonObject | undefined,
  test: (value: JsonObject) => boolean,
  at = 'data',
): Found<JsonObject> | undefined {
  for (const { place, value } of foundIn(envelope, at)) {
    const only: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
    if (isObject(only) && test(only)) return { place, value: only };
  }
  return undefined;
}

/** Returns the resource of an envelope and its place. */
export function resourceIn(envelope: JsonObject | undefined, id: Id, at?: string): Found<Row> | undefined {
  const found = objectIn(envelope, (value) => isRow(value) && isSameId(value.id, id), at);
  return found && { place: found.place, value: snakeCased(found.value) as Row }; // the test has seen its id
}

/** Returns the usage report of an envelope and its place. Without a build budget, it is the object that `data` is. */
export const reportIn = (envelope: JsonObject | undefined): Found<JsonObject> | undefined =>
  objectIn(envelope, (value) => Object.hasOwn(value, 'build_budget')) ??
  (isObject(envelope?.data) ? { place: 'data', value: envelope.data } : undefined);

/** Returns whether a resource has fields of its kind, and does not look like one of another kind. */
export function fits(kind: Kind, row: Row): boolean {
  const count = (fields: readonly string[]): number => fields.filter((field) => Object.hasOwn(row, field)).length;
  const own = count(OWN[kind]);
  const foreign = Math.max(...KINDS.filter((other) => other !== kind).map((other) => count(OWN[other])));
  if (OWN[kind].length === 0) return foreign < 2;
  return own + count(SHARED) >= 2 && own >= foreign;
}

/** Returns a refusal without paths, numbers and names: the refusals of two routes that do not exist are then equal. */
export function fingerprint({ status, format, body }: Reply): string {
  const text = isObject(body) ? `${body.message ?? body.error ?? body.detail ?? ''}` : '';
  const message = text
    .toLowerCase()
    .replace(/["'`]?\/\S*/g, '')
    .replace(/check-?[0-9a-f]+|\b(?=\w*\d)[\w-]+\b/g, '')
    .replace(/\b(?:audience|activation|cohort|project|schedule|lookalike|estimate|upload)s?\b/g, '')
    .replace(/\W+/g, ' ')
    .trim();
  return `${status} ${format} ${message}`;
}

/** Returns whether a status says that a path, or the method for it, does not exist. */
export const isMissing = (status: number): boolean => status === 404 || status === 405 || status === 410;

/** Returns the fields that a 422 of the documented form names: each with an array of messages. */
export function invalidFields({ status, body }: Reply): readonly string[] {
  if (status !== 422 || !isObject(body) || !isObject(body.errors)) return [];
  const { errors } = body;
  const areTexts = (value: unknown): boolean => Array.isArray(value) && stringsOf(value).length === value.length;
  if (!Object.values(errors).every(areTexts)) return [];
  return Object.keys(errors).filter((field) => /^[\w.[\]*]{1,60}$/.test(field));
}

/** Returns whether a body is a documented error: an envelope whose code equals the status. */
export const isErrorEnvelope = ({ status, body }: Reply): boolean =>
  isObject(body) && body.status === 'error' && body.code === status && typeof body.message === 'string';

const QUARTER_MS = 15 * 60_000;

/** Minutes by which the zones that are not on the half hour are ahead of UTC: Nepal, Eucla, the Chatham Islands. */
const ODD_OFFSETS: readonly number[] = [345, 525, 765, 825];
const MAX_OFFSET = 840;

/**
 * Returns the minutes by which the time zone of a service is ahead of UTC, from the time of something that was just
 * created, rounded to a quarter of an hour, because clocks differ; `undefined` if no zone has this offset.
 */
export function zoneOffset(createdAt: unknown, at: number): number | undefined {
  const [, day, time] = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)$/.exec(String(createdAt)) ?? [];
  const minutes = Math.round((Date.parse(`${day}T${time}Z`) - at) / QUARTER_MS) * 15 || 0;
  const isZone = minutes % 30 === 0 || ODD_OFFSETS.includes(minutes);
  return time && isZone && Math.abs(minutes) <= MAX_OFFSET ? minutes : undefined;
}

/** Returns the name of a time zone with a fixed offset. */
export function zoneName(minutes: number): string {
  if (minutes === 0) return 'UTC';
  // `Etc` has the signs of POSIX: west of Greenwich is positive.
  if (minutes % 60 === 0) return `Etc/GMT${minutes > 0 ? '-' : '+'}${Math.abs(minutes / 60)}`;
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0');
  return `${minutes < 0 ? '-' : '+'}${two(Math.abs(minutes) / 60)}:${two(Math.abs(minutes) % 60)}`;
}

const snakeName = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Returns a value whose fields are named in snake_case, as the package reads them. */
export function snakeCased(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeCased);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [snakeName(key), snakeCased(inner)]));
}

/** Returns whether a row has documented fields in camelCase. */
export const isCamelCased = (envelope: JsonObject | undefined): boolean =>
  valuesIn(envelope).some(({ value }) =>
    [value]
      .flat()
      .some((row) => isRow(row) && Object.keys(row).some((key) => /[A-Z]/.test(key) && isField(snakeName(key)))),
  );

const isField = (name: string): boolean => [SHARED, ...Object.values(OWN)].flat().includes(name);

/** Reads a body: its format, and its value if it is JSON. */
export function readBody(text: string): Pick<Reply, 'body' | 'format'> {
  const trimmed = text.trim();
  if (trimmed === '') return { body: undefined, format: 'empty' };
  const body = parseJson(trimmed);
  if (body !== undefined) return { body, format: 'json' };
  return { body, format: trimmed.startsWith('<') ? 'html' : 'text' };
}
