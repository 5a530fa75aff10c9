import { Hono } from 'hono';
import document from '../spec/generated/openapi.json' with { type: 'json' };
import { API } from '../spec/operations.ts';
import type { Env } from './http/access.ts';
import { addMiddleware } from './http/middleware.ts';
import { failure } from './http/responses.ts';
import { mcpRoutes } from './mcp/mcp-routes.ts';
import { oauthRoutes } from './oauth/oauth-routes.ts';
import { cancelRoute } from './routes/audience-routes.ts';
import { authRoutes } from './routes/auth-routes.ts';
import { readOnlyRoutes } from './routes/read-only-routes.ts';
import { resourceRoutes } from './routes/resource-routes.ts';
import { uploadRoutes } from './routes/upload-routes.ts';
import type { Service } from './service.ts';
import { RESOURCE_TYPES } from './tasks.ts';

export function createApp(service: Service): Hono<Env> {
  const app = new Hono<Env>();
  const exposed = ['Retry-After', 'WWW-Authenticate', service.contract?.requestIdHeader ?? 'X-Request-Id'];
  addMiddleware(app, service, exposed, (status, message = `The sandbox responds with ${status}.`) =>
    failure(status, message),
  );
  authRoutes(app, service);
  for (const type of RESOURCE_TYPES) resourceRoutes(app, service, type);
  cancelRoute(app, service);
  readOnlyRoutes(app, service);
  uploadRoutes(app, service);
  oauthRoutes(app, service);
  mcpRoutes(app, service);
  app.get('/openapi.json', async ({ env, req }) => {
    const { contract } = service;
    const baseUrl = env.overHttp?.origin ?? new URL(req.url).origin;
    if (!contract) return Response.json({ ...document, servers: [{ url: baseUrl }] });
    // Import the module here: a sandbox without a contract does not need it.
    const { openApiDocument } = await import('../client/openapi-document.ts');
    try {
      return Response.json(openApiDocument({ contract, baseUrl }));
    } catch (error) {
      // The contract needs functions, which a client can add and a sandbox cannot.
      return failure(
        404,
        `This contract requires override functions, which a sandbox cannot have. ${error instanceof Error ? error.message : error}`,
      );
    }
  });
  app.notFound(({ req: { method, path } }) =>
    failure(
      404,
      service.contract || path.startsWith(`${API}/`)
        ? `Not found: the API has no operation ${method} ${path}.`
        : `Not found: the API is under ${API}/.`,
    ),
  );
  return app;
}
