import type { PathParams, Query, ResolvedOperation } from '../operations.ts';
import { isObject } from './envelope.ts';
import { InvalidInputError } from './input.ts';
import type { RequestInput } from './request.ts';

/** What a request sends besides its path. */
interface Sent {
  readonly query: Query | undefined;
  readonly body: unknown;
}

/**
 * Query and body of a call as the user's override of its operation has them.
 *
 * @throws {InvalidInputError} for a value that would not be sent: the request would act on another resource, or on all.
 */
export function applyOverride({ path, override }: ResolvedOperation, input: RequestInput): Sent {
  const { params = {} } = input;
  const unsent = new Set(Object.keys(params).filter((name) => !path.includes(`{${name}}`)));
  const observed = observeReads(params, (name) => unsent.delete(name));
  const query = override?.query ? checkQuery(override.query(input.query ?? {}, observed)) : input.query;
  const body = override?.body ? silence(override.body(input.body, observed)) : input.body;
  for (const name of unsent) {
    throw new InvalidInputError({
      [name]: [
        `would not be sent: write \`{${name}}\` into the path, or have \`query\` or \`body\` of the override read \`params.${name}\`.`,
      ],
    });
  }
  return { query, body };
}

/** The same values, each read of which is reported. */
function observeReads(params: PathParams, onRead: (name: string) => void): PathParams {
  const observed: PathParams = {};
  for (const [name, value] of Object.entries(params)) {
    const get = (): string | number => {
      onRead(name);
      return value;
    };
    Object.defineProperty(observed, name, { enumerable: true, get });
  }
  return observed;
}

/** Refuses what would be sent as an empty query. */
function checkQuery(query: Query): Query {
  if (isObject(silence(query)) && !(query instanceof Promise)) return query;
  throw new TypeError('the `query` of an override must return an object, not a promise');
}

/** Keeps the rejection of a promise, which is refused anyway, from ending the process. */
function silence<T>(value: T): T {
  if (value instanceof Promise) value.catch(() => {});
  return value;
}
