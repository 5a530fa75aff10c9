import type { Service } from '../service.ts';

/** A call of a method of the sandbox, with its arguments. */
export type Call = readonly [method: (...args: never[]) => unknown, ...args: readonly unknown[]];

/** Returns a call. The compiler checks its arguments against the method. */
export const callOf = <A extends unknown[]>(method: (...args: A) => unknown, ...args: A): Call => [method, ...args];

export const run = ([method, ...args]: Call): unknown => Reflect.apply(method, undefined, args);

/** Source code expressions, by the object or method that they return. */
const SOURCES = new WeakMap<object, string>();

/** Registers the source code expression that returns an object or a method. */
export function named<T extends object>(source: string, value: T): T {
  SOURCES.set(value, source);
  return value;
}

/** Returns a value that {@link literal} writes as an expression of source code. */
export const expression = (source: string): object => named(source, {});

const isReference = (value: unknown): value is object =>
  typeof value === 'function' || (typeof value === 'object' && value !== null);

/** Returns the registered expression of an object or a method. */
export const sourceOf = (value: unknown): string | undefined => (isReference(value) ? SOURCES.get(value) : undefined);

/** Returns a value as a TypeScript literal or as its registered expression. */
export function literal(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  if (value instanceof URL) return quote(value.href);
  if (value instanceof Date) return `new Date(${quote(value.toISOString())})`;
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  const source = sourceOf(value);
  if (source !== undefined) return source;
  if (typeof value !== 'object' || value === null) return String(value);
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  if (fields.length === 0) return '{}';
  return `{ ${fields.map(([name, field]) => `${nameOf(name)}: ${literal(field)}`).join(', ')} }`;
}

const nameOf = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : quote(name));

/** Returns a string literal in single quotes, with escaped line separators. */
const quote = (text: string): string =>
  `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'").replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')}'`;

/** Returns a call as source code, without trailing `undefined` arguments. */
export function callSource(method: string, args: readonly unknown[]): string {
  const sent = args.slice(0, args.findLastIndex((arg) => arg !== undefined) + 1);
  const prefix = method === 'sandbox.advance' ? 'await ' : '';
  return `${prefix}${method}(${sent.map(literal).join(', ')})`;
}

/**
 * Returns a function that reports each successful call of a method, with the expression of the object and the name of
 * the method.
 */
export const reportAs =
  ({ moment, called }: Pick<Service, 'moment' | 'called'>, source: string) =>
  <A extends unknown[], R>(name: string, method: (...args: A) => R): ((...args: A) => R) => {
    const expressionOf = `${source}.${name}`;
    return named(expressionOf, (...args: A): R => {
      const started = moment();
      const result = method(...args);
      const report = (): void => called({ method: expressionOf, args, started });
      if (!(result instanceof Promise)) report();
      // Report a successful call before its caller continues. Do not report a failed call.
      else result.then(report, () => {});
      return result;
    });
  };
