import { part } from '../part.ts';
import type { Decode, DecodeContext } from '../transport/decode-context.ts';
import { isObject, type JsonObject } from '../transport/envelope.ts';
import type { checkers } from './checkers.ts';

/** Fields without which a resource cannot be used or waited for: strict in both modes. */
const ESSENTIAL: ReadonlySet<string> = new Set(['', 'id', 'status', 'status.id']);

/** What checks an object of the service; loaded before a call is sent, so that no answer is lost for want of it. */
export const checking = part('schemas', () => import('./checkers.ts'));

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
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
  return checking.loaded.checkers[schema].safeParse(value).error?.issues ?? [];
}

function isEssential(path: readonly PropertyKey[], { essential }: Pick<Shape<unknown>, 'essential'>): boolean {
  const field = path.map(String).join('.');
  return ESSENTIAL.has(field) || (essential?.includes(field) ?? false);
}

/** Whether a value may be used as `T`: as documented, or, in lenient mode, with odd fields that are logged. */
function usable<T>(value: unknown, shape: Shape<T>, context: DecodeContext): value is T {
  for (const { path, message } of issuesOf(value, shape)) {
    const field = path.map(String).join('.');
    if (context.validation === 'strict' || isEssential(path, shape)) {
      throw context.fail(`\`data\` is not as documented: ${field || 'it'}: ${message}`);
    }
    context.warn(path.map((part) => (typeof part === 'number' ? '*' : String(part))).join('.'), message);
  }
  return true;
}

/** One object of a shape. */
function decodeObject<T>(value: unknown, shape: Shape<T>, context: DecodeContext): T {
  if (!isObject(value)) throw context.fail(`\`data\` holds ${nameOf(value)} where an object is due`);
  const mended: unknown = shape.mend ? shape.mend(value) : value;
  if (usable(mended, shape, context)) return mended;
  throw context.fail('`data` is not as documented');
}

function nameOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`;
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
    if (!Array.isArray(data)) throw context.fail(`\`data\` is ${nameOf(data)} where a list is due`);
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
