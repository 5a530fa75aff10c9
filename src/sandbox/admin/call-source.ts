import type { Service } from '../service.ts';

/** Marks a value that stands for an expression of source code. */
const SOURCE = Symbol('source');

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

function sourceOf(value: unknown): string | undefined {
  const isTarget = typeof value === 'object' && value !== null;
  return isTarget && SOURCE in value ? String(value[SOURCE]) : undefined;
}

/** Returns a value that stands for an expression of source code. */
export const expression = (source: string): object => ({ [SOURCE]: source });

/** Fields that are not shown. */
const SECRET_FIELDS: readonly string[] = ['password', 'secret'];

/** Stands in a call for a password, so that it works when it is pasted. */
const PASSWORD = expression("process.env.PASSWORD ?? ''");

/** Returns a call in source code without passwords and states, which are long and contain secrets. */
export function shownCall(method: string, args: readonly unknown[]): string {
  const hide = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null || sourceOf(value) !== undefined) return value;
    if ('version' in value && 'seed' in value) return expression('state');
    const fields = Object.entries(value).map(([name, field]) => [
      name,
      SECRET_FIELDS.includes(name) ? PASSWORD : field,
    ]);
    return Array.isArray(value) ? value : Object.fromEntries(fields);
  };
  return callSource(method, method.endsWith('.changePassword') ? args.map(() => PASSWORD) : args.map(hide));
}

/** Returns a call in source code. */
export const callSource = (method: string, args: readonly unknown[]): string =>
  `${method}(${args.map(literal).join(', ')})`;

/**
 * Has each successful call of the named methods reported, under the expression that stands for the object. As an argument of
 * another call, the object is shown as that expression.
 */
export function reportCalls<K extends string, T extends Record<K, (...args: never[]) => unknown>>(
  { moment, called }: Pick<Service, 'moment' | 'called'>,
  source: string,
  target: T,
  names: readonly K[],
): T {
  for (const name of names) {
    const method = target[name];
    const reported = (...args: never[]): unknown => {
      const started = moment();
      const result = method(...args);
      const report = <R>(value: R): R => {
        called({ method: `${source}.${name}`, args, started });
        return value;
      };
      return result instanceof Promise ? result.then(report) : report(result);
    };
    // The wrapper takes and returns the same as the method.
    Object.assign(target, { [name]: reported });
  }
  return Object.defineProperty(target, SOURCE, { value: source });
}
