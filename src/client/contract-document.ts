import type { Paging, ServiceContract } from '../spec/contract.ts';
import type { OperationOverride } from '../spec/operations.ts';
import type { JsonObject } from '../spec/wire-values.ts';
import { isObject } from '../util/json.ts';

type Paths = Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;

/** Returns the paging and the parameters of an operation according to the contract. */
export function pagedParameters(operation: JsonObject, parameters: unknown, paging: Paging): JsonObject {
  const { style, param, size, maxSize, next } = paging;
  const { cap } = Object(operation['x-pagination']);
  const isPaging = ({ name, $ref }: { readonly name?: unknown; readonly $ref?: unknown }): boolean =>
    name === 'page' || name === 'per_page' || $ref === '#/components/parameters/Page';
  const others = Array.isArray(parameters) ? parameters.filter((parameter) => !isPaging(parameter)) : [];
  const most = Math.min(cap ?? Number.POSITIVE_INFINITY, maxSize ?? Number.POSITIVE_INFINITY);
  const maximum = most < Number.POSITIVE_INFINITY && { maximum: most };
  const description = {
    page: 'Number of the page.',
    offset: 'Number of rows before the page.',
    cursor: `Cursor of the page, which the previous page contains at \`${next}\`.`,
  }[style];
  const first = style === 'page' ? 1 : 0;
  const schema = style === 'cursor' ? { type: 'string' } : { type: 'integer', minimum: first, default: first };
  const sizes = size === undefined ? [] : [{ name: size, in: 'query', description: 'Rows per page.' }];
  return {
    'x-pagination': paging,
    parameters: [
      ...others,
      { name: param, in: 'query', description, schema },
      ...sizes.map((parameter) => ({ ...parameter, schema: { type: 'integer', minimum: 1, ...maximum } })),
    ],
  };
}

/** Returns the responses of an operation with the payload at the envelope path of the contract. */
export function placedResponses({ responses }: JsonObject, data: OperationOverride['data']): JsonObject {
  if (typeof data !== 'string' || !isObject(responses) || !isObject(responses['200'])) return {};
  const { content, ...rest } = responses['200'];
  const json: unknown = Object(content)['application/json'];
  if (!isObject(json)) return {};
  const { schema, example } = json;
  const { properties, required }: { properties?: unknown; required?: unknown } = Object(schema);
  if (!isObject(properties) || !Array.isArray(required)) return {};
  const keys = data.split('.');
  const { data: payload, ...fields } = properties;
  const placed = {
    ...Object(schema),
    properties: { ...fields, ...schemaAt(keys, payload).properties },
    required: [...required.filter((name) => name !== 'data'), keys[0]],
  };
  const { data: shown, ...envelope } = Object(example);
  const moved = example !== undefined && { example: { ...envelope, ...Object(valueWith(keys, shown)) } };
  return {
    responses: { ...responses, 200: { ...rest, content: { 'application/json': { schema: placed, ...moved } } } },
  };
}

/** Returns the schema of an object that has a value with the given schema at a path. */
function schemaAt([key = '', ...keys]: readonly string[], schema: unknown): { readonly properties: JsonObject } {
  const inner = keys.length === 0 ? schema : schemaAt(keys, schema);
  return Object.assign({ type: 'object', properties: { [key]: inner } }, { required: [key] });
}

/** Returns an object that has a value at a path. */
const valueWith = (keys: readonly string[], value: unknown): unknown =>
  keys.reduceRight((inner: unknown, key) => ({ [key]: inner }), value);

interface Info {
  readonly title: string;
  readonly version: string;
  readonly description: string;
  readonly 'x-assumed'?: string;
}

/** The components that a contract changes or refers to. */
interface Components {
  readonly schemas: JsonObject;
  readonly headers: { readonly RequestId: JsonObject };
  readonly parameters: { readonly Page: JsonObject };
}

/** Returns the changed paths and components of an OpenAPI document. */
export function contractParts(
  { info, components }: { readonly info: Info; readonly components: Components },
  paths: Paths,
  contract: ServiceContract,
) {
  const { $schema, operations, checked, ...rest } = contract;
  if (Object.keys(rest).length === 0) return { paths };
  const { paging, serverTimeZone, requestIdHeader, statuses = {} } = contract;
  const { 'x-assumed': assumedZone, ...overview } = info;
  const { 'x-assumed': assumedName, ...RequestId } = components.headers.RequestId;
  const { Page, ...parameters } = components.parameters;
  const named = Object.entries(statuses).map(([status, progress]) => `${status} is ${progress}`);
  const description = [
    info.description,
    ...(serverTimeZone === undefined ? [] : [`Timestamps are in the time zone ${serverTimeZone}.`]),
    ...(named.length === 0 ? [] : [`Statuses of this service: ${named.join(', ')}.`]),
  ].join('\n\n');
  const parts = {
    paths: contract.waits?.via === 'get' ? withoutStatus(paths, components.schemas) : paths,
    components: {
      ...components,
      ...(paging && { parameters }),
      ...(requestIdHeader !== undefined && { headers: { ...components.headers, RequestId } }),
    },
  };
  return {
    info: { ...(serverTimeZone === undefined ? info : overview), description },
    'x-contract': rest,
    ...(requestIdHeader === undefined ? parts : withHeader(parts, requestIdHeader)),
  };
}

/** Returns the paths with schemas for lists whose rows have no status. */
function withoutStatus(paths: Paths, schemas: JsonObject): Paths {
  const withOptionalStatus = (object: JsonObject): JsonObject => {
    const [name = ''] = /\w+$/.exec(String(Object(object.items).$ref)) ?? [];
    const { required, ...schema } = Object(schemas[name]);
    if (!Array.isArray(required) || !required.includes('status')) return object;
    return { ...object, items: { ...schema, required: required.filter((field) => field !== 'status') } };
  };
  const isList = ({ operationId }: JsonObject): boolean => String(operationId).endsWith('.list');
  return rewrite(paths, (object) => (isList(object) ? rewrite(object, withOptionalStatus) : object));
}

/** Returns parts of a document with the request id header renamed. */
const withHeader = <Parts>(parts: Parts, name: string): Parts =>
  rewrite(parts, ({ 'x-request-id': header, ...others }) => ({
    ...others,
    ...(header !== undefined && { [name]: header }),
  }));

/** Returns a copy of a part of a document, in which `change` has replaced every object. */
function rewrite<Part>(part: Part, change: (object: JsonObject) => JsonObject): Part {
  const copy = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(copy);
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(change(value)).map(([key, inner]) => [key, copy(inner)]));
  };
  return copy(part) as Part; // `change` keeps the type of the part
}
