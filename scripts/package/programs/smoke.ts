/** The tasks of a program that uses the package: each runtime, compiler and bundler gets this file. */
import { type Span, type SpanOptions, type Tracer, trace } from '@opentelemetry/api';
import {
  type Audience,
  AudienceClient,
  ConnectionError,
  type Fetch,
  memoryTokenStore,
  NotFoundError,
} from 'audience-activation';
import { connectMcp, type McpFetch } from 'audience-activation/mcp';
import { createOAuthClient } from 'audience-activation/oauth';
import { openTelemetry } from 'audience-activation/otel';
import { createSandbox } from 'audience-activation/sandbox';
import { createWebhookReceiver, SIGNATURE_HEADER, signWebhook, verifyWebhook } from 'audience-activation/webhooks';

/** The service that the tasks use. */
export interface Service {
  readonly baseUrl: string;
  readonly token: string;
  readonly mcpToken: string;
  readonly fetch?: Fetch | undefined;
}

/** Throws if a condition does not hold. */
export function check(condition: boolean, description: string): asserts condition {
  if (!condition) throw new Error(`Not true: ${description}`);
}

const spans: string[] = [];
const span = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', traceFlags: 1 };
const startSpan = (name: string, _options?: SpanOptions): Span => {
  spans.push(name);
  return trace.wrapSpanContext(span);
};
const tracer: Tracer = { startSpan, startActiveSpan: () => undefined as never };

/** Constructed at module scope, where some runtimes allow no timer, no request and no random number. */
const traced = new AudienceClient({
  baseUrl: 'https://api.example.com',
  token: 'token',
  fetch: async () => Response.json({ status: 'success', code: 200, message: '', data: [] }),
  telemetry: openTelemetry({ tracerProvider: { getTracer: () => tracer } }),
});

async function useTelemetry(): Promise<void> {
  check((await traced.webhooks.list()).length === 0, 'the call succeeds');
  check(spans.join() === 'webhooks.list,GET /api/v2/webhooks/index', `the spans are ${spans.join()}`);
  await traced.close();
}

async function useAudiences(client: AudienceClient): Promise<Audience> {
  const audience = await client.audiences.createAndWait({ name: 'From the tarball' });
  check(audience.status.id === 104, 'the audience is built');
  const { data, requestId } = await client.audiences.get(audience.id).withResponse();
  check(data.name === 'From the tarball' && typeof requestId === 'string', 'the audience is read');
  const ids: number[] = [];
  for await (const { id } of client.audiences.list({ per_page: 50 })) ids.push(id);
  check(ids.filter((id) => id === audience.id).length === 1, 'the audience is listed once');
  return audience;
}

async function useErrors(client: AudienceClient): Promise<void> {
  const error: unknown = await client.audiences.get(999_999).catch((reason: unknown) => reason);
  check(NotFoundError.isInstance(error) && error instanceof NotFoundError, 'the error is a NotFoundError');
  check(error.status === 404 && error.code === 'not-found', 'the error has its status and code');
  const signal = AbortSignal.abort(new Error('no longer needed'));
  const reason: unknown = await client.audiences.get(1, { signal }).catch((it: unknown) => it);
  check(String(reason).includes('no longer needed'), `an aborted call rejects with its reason: ${reason}`);
}

async function useFile(client: AudienceClient): Promise<void> {
  const rows = ['id', ...Array.from({ length: 5_000 }, (_, row) => `row ${row}`)];
  const file = new Blob([rows.join('\n')]);
  let loaded = 0;
  const onProgress = (progress: { readonly loaded: number }): void => {
    loaded = progress.loaded;
  };
  const cohort = await client.cohorts.import(file, { name: 'Rows' }, { onProgress });
  check(cohort.total_eids === 5_000, `the cohort has ${cohort.total_eids} rows`);
  check(loaded === file.size, 'the progress ends at the size of the file');
}

const SECRET = 'whsec_of_a_test';
/** The header of the body `{}` at 1,790,000,000 seconds. */
const SIGNED = 't=1790000000,v1=82667adc0ba3f9326187ad192acf7897bf3a7e37af59d40aba84034a66efbbca';

