/** Compiled against the installed package by every supported TypeScript; it never runs. */
import {
  type Audience,
  AudienceClient,
  AudienceError,
  apiToken,
  JobError,
  memoryTokenStore,
  NotFoundError,
} from 'audience-activation';
import { connectMcp } from 'audience-activation/mcp';
import { type DownloadedFile, downloadTo, openFile, toNodeListener } from 'audience-activation/node';
import { type OAuthClient, OAuthError } from 'audience-activation/oauth';
import { type RedisClient, redisDedupe, redisLimiter, redisTokenStore } from 'audience-activation/redis';
import { createSandbox, type Sandbox } from 'audience-activation/sandbox';
import { createWebhookReceiver, verifyWebhook, type WebhookEvent } from 'audience-activation/webhooks';

export async function useRoot(): Promise<Audience> {
  const token = apiToken({ email: 'a@example.com', password: 'x' }, { store: memoryTokenStore() });
  const client = new AudienceClient({ baseUrl: 'https://api.example.com', token });
  try {
    const { data, requestId } = await client.audiences.get(1).withResponse();
    console.log(data.status.id.toFixed(), requestId?.length);
    for await (const { name } of client.audiences.list({ per_page: 50 })) console.log(name.toUpperCase());
    return await client.audiences.createAndWait({ name: 'Visitors' }, { wait: { timeout: 1_000 } });
  } catch (error) {
    if (NotFoundError.isInstance(error)) console.log(error.code, error.status.toFixed());
    throw error;
  }
}

/** An interface, which has no index signature, as the type of a body. */
interface Visitors {
  readonly name: string;
  readonly segment?: string;
}

export async function useInterfaces(client: AudienceClient, visitors: Visitors, page?: number): Promise<string> {
  await client.audiences.create(visitors);
  await client.audiences.list({ page });
  await client.request('GET', '/api/v2/anything', { query: { ...visitors } });
  return (await client.request<Visitors>('GET', '/api/v2/anything/{id}', { params: { id: 7 } })).name;
}

export function useErrors(errors: readonly unknown[]): readonly number[] {
  for (const error of errors.filter(AudienceError.isInstance)) {
    if (error.code === 'validation-failed') console.log(error.errors.name?.[0]);
    if (JobError.isInstance(error) && error.kind === 'cohort') console.log(error.resource.total_eids.toFixed());
  }
  return errors.filter(NotFoundError.isInstance).map(({ status }) => status);
}

export async function useNode(client: AudienceClient): Promise<readonly DownloadedFile[]> {
  const cohort = await client.cohorts.import(await openFile('customers.csv'), { name: 'Customers' });
  console.log(cohort.total_eids.toFixed());
  return downloadTo(client, 42, './results');
}

export function useRedis(redis: RedisClient): AudienceClient {
  const store = redisTokenStore(redis, { key: 'token' });
  const token = apiToken({ email: 'a@example.com', password: 'x' }, { store });
  console.log(typeof redisDedupe(redis, { prefix: 'events' }).claim);
  return new AudienceClient({ token, limiter: redisLimiter(redis, { fallback: { processes: 4 } }) });
}

export async function useWebhooks(request: Request): Promise<WebhookEvent> {
  const receiver = createWebhookReceiver({
    secrets: ['whsec_new', 'whsec_old'],
    on: { 'audience.completed': ({ data }) => data.results_count.toFixed() },
  });
  toNodeListener(receiver);
  return verifyWebhook(await request.text(), request.headers, 'whsec_new');
}

/** Connects a client that is not an official one, because those are not installed here. */
export async function useMcp(oauth: OAuthClient): Promise<number> {
  const client = { calls: 0, connect: (transport: { close(): Promise<void> }) => transport.close() };
  try {
    return (await connectMcp({ baseUrl: 'https://api.example.com', token: oauth, client, maxRetries: 1 })).calls;
  } catch (error) {
    if (OAuthError.isInstance(error)) console.log(error.error.toUpperCase());
    throw error;
  }
}

export function useSandbox(): Sandbox {
  const sandbox = createSandbox({ jobs: { duration: 0 }, clock: { speed: 60 } });
  const token: string = sandbox.accounts.create({ email: 'a@example.com', password: 'x' }).token('api');
  new AudienceClient({ baseUrl: 'https://api.example.com', token, fetch: sandbox.fetch });
  return sandbox;
}

export async function refused(client: AudienceClient): Promise<void> {
  // @ts-expect-error an id is a number
  client.audiences.get('1');
  // @ts-expect-error no such option
  new AudienceClient({ baseURL: 'https://api.example.com' });
  // @ts-expect-error no such option
  connectMcp({ token: 't', client: { connect: async () => {} }, retries: 1 });
  // @ts-expect-error `client` has no `connect`
  connectMcp({ token: 't', client: {} });
  // @ts-expect-error a path is a string
  openFile(7);
  // @ts-expect-error no such option
  createSandbox({ tempo: 60 });
  // @ts-expect-error no such event type
  createWebhookReceiver({ secrets: 'whsec_x', on: { 'audience.complete': () => undefined } });
  const audience = await client.audiences.get(1);
  // @ts-expect-error a status id is a number
  audience.status.id === '104';
}
