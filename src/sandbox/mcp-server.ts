import { createMcpHandler, Server } from '@modelcontextprotocol/server';
import { type OperationName, operations } from '../operations.ts';

/** Arguments of a tool. */
type ToolInput = Readonly<Record<string, unknown>>;

/** Calls an operation of the API as the owner of a token. */
export type CallOperation = (token: string, operation: OperationName, input: ToolInput) => Promise<Response>;

/** Tokens are no business of an agent, and the endpoint does not call itself. */
const TOOLS = Object.keys(operations).filter(isTool);

function isTool(name: string): name is OperationName {
  return Object.hasOwn(operations, name) && !name.startsWith('auth.') && name !== 'mcp.send';
}

const toolName = (operation: OperationName): string => operation.replace('.', '_');

/** A tool for one operation: its path parameters, and whatever fields its body or query may have. */
function toolOf(operation: OperationName) {
  const { method, path } = operations[operation];
  const params = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const own = params.map((name) => [name, { type: name === 'id' ? 'integer' : 'string' }]);
  const more = operation.endsWith('.create') ? [['idempotency_key', { type: 'string' }]] : [];
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

/** Serves the Model Context Protocol by Streamable HTTP, without sessions, its tools the API's operations. */
export function createMcpServing(call: CallOperation): (request: Request, token: string) => Promise<Response> {
  const handler = createMcpHandler(({ authInfo }) => createServer(authInfo?.token ?? '', call));
  return (request, token) => handler.fetch(request, { authInfo: { token, clientId: 'sandbox', scopes: ['mcp'] } });
}
