import type { Paging, ServiceContract } from '../spec/contract.ts';
import document from '../spec/generated/openapi.json' with { type: 'json' };
import type { OperationName, ResolvedOperation } from '../spec/operations.ts';
import type { JsonObject } from '../spec/wire-values.ts';
import { isObject } from '../util/json.ts';
import { anyOption, optionChecker, stringOption } from '../util/options.ts';
import { contractParts, pagedParameters, placedResponses } from './contract-document.ts';
import { contractOption, pagingOf } from './contract-option.ts';
import { mergeOverrides, type OperationOverrides, resolveOperations } from './operation-overrides.ts';

/** An OpenAPI 3.1 document. Its parts are plain JSON. */
export interface OpenApiDocument {
  /** Version of OpenAPI, such as `3.1.1`. */
  readonly openapi: string;
  /** Title, version and description of the document. */
  readonly info: {
    /** Name of the service. */
    readonly title: string;
    /** Major version of the service's API. */
    readonly version: string;
    readonly [more: string]: unknown;
  };
  /** URL of the service: a variable, or the `baseUrl` option. */
  readonly servers: readonly JsonObject[];
  /** Path items by path. Operations of this package have their name as `operationId`. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;
  /** Webhook deliveries by event type. `delivery` describes a delivery of any type. */
  readonly webhooks: Readonly<Record<string, JsonObject>>;
  /** Schemas, responses, headers, parameters and security schemes, by kind and name. */
  readonly components: Readonly<Record<string, JsonObject>>;
  readonly [more: string]: unknown;
}

/** Options of {@link openApiDocument}. */
export interface OpenApiOptions {
  /** Contract of the client. The `operations` option takes precedence. */
  readonly contract?: ServiceContract | undefined;
  /** Overrides of operations, as in the `operations` option of the client. */
  readonly operations?: OperationOverrides | undefined;
  /** URL of the service. @default a variable of the document */
  readonly baseUrl?: string | undefined;
}

const checkOptions = optionChecker<OpenApiOptions>('`openApiDocument`', {
  contract: contractOption,
  operations: anyOption,
  baseUrl: stringOption,
});

/**
 * Returns an OpenAPI 3.1 document of the service: its operations, with rate buckets, idempotency keys and errors, and
 * its webhooks. `x-assumed` marks parts that the specification does not show. The file
 * `audience-activation/openapi.json` is the same document without a contract and overrides.
 *
 * @throws {ConfigurationError} for an invalid contract or override, or an unknown option.
 * @example
 * const { paths } = openApiDocument({ operations: { 'audiences.get': 'GET /api/v2/audience/{id}' } });
 */
export function openApiDocument(options: OpenApiOptions = {}): OpenApiDocument {
  const { contract = {}, operations, baseUrl } = checkOptions(options);
  const resolved = resolveOperations(mergeOverrides(contract.operations, operations));
  const paging = pagingOf(contract);
  const paths: Record<string, Record<string, JsonObject>> = {};
  for (const [path, item] of Object.entries<Readonly<Record<string, JsonObject>>>(document.paths)) {
    for (const [method, operation] of Object.entries(item)) {
      for (const name of namesOf(operation)) {
        const row = Object.hasOwn(resolved, name) ? resolved[name as OperationName] : undefined;
        const place = row ?? { path, method };
        const target = paths[place.path] ?? {};
        paths[place.path] = target;
        const key = place.method.toLowerCase();
        const other = target[key];
        target[key] = other ? withName(other, name) : row ? placed(operation, row, paging) : operation;
      }
    }
  }
  const servers = baseUrl === undefined ? {} : { servers: [{ url: baseUrl }] };
  return structuredClone({ ...document, ...servers, ...contractParts(document, paths, contract) });
}

/** Returns the names of this package's operations that use an operation of the service. */
function namesOf(operation: JsonObject): readonly string[] {
  const names = operation['x-operations'] ?? [operation.operationId];
  return names as readonly string[]; // this package contains the document
}

const withName = (operation: JsonObject, name: string): JsonObject => ({
  ...operation,
  'x-operations': [...namesOf(operation), name],
});

/** Returns an operation with the values of the operation table. */
function placed(
  operation: JsonObject,
  { name, path, bucket, retry, override }: ResolvedOperation,
  paging: Paging | undefined,
): JsonObject {
  const { 'x-operations': names, 'x-assumed': assumed, parameters, ...rest } = operation;
  const isMoved = override?.method !== undefined || override?.path !== undefined;
  const isPaged = paging !== undefined && rest['x-pagination'] !== undefined;
  const adapted = ['query', 'body', 'data'].filter((field) => field in (override ?? {}));
  if (isPaged) adapted.push('paging');
  const isSent = (parameter: unknown): boolean =>
    !isObject(parameter) || parameter.in !== 'path' || path.includes(`{${parameter.name}}`);
  return {
    ...rest,
    operationId: name,
    ...(assumed !== undefined && !isMoved && { 'x-assumed': assumed }),
    ...placedResponses(rest, override?.data),
    parameters: Array.isArray(parameters) ? parameters.filter(isSent) : [],
    ...(isPaged && pagedParameters(rest, parameters, paging)),
    'x-rate-limit-bucket': bucket,
    'x-retry': retry,
    ...((override || isPaged) && { 'x-overridden': adapted.length > 0 ? adapted : true }),
  };
}
