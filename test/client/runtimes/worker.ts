/** A worker whose client, limiter and receiver are made at module scope and shared by all requests; workers.process.test.ts runs it. */
import {
  type Audience,
  AudienceClient,
  apiToken,
  memoryLimiter,
  memoryTokenStore,
  type StoredToken,
} from '../../../src/index.ts';
import { createOAuthClient } from '../../../src/oauth/index.ts';
import { createWebhookReceiver } from '../../../src/webhooks/index.ts';

/** Replaced when the worker is bundled. */
declare const BASE_URL: string;
declare const TOKEN: string;
declare const CREDENTIALS: { readonly email: string; readonly password: string };
declare const SIGN_IN: StoredToken;
declare const SECRET: string;

const options = { baseUrl: BASE_URL, token: TOKEN, logLevel: 'off' } as const;
const limiter = memoryLimiter({ read: { limit: 3, interval: 300 } });
const limited = new AudienceClient({ ...options, limiter });

const client = new AudienceClient({ ...options, rateLimits: false });
const issuing = new AudienceClient({ ...options, token: apiToken(CREDENTIALS, { store: memoryTokenStore() }) });
const store = memoryTokenStore();
void store.save(SIGN_IN);
const oauth = createOAuthClient({ baseUrl: BASE_URL, redirectUri: 'http://127.0.0.1/callback', store });

let deliveries = 0;
const receiver = createWebhookReceiver({
  secrets: SECRET,
  leaseMs: 100,
  on: { 'audience.completed': () => (deliveries++ === 0 ? later(60_000) : undefined) },
  logger: { warn() {}, error() {} },
});

const idOf = ({ id }: Audience): number => id;
const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

let mayLeave = false;

/** Begins work, and ends its request when the test says so. */
async function leave(work: () => Promise<unknown>): Promise<string> {
  mayLeave = false;
  void work();
  while (!mayLeave) await later(10);
  return 'left';
}

const routes: Readonly<Record<string, (id: number, request: Request) => Promise<unknown>>> = {
  '/get': async (id) => idOf(await client.audiences.get(id)),
  '/queued': async (id) => idOf(await limited.audiences.get(id)),
  '/limiter': async (id) => idOf(await new AudienceClient({ ...options, limiter }).audiences.get(id)),
  '/wait': async (id) => idOf(await client.audiences.wait(id)),
  '/wait-left': (id) => leave(() => client.audiences.wait(id)),
  '/left': async (id) => {
    // The request ends before its calls.
    void client.audiences.wait(id);
    void limited.audiences.get(id);
    await later(50);
    return 'left';
  },
  '/issued': async (id) => idOf(await issuing.audiences.get(id)),
  '/issued-left': (id) => leave(() => issuing.audiences.get(id)),
  '/oauth': async (id) => ((await oauth.get()) === SIGN_IN.token ? 'the expired token' : id),
  '/oauth-left': () => leave(() => oauth.get()),
  '/webhook': async (_, request) => (await receiver.handle(request)).status,
  '/webhook-left': (_, request) => leave(() => receiver.handle(request)),
  '/deliveries': async () => deliveries,
  '/leave': async () => {
    mayLeave = true;
  },
  '/close': async (id) => {
    const own = new AudienceClient(options);
    const wait = own.audiences.wait(id).catch(({ code }) => code);
    await later(50);
    await own.close();
    return wait;
  },
};

const handle = async (request: Request): Promise<Response> => {
  const { pathname, searchParams } = new URL(request.url);
  try {
    return Response.json((await routes[pathname]?.(Number(searchParams.get('id')), request)) ?? null);
  } catch (error) {
    return new Response(String(error), { status: 500 });
  }
};

/** Handles its requests as the worker does. */
export class Room {
  fetch(request: Request): Promise<Response> {
    return handle(request);
  }
}

interface Env {
  readonly ROOM: {
    idFromName(name: string): unknown;
    get(id: unknown): { fetch(request: Request): Promise<Response> };
  };
}

export default {
  fetch(request: Request, { ROOM }: Env): Promise<Response> {
    const isForRoom = new URL(request.url).searchParams.has('room');
    return isForRoom ? ROOM.get(ROOM.idFromName('one')).fetch(request) : handle(request);
  },
};
