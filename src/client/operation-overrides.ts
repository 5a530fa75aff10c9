import { ConfigurationError, check } from '../errors/audience-error.ts';
import { RATE_LIMITS } from '../spec/limits.ts';
import {
  isOperationName,
  type Method,
  type OperationName,
  type OperationOverride,
  operations,
  type ResolvedOperation,
  type RetryPolicy,
} from '../spec/operations.ts';
import { formatValue } from '../util/input-checks.ts';
import { isObject } from '../util/json.ts';
import { anyOption, optionChecker } from '../util/options.ts';
import { isBucket } from '../util/rate-limits.ts';
import { isEnvelopePath } from './contract-option.ts';
import type { Settings } from './http/request-options.ts';

/** Overrides by operation name. A string such as `'GET /path/{id}'` sets method and path. */
export type OperationOverrides = Readonly<Partial<Record<OperationName, string | OperationOverride | undefined>>>;

/** The fields of an override, without `undefined`. */
type OverrideFields = { readonly [Field in keyof OperationOverride]: NonNullable<OperationOverride[Field]> };

const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const RETRY_POLICIES: readonly RetryPolicy[] = ['idempotency-key', 'always', 'never'];

const checkOverride = optionChecker<OperationOverride>('an operation', {
  method: anyOption,
  path: anyOption,
  bucket: anyOption,
  retry: anyOption,
  query: anyOption,
  body: anyOption,
  data: anyOption,
});

/**
 * Returns the operation table with overrides applied.
 *
 * @throws {ConfigurationError} for an invalid override.
 */
export function resolveOperations(overrides: OperationOverrides = {}): Settings['operations'] {
  check(isObject(overrides), '`operations` must be an object with operations as keys, such as "audiences.get".');
  const table: Record<string, ResolvedOperation> = {};
  for (const [name, operation] of Object.entries(operations)) table[name] = { ...operation, name };
  for (const name of Object.keys(overrides)) {
    if (!isOperationName(name)) {
      throw new ConfigurationError(`\`operations\` has no operation "${name}".`, {
        advice: 'The documentation page "Assumptions" lists all operations.',
      });
    }
    table[name] = resolveOperation(name, readOverride(name, overrides[name]));
  }
  return table as Settings['operations']; // the table contains every operation
}

/** Merges overrides: each field of `above` replaces the same field of the same operation in `below`. */
export function mergeOverrides(below: OperationOverrides = {}, above: OperationOverrides = {}): OperationOverrides {
  if (!isObject(above)) return above;
  const merged: Partial<Record<OperationName, string | OperationOverride | undefined>> = { ...below, ...above };
  for (const name of Object.keys(below)) {
    if (!isOperationName(name)) continue;
    merged[name] = { ...readOverride(name, below[name]), ...readOverride(name, above[name]) };
  }
  return merged;
}

/** Matches a path without segments such as `..`, with which a request could leave the path of the base URL. */
const PATH = /^(?:\/(?!(?:\.|%2e){1,2}(?:\/|$))[^\s?#\\/]*)+$/i;

/** Matches a method and path, such as `'GET /api/v2/audiences/{id}'`. */
const TEXT = /^(?<method>[A-Z]+) (?<path>\/\S*)$/;

/** Returns an override as an object, without fields that are `undefined`. */
function readOverride(name: OperationName, override: string | OperationOverride = {}): OverrideFields {
  const option = optionOf(name);
  const fields: unknown = typeof override === 'string' ? TEXT.exec(override)?.groups : override;
  if (!isObject(fields)) {
    throw new ConfigurationError(
      `${option} must be an object, or a string such as "GET /api/v2/audiences/{id}", not ${formatValue(override)}.`,
    );
  }
  checkOverride(fields, option);
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/**
 * Applies an override to its operation and checks the result. With an unknown retry policy, for example, the client
 * could repeat a create request without a key.
 */
function resolveOperation(name: OperationName, override: OverrideFields): ResolvedOperation {
  const { query, body, data, ...fields } = override;
  const row: ResolvedOperation = { ...operations[name], ...fields, name, override };
  const must = (field: keyof OperationOverride, right: boolean, fix: string): void =>
    check(right, `${optionOf(name, field)} must ${fix}, not ${formatValue(override[field])}.`);
  must(
    'path',
    PATH.test(row.path),
    'start with "/" and must not contain white space, "?", "#", "\\" or a segment ".."',
  );
  must('method', METHODS.includes(row.method), `be one of ${METHODS.join(', ')}`);
  must('bucket', isBucket(row.bucket), `be one of ${Object.keys(RATE_LIMITS).join(', ')}`);
  must('retry', RETRY_POLICIES.includes(row.retry), `be one of ${RETRY_POLICIES.join(', ')}`);
  const isFunction = (value: unknown): boolean => value === undefined || typeof value === 'function';
  must('query', isFunction(query), 'be a function');
  must('body', isFunction(body), 'be a function');
  must('data', isFunction(data) || isEnvelopePath(data), 'be a function, or a path such as "data.item"');
  check(
    !body || row.method !== 'GET',
    `${optionOf(name, 'body')} must be left out: a GET sends no body. Use \`query\`, or another method.`,
  );
  checkParams(name, row.path, override);
  return row;
}

/** Checks the parameters of a path. A delete request without the id could delete another resource. */
function checkParams(name: OperationName, path: string, { query, body }: OperationOverride): void {
  const option = optionOf(name, 'path');
  const [defined, used] = [paramsOf(operations[name].path), paramsOf(path)];
  const unknown = used.find((param) => !defined.includes(param));
  const parameters = defined.map(braced).join(', ') || 'none';
  check(unknown === undefined, `${option} has ${braced(unknown)}; the parameters of the operation: ${parameters}.`);
  const missing = defined.find((param) => !used.includes(param));
  check(
    missing === undefined || query !== undefined || body !== undefined,
    `${option} has no ${braced(missing)}, so the request would not name its resource. Add the parameter to the path, or send it with a \`query\` or \`body\` function, whose second argument contains the path parameters.`,
  );
}

const paramsOf = (path: string): readonly string[] => [...path.matchAll(/\{([^}]*)\}/g)].map(([, name = '']) => name);
const braced = (param: string | undefined): string => `{${param}}`;
const optionOf = (name: OperationName, field?: string): string =>
  `\`operations["${name}"]${field === undefined ? '' : `.${field}`}\``;
