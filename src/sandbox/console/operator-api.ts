import { type Context, Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import type { FaultRule } from '../faults.ts';
import type { Env } from '../http/access.ts';
import { checkHost } from '../http/middleware.ts';
import { type JsonObject, readBody } from '../http/request-body.ts';
import type { Service } from '../service.ts';

/** Prefix of the endpoints' paths. */
const API = '/api';

/**
 * Creates the JSON endpoints by which a developer operates a running sandbox: its clock, its faults, its jobs. Every
 * request needs the token of this run, as a bearer token; without CORS headers, no page can read a response.
 */
export function createOperatorApi({ state, clock, faults, jobs, webhooks }: Service, token: string): Hono<Env> {
  const app = new Hono<Env>();
  app.use(checkHost((status, message) => Response.json({ message }, { status })));
  app.use(async (context, next) => {
    if (context.req.header('authorization') === `Bearer ${token}`) return next();
    return context.json({ message: 'Send the token of `consoleUrl` as a bearer token.' }, 401);
  });
  app.onError((error, context) =>
    context.json({ message: error.message }, error instanceof HTTPException ? error.status : 400),
  );
  app.notFound(({ json, req }) => json({ message: `The console has no endpoint ${req.method} ${req.path}.` }, 404));

  app.get(`${API}/state`, ({ json }) => {
    clock.runDue();
    return json({ now: new Date(clock.now()).toISOString(), requests: state.requestCount, jobs: jobs.running });
  });
  app.post(`${API}/clock/advance`, async (context) => {
    const { ms } = await readFields(context);
    await clock.advance(requireNumber(ms, 'ms'), () => webhooks.idle());
    return context.json({ now: new Date(clock.now()).toISOString() });
  });
  app.post(`${API}/jobs/finish`, async (context) => {
    const { kind, id, status, reason } = await readFields(context);
    clock.runDue();
    const job = jobs.running.find((running) => running.kind === kind && running.id === id);
    if (!job) throw new HTTPException(404, { message: `No job of ${kind} ${id} is running.` });
    jobs.finish(job.kind, job.id, requireNumber(status, 'status'), reason === undefined ? undefined : String(reason));
    return context.json({ kind, id, status });
  });
  app.get(`${API}/faults`, ({ json }) => json(faults.rules));
  app.post(`${API}/faults`, async (context) => {
    // `add` checks every field.
    const rule = (await readFields(context)) as FaultRule;
    faults.add(rule);
    return context.json(rule);
  });
  app.delete(`${API}/faults`, ({ json }) => {
    const removed = faults.rules.length;
    faults.clear();
    return json({ removed });
  });
  return app;
}

async function readFields(context: Context): Promise<JsonObject> {
  const body = await readBody(context);
  if (body) return body;
  throw new HTTPException(400, { message: 'The body must be a JSON object, with Content-Type: application/json.' });
}

function requireNumber(value: unknown, name: string): number {
  if (typeof value === 'number') return value;
  throw new HTTPException(400, { message: `\`${name}\` must be a number.` });
}
