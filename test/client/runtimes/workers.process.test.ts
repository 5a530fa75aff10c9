import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { Miniflare } from 'miniflare';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AudienceClient, memoryTokenStore, type StoredToken } from '../../../src/index.ts';
import { createOAuthClient } from '../../../src/oauth/index.ts';
import { createSandbox, type Sandbox } from '../../../src/sandbox/index.ts';
import { delivery, SECRET, wireEvent } from '../../support/deliveries.ts';
import { REDIRECT, signIn } from '../../support/oauth.ts';
import { credentials } from '../../support/sandbox.ts';

let sandbox: Sandbox;
let service: Awaited<ReturnType<Sandbox['listen']>>;
let worker: Miniflare;
let client: AudienceClient;

beforeAll(async () => {
  sandbox = createSandbox({ clock: 'manual', limits: { read: { limit: 100_000, interval: 60_000 } } });
  const token = sandbox.accounts.create(credentials).token('api');
  service = await sandbox.listen();
  const store = memoryTokenStore();
  await signIn(createOAuthClient({ baseUrl: service.url, redirectUri: REDIRECT, store }));
  const { oauth: state, ...signedIn } = (await store.load()) as StoredToken & { oauth: { grant: object } };
  const expiresAt = new Date(0).toISOString();
  const expired = { ...signedIn, expiresAt, oauth: { ...state, grant: { ...state.grant, expiresAt } } };
  client = new AudienceClient({ baseUrl: service.url, token, rateLimits: false, logLevel: 'off' });
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('./worker.ts', import.meta.url))],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    conditions: ['workerd', 'worker', 'browser'],
    define: {
      BASE_URL: JSON.stringify(service.url),
      TOKEN: JSON.stringify(token),
      CREDENTIALS: JSON.stringify(credentials),
      SIGN_IN: JSON.stringify(expired),
      SECRET: JSON.stringify(SECRET),
    },
  });
  worker = new Miniflare({
    modules: true,
    script: outputFiles[0]?.text ?? '',
    compatibilityDate: '2026-04-01',
    durableObjects: { ROOM: 'Room' },
    cf: false,
  });
  await worker.ready;
});

afterAll(async () => {
  await worker?.dispose();
  await service?.close();
});

async function start(): Promise<number> {
  const { id } = await client.audiences.create({ name: 'Visitors' });
  return id;
}

async function send(path: string, init?: RequestInit): Promise<string> {
  const headers = new Headers(init?.headers);
  // The runtime may close an idle connection just before it is used again.
  headers.set('connection', 'close');
  const response = await fetch(new URL(path, await worker.ready), { ...init, headers });
  return `${response.status} ${await response.text()}`;
}

const sendMany = (count: number, path: string): Promise<string[]> =>
  Promise.all(Array.from({ length: count }, () => send(path)));

/** Begins a request whose work sends another one, which gets no response, and ends it then. */
async function leave(path: string, on: string): Promise<void> {
  sandbox.faults.add({ on, times: 1, delay: 60_000, status: 503 });
  const left = send(path);
  await expect.poll(() => sandbox.faults.list()).toEqual([]);
  await send('/leave');
  expect(await left).toBe('200 "left"');
}

const repeat = (count: number, id: number): string[] => Array.from({ length: count }, () => `200 ${id}`);

describe.each([
  { place: 'a Worker', room: '' },
  { place: 'a Durable Object', room: '&room' },
])('a client at module scope of $place', ({ room }) => {
  it('serves 100 overlapping requests', async () => {
    const id = await start();
    expect(await sendMany(100, `/get?id=${id}${room}`)).toEqual(repeat(100, id));
  });

  it.each(['/queued', '/limiter'])('serves requests that queue at the rate limit: %s', async (path) => {
    const id = await start();
    expect(await sendMany(12, `${path}?id=${id}${room}`)).toEqual(repeat(12, id));
  });

  it('serves calls behind those whose request has ended', async () => {
    const id = await start();
    expect(await sendMany(6, `/left?id=${id}${room}`)).toEqual(Array(6).fill('200 "left"'));
    expect(await sendMany(4, `/queued?id=${id}${room}`)).toEqual(repeat(4, id));
  });

  it('serves the waits of 100 requests', async () => {
    const id = await start();
    const waits = sendMany(100, `/wait?id=${id}${room}`);
    expect(await sendMany(4, `/queued?id=${id}${room}`)).toEqual(repeat(4, id));
    sandbox.jobs.finish('audience', id, 104);
    expect(await waits).toEqual(repeat(100, id));
  });

  it('closes the client while its own request waits', async () => {
    expect(await send(`/close?id=${await start()}${room}`)).toBe('200 "client-closed"');
  });
});

describe('a wait in a Worker', () => {
  it('polls itself if the request whose poll it shares has ended', async () => {
    const id = await start();
    await leave(`/wait-left?id=${id}`, `GET /api/v2/audiences/${id}`);
    const waits = sendMany(20, `/wait?id=${id}`);
    sandbox.jobs.finish('audience', id, 104);
    expect(await waits).toEqual(repeat(20, id));
  });
});

/** Returns how many requests to a path have succeeded. */
const successes = (path: string): number =>
  sandbox.log.filter((request) => request.path === path && request.status === 200).length;

describe.each([
  { path: '/issued', of: '/api/v2/auth/api-token', name: 'a token source' },
  { path: '/oauth', of: '/oauth/token', name: 'an OAuth client' },
])('$name at module scope of a Worker', ({ path, of }) => {
  it('renews its token once for 100 requests, behind a renewal whose request has ended', async () => {
    const id = await start();
    const before = successes(of);
    await leave(`${path}-left?id=${id}`, `POST ${of}`);
    expect(await sendMany(100, `${path}?id=${id}`)).toEqual(repeat(100, id));
    expect(successes(of)).toBe(before + 1);
  });
});

describe('a receiver at module scope of a Worker', () => {
  it('handles a delivery again if the request of the first one has ended', async () => {
    const deliver = async (path: string): Promise<string> => {
      const request = await delivery(wireEvent('evt_1'));
      return send(path, { method: 'POST', headers: request.headers, body: await request.text() });
    };
    const left = deliver('/webhook-left');
    await expect.poll(() => send('/deliveries')).toBe('200 1');
    await send('/leave');
    expect(await left).toBe('200 "left"');
    await expect.poll(() => deliver('/webhook')).toBe('200 200');
  });
});
