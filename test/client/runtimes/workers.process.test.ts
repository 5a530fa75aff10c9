import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { Miniflare } from 'miniflare';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AudienceClient } from '../../../src/index.ts';
import { createSandbox, type Sandbox } from '../../../src/sandbox/index.ts';

let sandbox: Sandbox;
let service: Awaited<ReturnType<Sandbox['listen']>>;
let worker: Miniflare;
let client: AudienceClient;

beforeAll(async () => {
  sandbox = createSandbox({ clock: 'manual', limits: { read: { limit: 100_000, interval: 60_000 } } });
  const token = sandbox.accounts.create({ email: 'worker@example.com', password: 'a password' }).token('api');
  service = await sandbox.listen();
  client = new AudienceClient({ baseUrl: service.url, token, rateLimits: false, logLevel: 'off' });
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('./worker.ts', import.meta.url))],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    conditions: ['workerd', 'worker', 'browser'],
    define: { BASE_URL: JSON.stringify(service.url), TOKEN: JSON.stringify(token) },
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

async function send(path: string): Promise<string> {
  const response = await fetch(new URL(path, await worker.ready));
  return `${response.status} ${await response.text()}`;
}

const sendMany = (count: number, path: string): Promise<string[]> =>
  Promise.all(Array.from({ length: count }, () => send(path)));

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

  it('serves waits that share polls, and those behind calls whose request has ended', async () => {
    const id = await start();
    expect(await sendMany(6, `/left?id=${id}${room}`)).toEqual(Array(6).fill('200 "left"'));
    const waits = sendMany(20, `/wait?id=${id}${room}`);
    const queued = sendMany(4, `/queued?id=${id}${room}`);
    expect(await queued).toEqual(repeat(4, id));
    sandbox.jobs.finish('audience', id, 104);
    expect(await waits).toEqual(repeat(20, id));
  });

  it('closes the client while its own request waits', async () => {
    expect(await send(`/close?id=${await start()}${room}`)).toBe('200 "client-closed"');
  });
});