async function useWebhooks(audience: Audience): Promise<void> {
  check((await signWebhook('{}', SECRET, { timestamp: 1_790_000_000 })) === SIGNED, 'every runtime signs the same');
  const event = { schema_version: 1, id: 'evt_1', type: 'audience.completed', company_id: 1, data: audience };
  const body = JSON.stringify({ ...event, created_at: new Date().toISOString() });
  const headers = { [SIGNATURE_HEADER]: await signWebhook(body, SECRET) };
  check((await verifyWebhook(body, headers, SECRET)).id === 'evt_1', 'the event is verified');
  const seen: number[] = [];
  const receiver = createWebhookReceiver({
    secrets: SECRET,
    on: { 'audience.completed': ({ data }) => void seen.push(data.id) },
    logger: { warn: () => {}, error: () => {} },
  });
  const statuses: number[] = [];
  for (const text of [body, body, `${body} `]) {
    const request = new Request('http://localhost/webhooks', { method: 'POST', body: text, headers });
    statuses.push((await receiver.handle(request)).status);
  }
  check(statuses.join() === '200,200,400', `the receiver responds with ${statuses.join()}`);
  check(seen.join() === String(audience.id), 'the event is handled once');
}

/** Connects an MCP client that does not come from an official package, because none is installed. */
async function useMcp({ baseUrl, mcpToken, fetch }: Service): Promise<void> {
  class Transport {
    readonly list: () => Promise<Response>;
    constructor(url: URL, options: { readonly fetch: McpFetch }) {
      const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
      this.list = () => options.fetch(url, { method: 'POST', headers, body });
    }
    async close(): Promise<void> {}
  }
  const client = {
    tools: '',
    async connect(transport: object): Promise<void> {
      if (transport instanceof Transport) this.tools = await (await transport.list()).text();
    },
  };
  const { tools } = await connectMcp({ baseUrl, token: mcpToken, client, transport: Transport, fetch });
  check(tools.includes('audiences_create'), `the endpoint has tools: ${tools.slice(0, 200)}`);
  const official = { ...client, callTool: (): void => {} };
  const error: unknown = await connectMcp({ baseUrl, token: mcpToken, client: official, fetch }).catch((it) => it);
  check(error instanceof Error && error.cause !== undefined, `the missing package is the cause: ${error}`);
}

async function useOAuth({ baseUrl, fetch }: Service): Promise<void> {
  const redirectUri = 'http://127.0.0.1/callback';
  const oauth = createOAuthClient({ baseUrl, fetch, redirectUri, store: memoryTokenStore() });
  const { url } = await oauth.authorize();
  check(new URL(url).searchParams.get('redirect_uri') === redirectUri, 'OAuth redirects to the program');
}

/** Creates an audience where nothing listens, on a port that `fetch` does not block. */
async function useOutage(): Promise<void> {
  const client = new AudienceClient({ baseUrl: 'http://127.0.0.1:49151', token: 'token', maxRetries: 0 });
  const error: unknown = await client.audiences.create({ name: 'Lost' }).catch((reason: unknown) => reason);
  check(ConnectionError.isInstance(error), `the error is a ConnectionError: ${error}`);
  await client.close();
}

async function useService(service: Service): Promise<void> {
  const { baseUrl, token, fetch } = service;
  const client = new AudienceClient({ baseUrl, token, fetch });
  const audience = await useAudiences(client);
  await useErrors(client);
  await useFile(client);
  await client.close();
  await useWebhooks(audience);
  await useMcp(service);
  await useOAuth(service);
}

/** Does all tasks with a service over HTTP, then with a sandbox in this process. */
export async function smoke(remote: Service): Promise<string> {
  await useTelemetry();
  await useService(remote);
  await useOutage();
  const sandbox = createSandbox({ jobs: { duration: 0 } });
  const account = sandbox.accounts.create({ email: 'a@example.com', password: 'x' });
  const tokens = { token: account.token('api'), mcpToken: account.token('mcp') };
  await useService({ baseUrl: 'https://api.example.com', ...tokens, fetch: sandbox.fetch });
  await sandbox.close();
  return 'done';
}
