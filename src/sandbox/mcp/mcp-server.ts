import {
  createMcpHandler,
  isLegacyRequest,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import document from '../../spec/generated/openapi.json' with { type: 'json' };
import { type OperationName, operations } from '../../spec/operations.ts';
import { isObject, type JsonObject } from '../http/request-body.ts';
import type { Service } from '../service.ts';

export type CallOperation = (token: string, operation: OperationName, input: JsonObject) => Promise<Response>;

export interface McpRequest {
  readonly request: Request;
  /** The parsed body; `undefined` if there is no body or it is not JSON. */
  readonly message: unknown;
}

const EVENT_STREAM = 'text/event-stream';

const string = { type: 'string' };
const integer = { type: 'integer' };

/** Operations that the server offers as tools: all except the token operations and `mcp.send`. */
const TOOLS = Object.keys(operations).filter(isTool);

function isTool(name: string): name is OperationName {
  return Object.hasOwn(operations, name) && !name.startsWith('auth.') && name !== 'mcp.send';
}

type Arguments = Readonly<Record<string, unknown>>;

/** Additional arguments of operations, which the OpenAPI document does not describe. */
const ARGUMENTS: Readonly<Partial<Record<OperationName, Arguments>>> = {
  'activations.create': { identifier: string },
  'schedules.create': { audience_id: integer, interval_hours: { type: 'number' } },
  'usage.get': { yearmonth: string },
};

function pagingOf(contract: Service['contract']): Arguments {
  const { style, param, size } = contract?.paging ?? { style: 'page', param: 'page', size: 'per_page' };
  return { [param]: style === 'cursor' ? string : integer, ...(size !== undefined && { [size]: integer }) };
}

const toolName = (operation: OperationName): string => operation.replace('.', '_');

function toolOf(operation: OperationName, service: Service) {
  const { method, path } = service.operations[operation];
  const params = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const properties = {
    ...Object.fromEntries(params.map((name) => [name, name === 'id' ? integer : string])),
    ...bodyFieldsOf(operation),
    ...ARGUMENTS[operation],
    ...(operation.endsWith('.create') && { idempotency_key: string }),
    ...(operation.endsWith('.list') && pagingOf(service.contract)),
  };
  return {
    name: toolName(operation),
    description: `${method} ${path}`,
    inputSchema: { type: 'object' as const, properties, required: params },
    annotations: { readOnlyHint: method === 'GET' },
  };
}

/** Returns the fields of an operation's body, as the OpenAPI document describes them. */
function bodyFieldsOf(operation: OperationName): JsonObject {
  const { method, path } = operations[operation];
  const { paths, components }: { readonly paths: unknown; readonly components: unknown } = document;
  const schema = partOf(paths, path, method.toLowerCase(), 'requestBody', 'content', 'application/json', 'schema');
  const [name = ''] = /\w+$/.exec(String(schema.$ref)) ?? [];
  const properties = partOf(components, 'schemas', name, 'properties');
  return Object.fromEntries(Object.entries(properties).map(([field, part]) => [field, withoutReferences(part)]));
}

/** Returns a schema with its references resolved, because the schema of a tool must be self-contained. */
function withoutReferences(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutReferences);
  if (!isObject(schema)) return schema;
  const { $ref, ...rest } = schema;
  const target = typeof $ref === 'string' ? partOf(document, ...$ref.split('/').slice(1)) : {};
  const parts = Object.entries({ ...target, ...rest }).map(([key, part]) => [key, withoutReferences(part)]);
  return Object.fromEntries(parts);
}

/** Returns the object at a path of a document, or an empty object. */
function partOf(value: unknown, ...keys: readonly string[]): JsonObject {
  const part = keys.reduce((at, key) => (isObject(at) ? at[key] : undefined), value);
  return isObject(part) ? part : {};
}

function createServer(token: string, call: CallOperation, service: Service): Server {
  const server = new Server({ name: 'audience-activation-sandbox', version: '2' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({ tools: TOOLS.map((name) => toolOf(name, service)) }));
  server.setRequestHandler('tools/call', async ({ params }) => {
    const operation = TOOLS.find((name) => toolName(name) === params.name);
    if (!operation) return { content: [{ type: 'text', text: `There is no tool ${params.name}.` }], isError: true };
    const response = await call(token, operation, params.arguments ?? {});
    return { content: [{ type: 'text', text: await response.text() }], isError: !response.ok };
  });
  return server;
}

/**
 * Creates a handler of the Model Context Protocol over Streamable HTTP, without sessions. Its tools are {@link TOOLS}.
 * Responses to clients that do not accept event streams are JSON.
 */
export function createMcpHandlerFor(
  call: CallOperation,
  service: Service,
): (request: McpRequest, token: string) => Promise<Response> {
  const handler = createMcpHandler(({ authInfo }) => createServer(authInfo?.token ?? '', call, service));
  return async ({ request, message: parsedBody }, token) => {
    const authInfo = { token, clientId: 'sandbox', scopes: ['mcp'] };
    const acceptsStream = request.headers.get('accept')?.includes(EVENT_STREAM);
    // `createMcpHandler` always streams to clients of protocol revisions up to 2025, so use another transport to send
    // JSON.
    if (acceptsStream || request.method !== 'POST' || !(await isLegacyRequest(request, parsedBody)))
      return handler.fetch(request, { authInfo, parsedBody });
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    await createServer(token, call, service).connect(transport);
    const headers = new Headers(request.headers);
    headers.append('accept', EVENT_STREAM);
    const response = await transport.handleRequest(new Request(request, { headers }), { authInfo, parsedBody });
    await transport.close();
    return response;
  };
}
