import type { ServiceContract } from '../../../../src/spec/contract.ts';
import type { OperationName } from '../../../../src/spec/operations.ts';
import { json, type Trait } from './exchange.ts';
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
