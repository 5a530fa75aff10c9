import type { Query, ResolvedOperation } from '../spec/operations.ts';
import { InvalidInputError } from '../util/input-checks.ts';
import { isObject } from '../util/json.ts';
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
  const query = override?.query ? checkQuery(override.query(input.query ?? {}, params)) : input.query;
  const body = override?.body ? silence(override.body(input.body, params)) : input.body;
  const unsent = Object.entries(params).find(
    ([name, value]) => !path.includes(`{${name}}`) && !holds(query, value) && !holds(body, value),
  );
  if (!unsent) return { query, body };
  const [name] = unsent;
  const fix = override
    ? `write \`{${name}}\` into the path, or have \`query\` or \`body\` of the override send \`params.${name}\`.`
    : `write \`{${name}}\` into the path.`;
  throw new InvalidInputError({ [name]: [`would not be sent: ${fix}`] });
}

/** Whether a query or a body has a value in it, as a value or within one. */
function holds(sent: unknown, value: string | number): boolean {
  if (sent instanceof FormData) return [...sent.values()].some((part) => holds(part, value));
  if (typeof sent !== 'object' || sent === null) return sent !== undefined && String(sent).includes(String(value));
  return Object.values(sent).some((part) => holds(part, value));
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
