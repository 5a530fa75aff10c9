import type { Decode, DecodeContext } from '../http/decode-context.ts';
import { isObject, type JsonObject, jsonTypeOf } from '../util/json.ts';
import { part } from '../util/part.ts';
import type { checkers } from './checkers.ts';

/** Fields without which a resource cannot be used or waited for: strict in both modes. */
const ESSENTIAL: ReadonlySet<string> = new Set(['', 'id', 'status', 'status.id']);

/** What checks an object of the service; loaded before a call is sent, so that no answer is lost for want of it. */
export const checking = part('schemas', () => import('./checkers.ts'));

interface Issue {
  readonly path: readonly PropertyKey[];
  /** The type that is documented, where it is the type that differs. */
  readonly expected?: string;
}

/** Types as texts name them, where they differ from the names of the schemas. */
const TYPE_NAMES: Readonly<Record<string, string>> = {
  int: 'an integer',
  array: 'an array',
  object: 'an object',
  record: 'an object',
};

/** States how a field differs: missing, or of which type. Its content may be a secret, and is left out. */
function problemOf(value: unknown, { path, expected }: Issue): string {
  if (expected === undefined) return 'is of another format than documented';
  return `is ${jsonTypeOf(valueAt(value, path))}, expected ${TYPE_NAMES[expected] ?? `a ${expected}`}`;
}

/** A wire object's shape, and what to mend in it before the shape is checked. */
export interface Shape<T> {
  readonly schema: keyof typeof checkers;
  readonly mend?: (wire: JsonObject) => JsonObject;
  /** Fields that are strict in both modes, besides id and status. */
  readonly essential?: readonly string[];
  /** Carries the public type; never set. */
  readonly type?: T;
}

/** What is wrong with a value. */
export function issuesOf(value: unknown, { schema }: Pick<Shape<unknown>, 'schema'>): readonly Issue[] {
  if (!checking.loaded) throw new Error('What checks answers is loaded before requests are sent.');
  return checking.loaded.checkers[schema].safeParse(withShortArrays(value)).error?.issues ?? [];
}

/** How many elements of an array in a resource are checked: each may have issues, and a million is more than anybody reads. */
const MOST_CHECKED = 1_000;

const isLong = (value: unknown): value is unknown[] => Array.isArray(value) && value.length > MOST_CHECKED;

function withShortArrays(value: unknown): unknown {
  if (!isObject(value) || !Object.values(value).some(isLong)) return value;
  const entries = Object.entries(value).map(([key, field]) => [
    key,
    isLong(field) ? field.slice(0, MOST_CHECKED) : field,
  ]);
  return Object.fromEntries(entries);
}

function isEssential(path: readonly PropertyKey[], { essential }: Pick<Shape<unknown>, 'essential'>): boolean {
  const field = path.map(String).join('.');
  return ESSENTIAL.has(field) || (essential?.includes(field) ?? false);
}

/** Whether a value may be used as `T`: as documented, or, in lenient mode, with odd fields that are logged. */
function usable<T>(value: unknown, shape: Shape<T>, context: DecodeContext): value is T {
  for (const issue of issuesOf(value, shape)) {
    const { path } = issue;
    const problem = problemOf(value, issue);
    if (context.validation === 'strict' || isEssential(path, shape)) {
      throw context.fail(`\`data\` is not as documented: \`${path.map(String).join('.')}\` ${problem}`);
    }
    const field = path.map((part) => (typeof part === 'number' ? '*' : String(part))).join('.');
    context.warn(shape.schema, field, problem);
  }
  return true;
}

/** One object of a shape. */
function decodeObject<T>(value: unknown, shape: Shape<T>, context: DecodeContext): T {
  if (!isObject(value)) throw context.fail(`\`data\` is ${jsonTypeOf(value)}, expected an object`);
  const mended: unknown = shape.mend ? shape.mend(value) : value;
  if (usable(mended, shape, context)) return mended;
  throw context.fail('`data` is not as documented');
}

/** The `data` of a single resource: an object, or the one-element array of the service's GETs. */
export function decodeOne<T>(shape: Shape<T>): Decode<T> {
  return (data, context) => {
    if (!Array.isArray(data)) return decodeObject(data, shape, context);
    if (data.length === 1) return decodeObject(data[0], shape, context);
    throw context.fail(`\`data\` holds ${data.length} elements where one is due`);
  };
}

/** The `data` of a list. */
export function decodeList<T>(shape: Shape<T>): Decode<T[]> {
  return (data, context) => {
    if (!Array.isArray(data)) throw context.fail(`\`data\` is ${jsonTypeOf(data)}, expected an array`);
    return data.map((row) => decodeObject(row, shape, context));
  };
}

/** The resource in a value, or `undefined` where the value is none or leaves some of it out. */
export function decodeWhole<T>(
  value: unknown,
  shape: Shape<T>,
  context: Pick<DecodeContext, 'validation'>,
): T | undefined {
  // An event may come before the first answer; what it is about is read then.
  if (!isObject(value) || !checking.loaded) return undefined;
  const mended: JsonObject = shape.mend ? shape.mend(value) : value;
  const isWhole = (wire: unknown): wire is T =>
    issuesOf(wire, shape).every(
      ({ path }) =>
        context.validation === 'lenient' && !isEssential(path, shape) && valueAt(mended, path) !== undefined,
    );
  return isWhole(mended) ? mended : undefined;
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce(
    (at, key) => (Array.isArray(at) ? at[Number(key)] : isObject(at) ? at[String(key)] : undefined),
    value,
  );
}

/** For operations whose `data` says nothing. */
export const decodeNothing: Decode<void> = () => undefined;
