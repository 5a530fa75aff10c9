/** Marks a value that stands for an expression of source code. */
const SOURCE = Symbol('source');

/** Returns a value as a TypeScript literal, or as the expression it stands for. */
export function literal(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  const source = sourceOf(value);
  if (source !== undefined) return source;
  if (typeof value !== 'object' || value === null) return String(value);
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  if (fields.length === 0) return '{}';
  return `{ ${fields.map(([name, field]) => `${nameOf(name)}: ${literal(field)}`).join(', ')} }`;
}

const nameOf = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : quote(name));

/** Returns a string literal in single quotes; line separators and what could end a script element are escaped. */
const quote = (text: string): string =>
  `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'").replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')}'`;

function sourceOf(value: unknown): string | undefined {
  const isTarget = typeof value === 'function' || (typeof value === 'object' && value !== null);
  return isTarget && SOURCE in value ? String(value[SOURCE]) : undefined;
}

/**
 * Returns an object that stands for an expression: its members and the results of its methods stand for longer ones. So the
 * code of an action follows from the function that does it. `onCall` receives the source of each call.
 */
export function expression<T extends object>(source: string, onCall: (source: string) => void = () => {}): T {
  const proxy: unknown = new Proxy(() => {}, {
    has: (_, name) => name === SOURCE,
    get(_, name) {
      if (name === SOURCE) return source;
      return typeof name === 'symbol' ? undefined : expression(`${source}.${name}`, onCall);
    },
    apply(_, __, args) {
      const call = `${source}(${args.map(literal).join(', ')})`;
      onCall(call);
      return expression(call, onCall);
    },
  });
  return proxy as T;
}
