import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { openApiDocument } from '../../src/index.ts';
import type { JsonObject } from '../../src/spec/wire-values.ts';
import { isObject, parseJson } from '../../src/util/json.ts';

/** A request and its response, as they were on the wire. */
export interface Exchange {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  /** Text of the body, if there was one. */
  readonly body: string | undefined;
  readonly status: number;
  readonly responseHeaders: Headers;
  /** Text of the response, if it is JSON. */
  readonly response: string | undefined;
}

const document = openApiDocument();
const ajv = new Ajv2020({ strict: false, allErrors: true, coerceTypes: false });
formats.default(ajv);
ajv.addSchema({ ...document, $id: 'contract' });

const validators = new Map<string, ValidateFunction>();

/** Returns the problems of a value by the schema at a JSON pointer of the document. */
function problemsOf(what: string, value: unknown, pointer: string): string[] {
  const validate = validators.get(pointer) ?? ajv.compile({ $ref: `contract#${pointer}` });
  validators.set(pointer, validate);
  if (validate(value)) return [];
  return (validate.errors ?? []).map(({ instancePath, message }) => `${what}${instancePath} ${message}`);
}

const pointerOf = (...keys: readonly string[]): string =>
  keys.map((key) => `/${encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))}`).join('');

/** Returns an object of the document, and its JSON pointer, by following references. */
function resolve(value: unknown, pointer: string): { readonly value: JsonObject; readonly pointer: string } {
  const object = isObject(value) ? value : {};
  if (typeof object.$ref !== 'string') return { value: object, pointer };
  const target = object.$ref.slice(1);
  const parts = target.split('/').slice(1);
  return resolve(
    parts.reduce<unknown>((at, part) => (isObject(at) ? at[part] : undefined), document),
    target,
  );
}

interface Match {
  readonly operation: JsonObject;
  readonly pointer: string;
  readonly params: Readonly<Record<string, string>>;
}

const TEMPLATES = Object.entries(document.paths)
  .map(([path, item]) => ({ path, item, pattern: new RegExp(`^${path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`) }))
  // A literal path precedes one with a parameter.
  .sort((a, b) => Number(a.path.includes('{')) - Number(b.path.includes('{')));

function findOperation(method: string, pathname: string): Match | undefined {
  for (const { path, item, pattern } of TEMPLATES) {
    const match = pattern.exec(pathname);
    const operation = item[method.toLowerCase()];
    if (!match || !operation) continue;
    return { operation, pointer: pointerOf('paths', path, method.toLowerCase()), params: { ...match.groups } };
  }
  return undefined;
}

/** Returns whether the document describes an operation with this method and path. */
export const isDescribed = (method: string, url: string): boolean =>
  findOperation(method, new URL(url).pathname) !== undefined;

/** Returns how a request violates the contract. */
export function requestViolations({ method, url, headers, body }: Exchange): string[] {
  const { pathname, searchParams } = new URL(url);
  const match = findOperation(method, pathname);
  if (!match) return [`${method} ${pathname} is not an operation`];
  const { operation, pointer, params } = match;
  const problems: string[] = [];
  const parameters = Array.isArray(operation.parameters) ? operation.parameters : [];
  for (const [index, entry] of parameters.entries()) {
    const parameter = resolve(entry, `${pointer}/parameters/${index}`);
    const { name, in: place, required } = parameter.value;
    const key = String(name);
    const sent =
      place === 'path'
        ? decodeURIComponent(params[key] ?? '')
        : place === 'query'
          ? searchParams.get(key)
          : headers.get(key);
    if (sent === null) {
      if (required) problems.push(`${key} is missing`);
      continue;
    }
    const { type } = Object(parameter.value.schema);
    problems.push(...problemsOf(key, type === 'integer' ? Number(sent) : sent, `${parameter.pointer}/schema`));
  }
  if (operation['x-retry'] === 'idempotency-key' && !headers.has('idempotency-key'))
    problems.push('it has no idempotency key');
  problems.push(...bodyViolations(operation.requestBody, `${pointer}/requestBody`, headers, body));
  return problems.map((problem) => `request ${String(operation.operationId)}: ${problem}`);
}

