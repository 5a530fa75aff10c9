import {
  createMcpHandler,
  isLegacyRequest,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { type OperationName, operations } from '../../spec/operations.ts';

/** Arguments of a tool. */
type ToolInput = Readonly<Record<string, unknown>>;

/** Calls an operation of the API as the owner of a token. */
export type CallOperation = (token: string, operation: OperationName, input: ToolInput) => Promise<Response>;

const text = { type: 'string' };
const integer = { type: 'integer' };
const list = { type: 'array' };
const object = { type: 'object' };

const EVENT_STREAM = 'text/event-stream';

/** Tokens are no business of an agent, and the endpoint does not call itself. */
const TOOLS = Object.keys(operations).filter(isTool);

function isTool(name: string): name is OperationName {
  return Object.hasOwn(operations, name) && !name.startsWith('auth.') && name !== 'mcp.send';
}

/** What the arguments of an operation are, beside its path parameters and an idempotency key. */
const ARGUMENTS: Readonly<Partial<Record<OperationName, Readonly<Record<string, object>>>>> = {
  'audiences.create': { name: text, project_id: integer, dataset: list, filters: object },
  'lookalikes.create': { name: text, source_audience_id: integer, config: object },
  'estimates.create': { name: text, dataset: list, filters: object },
  'activations.create': { audience_id: integer, description: text, identifier: text, filters: object },
  'cohorts.create': { name: text, upload_reference: text },
  'projects.create': { name: text },
  'schedules.create': { name: text, audience_id: integer, interval_hours: { type: 'number' } },
  'uploads.reserve': { kind: text, size: integer },
  'usage.get': { yearmonth: text },
};

const PAGING = { page: integer, per_page: integer };

const toolName = (operation: OperationName): string => operation.replace('.', '_');

/** A tool for one operation: its path parameters, and whatever fields its body or query may have. */
function toolOf(operation: OperationName) {
  const { method, path } = operations[operation];
  const params = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const own = params.map((name) => [name, name === 'id' ? integer : text]);
  const more = [
    ...Object.entries(ARGUMENTS[operation] ?? {}),
    ...(operation.endsWith('.create') ? [['idempotency_key', text]] : []),
    ...(operation.endsWith('.list') ? Object.entries(PAGING) : []),
  ];
  return {
    name: toolName(operation),
    description: `${method} ${path}`,
    inputSchema: { type: 'object' as const, properties: Object.fromEntries([...own, ...more]), required: params },
    annotations: { readOnlyHint: method === 'GET' },
  };
}

function createServer(token: string, call: CallOperation): Server {
  const server = new Server({ name: 'audience-activation-sandbox', version: '2' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({ tools: TOOLS.map(toolOf) }));
  server.setRequestHandler('tools/call', async ({ params }) => {
    const operation = TOOLS.find((name) => toolName(name) === params.name);
    if (!operation) return { content: [{ type: 'text', text: `There is no tool ${params.name}.` }], isError: true };
    const response = await call(token, operation, params.arguments ?? {});
    return { content: [{ type: 'text', text: await response.text() }], isError: !response.ok };
  });
  return server;
}

/**
 * Serves the Model Context Protocol by Streamable HTTP, without sessions, its tools the API's operations. Responses to
 * clients that do not accept event streams are JSON.
 */
export function createMcpServing(call: CallOperation): (request: Request, token: string) => Promise<Response> {
  const handler = createMcpHandler(({ authInfo }) => createServer(authInfo?.token ?? '', call));
  return async (request, token) => {
    const authInfo = { token, clientId: 'sandbox', scopes: ['mcp'] };
    const takesStream = request.headers.get('accept')?.includes(EVENT_STREAM);
    // The handler streams to clients of the protocol's revisions up to 2025, and to those alone.
    if (takesStream || request.method !== 'POST' || !(await isLegacyRequest(request)))
      return handler.fetch(request, { authInfo });
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    await createServer(token, call).connect(transport);
    const headers = new Headers(request.headers);
    headers.append('accept', EVENT_STREAM);
    const response = await transport.handleRequest(new Request(request, { headers }), { authInfo });
    await transport.close();
    return response;
  };
}
