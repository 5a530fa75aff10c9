import { Hono } from 'hono';
import { API } from '../operations.ts';
import { refusal } from './answers.ts';
import type { Env } from './gates.ts';
import { addMiddleware } from './middleware.ts';
import { activationRoutes } from './routes/activations.ts';
import { audienceRoutes } from './routes/audiences.ts';
import { authRoutes } from './routes/auth.ts';
import { mcpRoutes } from './routes/mcp.ts';
import { oauthRoutes } from './routes/oauth.ts';
import { reportRoutes } from './routes/reports.ts';
import { resourceRoutes } from './routes/resources.ts';
import { uploadRoutes } from './routes/uploads.ts';
import type { Service } from './service.ts';

/** Paths that belong to the service ("Versioning"). */
export const API_PATHS = /^\/(?:api\/v2|oauth)\/|^\/\.well-known\/oauth-/;

/** The service's routes. */
export function createApp(service: Service): Hono<Env> {
  const app = new Hono<Env>();
  const exposed = ['Retry-After', 'WWW-Authenticate', 'X-Request-Id'];
  addMiddleware(app, service, exposed, (status, message = `The sandbox answers ${status}.`) =>
    refusal(status, message),
  );
  authRoutes(app, service);
  audienceRoutes(app, service);
  activationRoutes(app, service);
  resourceRoutes(app, service);
  reportRoutes(app, service);
  uploadRoutes(app, service);
  oauthRoutes(app, service);
  mcpRoutes(app, service);
  app.notFound(({ req: { method, path } }) =>
    refusal(
      404,
      path.startsWith(`${API}/`)
        ? `Not found: the API has no operation ${method} ${path}.`
        : `Not found: the API is below ${API}/.`,
    ),
  );
  return app;
}
