import { Hono } from 'hono';
import { cors } from 'hono/cors';
import { refusal } from './answers.ts';
import type { Env } from './gates.ts';
import { activationRoutes } from './routes/activations.ts';
import { audienceRoutes } from './routes/audiences.ts';
import { authRoutes } from './routes/auth.ts';
import { reportRoutes } from './routes/reports.ts';
import { resourceRoutes } from './routes/resources.ts';
import { uploadRoutes } from './routes/uploads.ts';
import type { Service } from './service.ts';

/** The service's routes; each request is logged when it has been answered. */
export function createApp(service: Service): Hono<Env> {
  const app = new Hono<Env>();
  const { state, clock } = service;

  app.use(cors({ origin: '*', exposeHeaders: ['Retry-After', 'X-Request-Id'] }));
  app.use(async (context, next) => {
    clock.settle();
    await next();
    context.res.headers.set('x-request-id', `req_${state.log.length + 1}`);
    const account = context.get('account')?.email;
    state.log.push({
      at: new Date(clock.now()).toISOString(),
      method: context.req.method,
      path: context.req.path,
      status: context.res.status,
      ...(account !== undefined && { account }),
      ...(context.get('replayed') && { replayed: true }),
    });
  });
  authRoutes(app, service);
  audienceRoutes(app, service);
  activationRoutes(app, service);
  resourceRoutes(app, service);
  reportRoutes(app, service);
  uploadRoutes(app, service);
  app.onError(() => refusal(500, 'Internal error of the sandbox.'));
  app.notFound(() => refusal(404, 'Not found.'));
  return app;
}
