/** A worker whose client, limiter and receiver are made at module scope and shared by all requests; workers.process.test.ts runs it. */
import { type Audience, AudienceClient, apiToken, memoryLimiter, memoryTokenStore } from '../../../src/index.ts';
import { createOAuthClient } from '../../../src/oauth/index.ts';
import { createWebhookReceiver } from '../../../src/webhooks/index.ts';

/** Replaced when the worker is bundled. */
declare const BASE_URL: string;
declare const TOKEN: string;

const options = { baseUrl: BASE_URL, token: TOKEN, logLevel: 'off' } as const;
const client = new AudienceClient({ ...options, rateLimits: false });
const limiter = memoryLimiter({ read: { limit: 3, interval: 300 } });
const limited = new AudienceClient({ ...options, limiter });

// Must not do anything at module scope, either.
export const unused = [
  createWebhookReceiver({ secrets: 'a secret of the endpoint' }),
  createOAuthClient({ baseUrl: BASE_URL, redirectUri: 'https://app.example.com/cb', store: memoryTokenStore() }),
  apiToken({ email: 'a@example.com', password: 'secret' }, { store: memoryTokenStore() }),
];

const idOf = ({ id }: Audience): number => id;
const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const routes: Readonly<Record<string, (id: number) => Promise<unknown>>> = {
  '/get': async (id) => idOf(await client.audiences.get(id)),
  '/queued': async (id) => idOf(await limited.audiences.get(id)),
  '/limiter': async (id) => idOf(await new AudienceClient({ ...options, limiter }).audiences.get(id)),
  '/wait': async (id) => idOf(await client.audiences.wait(id)),
  '/left': async (id) => {
    // The request ends before its calls.
    void client.audiences.wait(id);
    void limited.audiences.get(id);
    await later(50);
    return 'left';
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
    return Response.json(await routes[pathname]?.(Number(searchParams.get('id'))));
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
