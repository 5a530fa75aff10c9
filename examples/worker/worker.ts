/**
 * A worker in the way of Cloudflare's: `POST /webhooks` receives deliveries and keeps what they tell,
 * `POST /audiences` starts a build and answers at once, `GET /audiences/:id` says what became of it.
 * `npm run example:worker` runs it in workerd against a sandbox.
 */
import { AudienceClient, AudienceError, NotFoundError, RateLimitError, ValidationError } from 'audience-activation';
import {
  createWebhookReceiver,
  isOutdated,
  type KnownWebhookEvent,
  type WebhookReceiver,
} from 'audience-activation/webhooks';

type AudienceEvent = Extract<KnownWebhookEvent, { readonly type: 'audience.completed' | 'audience.failed' }>;

/** What is kept of an audience. */
interface Ended {
  readonly id: number;
  readonly status: string;
  readonly results_count: number;
  readonly updated_at: string;
}

/** The part of a KV namespace that is used here. */
interface Store {
  get(key: string, type: 'json'): Promise<Ended | null>;
  put(key: string, value: string): Promise<void>;
}

/** Bindings of the worker; the token and the secret are secrets of it. */
export interface Env {
  readonly AUDIENCE_BASE_URL: string;
  readonly AUDIENCE_TOKEN: string;
  readonly WEBHOOK_SECRET: string;
  readonly ENDED: Store;
}

/** What the platform gives besides the request. */
export interface Context {
  waitUntil(work: Promise<unknown>): void;
}

/** One for each set of bindings: it remembers events of this isolate. Give `dedupe` for all of them. */
const receivers = new WeakMap<Env, WebhookReceiver>();

function receiverOf(env: Env): WebhookReceiver {
  const known = receivers.get(env);
  if (known) return known;
  const keep = async (event: AudienceEvent): Promise<void> => {
    const { id, status, results_count, updated_at } = event.data;
    const stored = await env.ENDED.get(String(id), 'json');
    if (isOutdated(event, stored ?? undefined)) return;
    await env.ENDED.put(String(id), JSON.stringify({ id, status: status.name, results_count, updated_at }));
  };
  const receiver = createWebhookReceiver({
    secrets: env.WEBHOOK_SECRET,
    on: { 'audience.completed': keep, 'audience.failed': keep },
  });
  receivers.set(env, receiver);
  return receiver;
}

/** A client for one request: what it opens belongs to that request, as workers demand. */
const clientOf = ({ AUDIENCE_BASE_URL, AUDIENCE_TOKEN }: Env): AudienceClient =>
  new AudienceClient({ baseUrl: AUDIENCE_BASE_URL, token: AUDIENCE_TOKEN, maxRetryWait: 5_000 });

/** Starts a build and waits for nothing: the webhook tells of its end. */
async function start(request: Request, env: Env): Promise<Response> {
  const body: { name?: unknown } | null = await request.json().catch(() => null);
  if (typeof body?.name !== 'string') return Response.json({ error: '`name` is missing.' }, { status: 400 });
  await using client = clientOf(env);
  const idempotencyKey = request.headers.get('idempotency-key') ?? crypto.randomUUID();
  const { id } = await client.audiences.create({ name: body.name }, { idempotencyKey, deadline: 20_000 });
  return Response.json({ id, idempotencyKey }, { status: 202, headers: { location: `/audiences/${id}` } });
}

/** What the webhook has told, or what the service says while there is none. */
async function show(id: number, env: Env): Promise<Response> {
  const ended = await env.ENDED.get(String(id), 'json');
  if (ended) return Response.json({ ...ended, source: 'webhook' });
  await using client = clientOf(env);
  const { status, results_count } = await client.audiences.get(id);
  return Response.json({ id, status: status.name, results_count, source: 'service' });
}

/** Tells an error of the client; with an outcome that is not known, the key makes a repeat safe. */
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
    // The answer ends a worker: what is not done by then is waited for.
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