function bodyViolations(requestBody: unknown, pointer: string, headers: Headers, body: string | undefined): string[] {
  if (!isObject(requestBody)) return body ? ['it has a body'] : [];
  const type = headers.get('content-type')?.split(';')[0] ?? '';
  // Files are received as multipart/form-data (specification, "Endpoints").
  if (type === 'multipart/form-data') return [];
  if (!isObject(requestBody.content) || !Object.hasOwn(requestBody.content, type)) return [`its type is ${type}`];
  return type === 'application/json'
    ? problemsOf('body', parseJson(body ?? ''), `${pointer}${pointerOf('content', type, 'schema')}`)
    : [];
}

/** Returns how the delivery of a webhook event violates the contract. */
export function deliveryViolations(type: string, headers: Headers, body: string): string[] {
  const pointer = `${pointerOf('webhooks', type)}/post/requestBody${pointerOf('content', 'application/json', 'schema')}`;
  const signature = headers.get('service-signature');
  const problems = problemsOf('Service-Signature', signature, '/components/parameters/SignatureHeader/schema');
  return [...problems, ...problemsOf('body', parseJson(body), pointer)];
}

/** Returns how the events of a stream violate the contract: their data are messages of JSON-RPC. */
export const streamViolations = (text: string): string[] =>
  [...text.matchAll(/^data: (.*)$/gm)].flatMap(([, message = '']) =>
    problemsOf('event', parseJson(message), '/components/schemas/JsonRpcMessage'),
  );

/** Headers of HTTP itself, and those by which pages of any origin can read the responses of a sandbox. */
const UNDESCRIBED: readonly string[] = [
  ...['content-type', 'content-length', 'date', 'connection', 'keep-alive', 'transfer-encoding', 'vary'],
  ...['access-control-allow-origin', 'access-control-expose-headers'],
  // Only a sandbox whose clock is not that of the machine sends it.
  'x-sandbox-time',
];

/** Returns how a response violates the contract. */
export function responseViolations({ method, url, status, responseHeaders, response }: Exchange): string[] {
  const match = findOperation(method, new URL(url).pathname);
  if (!match) return [];
  const { operation, pointer } = match;
  const responses = isObject(operation.responses) ? operation.responses : {};
  const key = String(status);
  const label = `response ${status} of ${String(operation.operationId)}`;
  if (!Object.hasOwn(responses, key)) return [`${label}: the status is not described`];
  const described = resolve(responses[key], `${pointer}/responses/${key}`);
  const problems: string[] = [];
  const named = isObject(described.value.headers) ? described.value.headers : {};
  for (const [name, entry] of Object.entries(named)) {
    const header = resolve(entry, `${described.pointer}/headers/${name}`);
    const value = responseHeaders.get(name);
    if (value === null) {
      if (header.value.required) problems.push(`${name} is missing`);
      continue;
    }
    const { type } = Object(header.value.schema);
    problems.push(...problemsOf(name, type === 'integer' ? Number(value) : value, `${header.pointer}/schema`));
  }
  const describedHeaders = new Set([...UNDESCRIBED, ...Object.keys(named).map((name) => name.toLowerCase())]);
  for (const name of responseHeaders.keys())
    if (!describedHeaders.has(name)) problems.push(`its header ${name} is not described`);
  const content = isObject(described.value.content) ? described.value.content : undefined;
  if (!content && response !== undefined) problems.push('it has a body');
  if (content && Object.keys(content).length > 0) {
    const type = responseHeaders.get('content-type')?.split(';')[0] ?? '';
    if (!Object.hasOwn(content, type)) problems.push(`its type is "${type}"`);
    else if (type === 'application/json' && response !== undefined) {
      problems.push(
        ...problemsOf('body', parseJson(response), `${described.pointer}${pointerOf('content', type, 'schema')}`),
      );
    }
  }
  return problems.map((problem) => `${label}: ${problem}`);
}
