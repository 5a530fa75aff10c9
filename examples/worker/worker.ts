/**
 * A Cloudflare-style worker: `POST /webhooks` receives deliveries and stores their results, `POST /audiences` starts a
 * build and responds immediately, `GET /audiences/:id` returns its status. `node examples/worker/run.ts` runs the worker in
 * workerd against a sandbox.
 */
import { AudienceClient, AudienceError, NotFoundError, RateLimitError, ValidationError } from 'audience-activation';
import {
  createWebhookReceiver,
  isOutdated,
  type KnownWebhookEvent,
  type WebhookReceiver,
} from 'audience-activation/webhooks';

type AudienceEvent = Extract<KnownWebhookEvent, { readonly type: 'audience.completed' | 'audience.failed' }>;

/** Stored result of an audience. */
interface StoredAudience {
  readonly id: number;
  readonly status: string;
  readonly results_count: number;
  readonly updated_at: string;
}

/** Methods of a KV namespace that this worker uses. */
interface Store {
  get(key: string, type: 'json'): Promise<StoredAudience | null>;
  put(key: string, value: string): Promise<void>;
}

/** Bindings of the worker; configure the token and the webhook secret as secrets. */
export interface Env {
  readonly AUDIENCE_BASE_URL: string;
  readonly AUDIENCE_TOKEN: string;
  readonly WEBHOOK_SECRET: string;
  readonly ENDED: Store;
}

/** Execution context of a request. */
export interface Context {
  waitUntil(work: Promise<unknown>): void;
}

/** Receivers by bindings. Each dedupes the events of this isolate only; to dedupe across isolates, pass `dedupe`. */
const receivers = new WeakMap<Env, WebhookReceiver>();

function receiverOf(env: Env): WebhookReceiver {
  const existing = receivers.get(env);
  if (existing) return existing;
  const store = async (event: AudienceEvent): Promise<void> => {
    const { id, status, results_count, updated_at } = event.data;
    const previous = await env.ENDED.get(String(id), 'json');
    if (isOutdated(event, previous ?? undefined)) return;
    await env.ENDED.put(String(id), JSON.stringify({ id, status: status.name, results_count, updated_at }));
  };
  const receiver = createWebhookReceiver({
    secrets: env.WEBHOOK_SECRET,
    on: { 'audience.completed': store, 'audience.failed': store },
  });
  receivers.set(env, receiver);
  return receiver;
}

let client: AudienceClient | undefined;

/** Returns the client of this isolate, which its requests share. */
function clientOf({ AUDIENCE_BASE_URL, AUDIENCE_TOKEN }: Env): AudienceClient {
  client ??= new AudienceClient({ baseUrl: AUDIENCE_BASE_URL, token: AUDIENCE_TOKEN, maxRetryWait: 5_000 });
  return client;
}

/** Starts a build without waiting: the webhook reports its end. */
async function start(request: Request, env: Env): Promise<Response> {
  const body: { name?: unknown } | null = await request.json().catch(() => null);
  if (typeof body?.name !== 'string') return Response.json({ error: '`name` is missing.' }, { status: 400 });
  const idempotencyKey = request.headers.get('idempotency-key') ?? crypto.randomUUID();
  const { id } = await clientOf(env).audiences.create({ name: body.name }, { idempotencyKey, deadline: 20_000 });
  return Response.json({ id, idempotencyKey }, { status: 202, headers: { location: `/audiences/${id}` } });
}

/** Returns the result that the webhook has reported, or else the status of the service. */
async function show(id: number, env: Env): Promise<Response> {
  const stored = await env.ENDED.get(String(id), 'json');
  if (stored) return Response.json({ ...stored, source: 'webhook' });
  const { status, results_count } = await clientOf(env).audiences.get(id);
  return Response.json({ id, status: status.name, results_count, source: 'service' });
}

/** Returns the response for an error of the client; if the outcome is unknown, the key makes a retry safe. */
function failure(error: unknown): Response {
  if (!AudienceError.isInstance(error)) throw error;
  const { code, outcome, idempotencyKey } = error;
  if (ValidationError.isInstance(error)) return Response.json({ code, errors: error.errors }, { status: 422 });
  const status = NotFoundError.isInstance(error) ? 404 : RateLimitError.isInstance(error) ? 429 : 502;
  return Response.json({ code, outcome, idempotencyKey }, { status });
}

async function route(request: Request, env: Env, context: Context): Promise<Response> {
  const { pathname } = new URL(request.url);
  if (pathname === '/webhooks') {
    // A worker may be stopped after its response, unless `waitUntil` keeps it alive for the remaining work.
    return receiverOf(env).handle(request, { waitUntil: (work) => context.waitUntil(work) });
  }
  if (request.method === 'POST' && pathname === '/audiences') return start(request, env);
  const [, id] = /^\/audiences\/(\d{1,15})$/.exec(pathname) ?? [];
  if (request.method === 'GET' && id !== undefined) return show(Number(id), env);
  return Response.json({ error: 'Not found.' }, { status: 404 });
}

export default {
  fetch: (request: Request, env: Env, context: Context): Promise<Response> =>
    route(request, env, context).catch(failure),
};
