import type { Service } from '../service.ts';

/** A call of one of the sandbox's own methods: the method, and its arguments. */
export type Call = readonly [method: (...args: never[]) => unknown, ...args: readonly unknown[]];

/** Returns a call, whose arguments are checked against the method. */
export const callOf = <A extends unknown[]>(method: (...args: A) => unknown, ...args: A): Call => [method, ...args];

export const run = ([method, ...args]: Call): unknown => Reflect.apply(method, undefined, args);

/** Expressions of source code, by the objects and methods that they stand for. */
const SOURCES = new WeakMap<object, string>();

/** Registers the source code expression of an object or a method. */
export function named<T extends object>(source: string, value: T): T {
  SOURCES.set(value, source);
  return value;
}

/** Returns a value that stands for an expression of source code. */
export const expression = (source: string): object => named(source, {});

const isReference = (value: unknown): value is object =>
  typeof value === 'function' || (typeof value === 'object' && value !== null);

/** Returns the expression that an object or a method stands for. */
export const sourceOf = (value: unknown): string | undefined => (isReference(value) ? SOURCES.get(value) : undefined);

/** Returns a value as a TypeScript literal, or as the expression it stands for. */
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

/** Returns a string literal in single quotes; line separators are escaped. */
const quote = (text: string): string =>
  `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'").replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')}'`;

/** Returns a call in source code. Leaves out trailing `undefined` arguments. */
export function callSource(method: string, args: readonly unknown[]): string {
  const sent = args.slice(0, args.findLastIndex((arg) => arg !== undefined) + 1);
  const prefix = method === 'sandbox.advance' ? 'await ' : '';
  return `${prefix}${method}(${sent.map(literal).join(', ')})`;
}

/** Returns a function that reports each successful call of a method, with the expression of its object and its name. */
export const reportAs =
  ({ moment, called }: Pick<Service, 'moment' | 'called'>, source: string) =>
  <A extends unknown[], R>(name: string, method: (...args: A) => R): ((...args: A) => R) => {
    const expressionOf = `${source}.${name}`;
    return named(expressionOf, (...args: A): R => {
      const started = moment();
      const result = method(...args);
      const report = (): void => called({ method: expressionOf, args, started });
      if (!(result instanceof Promise)) report();
      // Reported before the caller continues. A call that fails is not reported.
      else result.then(report, () => {});
      return result;
    });
  };
