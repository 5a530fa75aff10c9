import type { ServiceContract } from '../../../src/spec/contract.ts';
import type { OperationName } from '../../../src/spec/operations.ts';
import { isObject } from '../../../src/util/json.ts';
import { type Answer, type Call, failure, json, type Trait } from './exchange.ts';
import { type Route, routesOf } from './routes.ts';

const isPublic = ({ operation }: Route): boolean => !operation.startsWith('auth.') && operation !== 'mcp.send';

/** Bodies of creates, as published. */
const FIELDS: Readonly<Partial<Record<OperationName, readonly string[]>>> = {
  'projects.create': ['name'],
  'audiences.create': ['name', 'project_id', 'dataset', 'filters'],
  'lookalikes.create': ['name', 'source_audience_id', 'config'],
  'activations.create': ['description', 'audience_id', 'credentials'],
};

const schemaOf = (operation: OperationName) => ({
  type: 'object',
  properties: Object.fromEntries((FIELDS[operation] ?? []).map((name) => [name, {}])),
});

/** Publishes an OpenAPI document of the service at a path. Its paths are below that of its server, if it has one. */
export const publishesOpenApi =
  (contract: ServiceContract = {}, at = '/openapi.json', server?: string) =>
  (): Trait => ({
    answer({ path, method }) {
      if (path !== at || method !== 'GET') return undefined;
      const paths: Record<string, Record<string, unknown>> = {};
      for (const route of routesOf(contract).filter(isPublic)) {
        const { method, path, operation } = route;
        const below = server !== undefined && path.startsWith(server) ? path.slice(server.length) : path;
        paths[below] = {
          ...paths[below],
          [method.toLowerCase()]: {
            summary: `${operation.replace('.', ' ')} of CANARY`,
            parameters: [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({ name, in: 'path', required: true })),
            ...(method === 'POST' && {
              requestBody: { content: { 'application/json': { schema: schemaOf(operation) } } },
            }),
            responses: { 200: { description: 'OK' } },
          },
        };
      }
      return json(200, {
        openapi: '3.1.0',
        info: { title: 'CANARY API', version: '2' },
        ...(server !== undefined && { servers: [{ url: server }] }),
        paths,
      });
    },
  });

interface Tool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: object;
}

const toolOf = ({ operation, method, path }: Route, hasPaths: boolean): Tool => {
  const [namespace = '', verb = ''] = operation.split('.');
  return {
    name: `${verb}_${namespace.replace(/s$/, '')}`,
    description: hasPaths ? `${method} ${path}` : `CANARY: ${verb} ${namespace}.`,
    inputSchema: schemaOf(operation),
  };
};

/** Serves MCP itself, with a catalogue that shows methods and paths, or names only. */
export const servesMcp =
  (contract: ServiceContract = {}, { hasPaths = true, asEvents = false } = {}) =>
  (): Trait => ({
    answer({ operation, body, headers }) {
      if (operation !== 'mcp.send') return undefined;
      if (!headers.has('authorization')) return mcpRefusal(401);
      const { id, method } = isObject(body) ? body : {};
      if (id === undefined) return { status: 202, headers: {}, body: '' };
      const tools = routesOf(contract)
        .filter(isPublic)
        .map((route) => toolOf(route, hasPaths));
      const result = { initialize: INITIALIZED, 'tools/list': { tools } }[String(method)];
      const message = {
        jsonrpc: '2.0',
        id,
        ...(result ? { result } : { error: { code: -32601, message: 'CANARY: no such method' } }),
      };
      if (!asEvents) return json(200, message);
      return {
        status: 200,
        headers: { 'content-type': 'text/event-stream' },
        body: `event: message\ndata: ${JSON.stringify(message)}\n\n`,
      };
    },
  });

const INITIALIZED = {
  protocolVersion: '2025-06-18',
  capabilities: { tools: {} },
  serverInfo: { name: 'CANARY server', version: '1' },
};

/** Refuses every MCP request. */
export const refusesMcp = (status: 401 | 403 | 404) => (): Trait => ({
  answer: ({ operation }: Call) => (operation === 'mcp.send' ? mcpRefusal(status) : undefined),
});

function mcpRefusal(status: 401 | 403 | 404): Answer {
  const answer =
    status === 403 ? failure(403, 'CANARY', { error: 'insufficient_scope' }) : json(status, { message: 'CANARY' });
  return { ...answer, headers: { ...answer.headers, 'www-authenticate': 'Bearer resource_metadata="/canary"' } };
}
