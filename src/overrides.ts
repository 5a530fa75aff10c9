import { ConfigurationError, check } from './errors/base.ts';
import { RATE_LIMITS } from './limits.ts';
import {
  isOperationName,
  type Method,
  type OperationName,
  type OperationOverride,
  operations,
  type ResolvedOperation,
  type RetryPolicy,
} from './operations.ts';
import { checkNames } from './option-names.ts';
import { isBucket } from './transport/check-limits.ts';

/** Overrides by the name of their operation; a text such as `'GET /path/{id}'` stands for method and path. */
export type OperationOverrides = Readonly<Partial<Record<OperationName, string | OperationOverride | undefined>>>;

/** What an override says; nothing is `undefined`. */
type Given = { readonly [Field in keyof OperationOverride]: NonNullable<OperationOverride[Field]> };

const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const RETRY_POLICIES: readonly RetryPolicy[] = ['idempotency-key', 'always', 'never'];

const FIELDS: Readonly<Record<keyof OperationOverride, true>> = {
  method: true,
  path: true,
  bucket: true,
  retry: true,
  query: true,
  body: true,
  data: true,
};

/**
 * The operation table with overrides applied.
 *
 * @throws {ConfigurationError} for an override that is not one, or that could have no effect.
 */
export function resolveOperations(overrides: OperationOverrides = {}): (name: OperationName) => ResolvedOperation {
  check(
    isRecord(overrides),
    '`operations` must be an object such as `{ "audiences.get": "GET /api/v2/audiences/{id}" }`.',
  );
  const resolved = new Map<OperationName, ResolvedOperation>();
  for (const name of Object.keys(overrides)) {
    if (!isOperationName(name)) {
      throw new ConfigurationError(`\`operations\` has no operation "${name}": see the table in docs/assumptions.md.`);
    }
    resolved.set(name, resolveOperation(name, readOverride(name, overrides[name])));
  }
  return (name) => resolved.get(name) ?? { ...operations[name], name };
}

/** Overrides on top of others: of one operation, each field replaces the one below it. */
export function mergeOverrides(below: OperationOverrides = {}, above: OperationOverrides = {}): OperationOverrides {
  if (!isRecord(above)) return above;
  const merged: Partial<Record<OperationName, string | OperationOverride | undefined>> = { ...below, ...above };
  for (const name of Object.keys(below)) {
    if (!isOperationName(name)) continue;
    merged[name] = { ...readOverride(name, below[name]), ...readOverride(name, above[name]) };
  }
  return merged;
}

/** An override in its long form, without fields that are `undefined`. */
function readOverride(name: OperationName, override: string | OperationOverride = {}): Given {
  if (typeof override === 'string') return readText(name, override);
  const option = optionOf(name);
  check(isRecord(override), `${code(option)} must be an object, or a string such as "GET /api/v2/audiences/{id}".`);
  checkNames(override, FIELDS, code(option));
  return Object.fromEntries(Object.entries(override).filter(([, value]) => value !== undefined));
}

function readText(name: OperationName, text: string): Given {
  const [, given, path] = /^([A-Z]+) (\/\S*)$/.exec(text) ?? [];
  const method = METHODS.find((one) => one === given);
  if (method && path !== undefined) return { method, path };
  throw new ConfigurationError(`${code(optionOf(name))} must read like "GET /api/v2/audiences/{id}".`);
}

/** JavaScript callers may pass anything; a row that is off could repeat a create without a key. */
function resolveOperation(name: OperationName, override: Given): ResolvedOperation {
  const { query, body, data, ...fields } = override;
  const row: ResolvedOperation = { ...operations[name], ...fields, name, override };
  const must = (field: keyof OperationOverride, right: boolean, fix: string): void =>
    check(right, `${code(`${optionOf(name)}.${field}`)} must ${fix}.`);
  must('path', /^\/[^\s?#]*$/.test(row.path), 'start with "/" and hold no "?" or "#"');
  must('method', METHODS.includes(row.method), 'be GET, POST, PUT, PATCH or DELETE');
  must('bucket', isBucket(row.bucket), `be one of ${Object.keys(RATE_LIMITS).join(', ')}`);
  must('retry', RETRY_POLICIES.includes(row.retry), `be one of ${RETRY_POLICIES.join(', ')}`);
  const isFunction = (value: unknown): boolean => value === undefined || typeof value === 'function';
  must('query', isFunction(query), 'be a function');
  must('body', isFunction(body), 'be a function');
  must('data', isFunction(data), 'be a function');
  must('body', !body || row.method !== 'GET', 'be left out: a GET sends no body. Use `query`, or another method');
  checkParams(name, row.path, override);
  return row;
}

/** A path without the id of what it deletes would succeed, and delete nothing, or something else. */
function checkParams(name: OperationName, path: string, { query, body }: OperationOverride): void {
  const option = code(`${optionOf(name)}.path`);
  const [known, own] = [paramsOf(operations[name].path), paramsOf(path)];
  const unknown = own.find((param) => !known.includes(param));
  const has = known.length > 0 ? `has ${known.map(braced).join(' and ')}` : 'has no parameters';
  check(unknown === undefined, `${option} has ${braced(unknown)}, but the operation ${has}.`);
  const missing = known.find((param) => !own.includes(param));
  check(
    missing === undefined || query !== undefined || body !== undefined,
    `${option} leaves out ${braced(missing)}, so the request would not name its resource. Write ${braced(missing)} into the path, or add \`query\` or \`body\`, whose second argument holds \`${missing}\`.`,
  );
}

const paramsOf = (path: string): readonly string[] => [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
const braced = (param: string | undefined): string => `{${param}}`;
const optionOf = (name: OperationName): string => `operations["${name}"]`;
const code = (text: string): string => `\`${text}\``;
const isRecord = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);
