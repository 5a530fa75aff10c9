import check from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/client';
import { Client as ClientOfSdk } from '@modelcontextprotocol/sdk/client/index.js';
import { TracerProvider } from '@opentelemetry/sdk-trace';
import { AudienceClient, apiToken } from 'audience-activation';
import { connectMcp, type McpClient } from 'audience-activation/mcp';
import { signInWithBrowser } from 'audience-activation/node';
import { openTelemetry } from 'audience-activation/otel';
import { type RedisClient, redisDedupe, redisLimiter, redisTokenStore } from 'audience-activation/redis';
import { createSandbox } from 'audience-activation/sandbox';
import IoRedis from 'ioredis';
import { setupServer } from 'msw/node';
import { createClient } from 'redis';

const baseUrl = 'https://api.example.com';
const credentials = { email: 'a@example.com', password: 'x' };
const sandbox = createSandbox({ jobs: { duration: 100 } });
const account = sandbox.accounts.create(credentials);

/** Shares limits, a token and events through Redis. */
async function useRedis(redis: RedisClient, prefix: string): Promise<void> {
  const client = new AudienceClient({
    baseUrl,
    fetch: sandbox.fetch,
    token: apiToken(credentials, { store: redisTokenStore(redis, { key: `${prefix}:token` }) }),
    limiter: redisLimiter(redis, { prefix: `${prefix}:limits`, fallback: { processes: 1 } }),
  });
  const { status } = await client.audiences.createAndWait({ name: prefix });
  check(status.id === 104, `${prefix}: the audience is built`);
  const dedupe = redisDedupe(redis, { prefix: `${prefix}:events` });
  check(typeof (await dedupe.claim('evt_1', 1_000)) === 'object', `${prefix}: the event is claimed`);
  check((await dedupe.claim('evt_1', 1_000)) === 'busy', `${prefix}: the event is claimed once`);
  await client.close();
}

/** Has msw pass the requests of a client to the sandbox. */
async function useMsw(): Promise<void> {
  const server = setupServer(...sandbox.handlers);
  server.listen();
  const client = new AudienceClient({ baseUrl, token: account.token('api'), maxRetries: 0 });
  const { id } = await client.audiences.create({ name: 'Behind msw' });
  server.resetHandlers();
  server.restoreHandlers();
  check((await client.audiences.get(id)).name === 'Behind msw', 'msw: the audience is read');
  await client.close();
  server.close();
}

/** The part of the official clients that this program uses. */
interface Agent extends McpClient {
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<object>;
  close(): Promise<void>;
}

/** Calls a tool with an official client. */
async function useMcp(client: Agent): Promise<void> {
  const connected = await connectMcp({ baseUrl, token: account.token('mcp'), fetch: sandbox.fetch, client });
  const result = await connected.callTool({ name: 'audiences_create', arguments: { name: 'By an agent' } });
  check(JSON.stringify(result).includes('By an agent'), 'MCP: the tool has created an audience');
  await connected.close();
}

/** Records the spans of a call with the SDK of OpenTelemetry. */
async function useTelemetry(): Promise<void> {
  const names: string[] = [];
  const done = async (): Promise<void> => {};
  const processor = {
    onStart() {},
    onEnd: (span: { name: string }) => void names.push(span.name),
    forceFlush: done,
    shutdown: done,
  };
  const tracerProvider = new TracerProvider({ spanProcessors: [processor] });
  const telemetry = openTelemetry({ tracerProvider });
  const client = new AudienceClient({ baseUrl, token: account.token('api'), fetch: sandbox.fetch, telemetry });
  await client.audiences.createAndWait({ name: 'Traced' });
  await client.close();
  check(names.includes('audiences.create'), `OpenTelemetry: the spans are ${names.join()}`);
}

/** Signs in with a program in place of the browser, which `open` starts with the address. */
async function useSignIn(): Promise<void> {
  process.env.BROWSER = 'curl';
  const received: string[] = [];
  const oauth = {
    redirectUri: 'http://127.0.0.1/callback',
    authorize: async ({ redirectUri = '' } = {}) => ({ url: `${redirectUri}?code=1`, state: '' }),
    callback: async (url: string | URL) => void received.push(String(url)),
  };
  await signInWithBrowser(oauth, { onUrl() {}, timeout: 20_000 });
  check(received.length === 1, 'open: the address is opened');
}

async function main(url = ''): Promise<void> {
  const redis = createClient({ url });
  await redis.connect();
  await useRedis(redis, 'redis');
  await redis.quit();
  const ioredis = new IoRedis.default(url);
  await useRedis(ioredis, 'ioredis');
  await ioredis.quit();
  await useMsw();
  await useMcp(new Client({ name: 'agent', version: '1.0.0' }));
  await useMcp(new ClientOfSdk({ name: 'agent', version: '1.0.0' }));
  await useTelemetry();
  await useSignIn();
  await sandbox.close();
  console.log('done');
}

await main(process.argv[2]);
