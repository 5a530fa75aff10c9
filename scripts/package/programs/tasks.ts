/** The tasks of a program that uses the package: each runtime, compiler and bundler gets this file. */
import { type Span, type SpanOptions, type Tracer, trace } from '@opentelemetry/api';
import { AudienceClient, AudienceError, ConnectionError, memoryTokenStore, NotFoundError } from 'audience-activation';
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
}

/** Tasks by name, each of which throws if the package does not do what it should. */
export type Tasks = Readonly<Record<string, () => Promise<void>>>;

/** `writeProgram` replaces this name with a value, because a client at module scope needs it before a program has arguments. */
declare const SERVICE: Service;

/** Throws if a condition does not hold. */
export function check(condition: boolean, description: string): asserts condition {
  if (!condition) throw new Error(`Not true: ${description}`);
}

const rejection = (promise: Promise<unknown>): Promise<unknown> => promise.then(() => undefined).catch((it) => it);

const spans: string[] = [];
const span = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', traceFlags: 1 };
const startSpan = (name: string, _options?: SpanOptions): Span => {
  spans.push(name);
  return trace.wrapSpanContext(span);
};
const tracer: Tracer = { startSpan, startActiveSpan: () => undefined as never };

/** Constructed at module scope, where some runtimes allow no timer, no request and no random number. */
const client = new AudienceClient({
  baseUrl: SERVICE.baseUrl,
  token: SERVICE.token,
  telemetry: openTelemetry({ tracerProvider: { getTracer: () => tracer } }),
});
const limited = new AudienceClient({
  baseUrl: SERVICE.baseUrl,
  token: SERVICE.token,
  rateLimits: { read: { limit: 2, interval: 300 } },
});

/** Returns a client whose second read waits for an hour. */
const exhausted = async (): Promise<AudienceClient> => {
  const rateLimits = { read: { limit: 1, interval: 3_600_000 } };
  const it = new AudienceClient({ baseUrl: SERVICE.baseUrl, token: SERVICE.token, rateLimits });
  await it.audiences.list({ per_page: 1 });
  return it;
};

const SECRET = 'whsec_of_a_test';
/** The header of the body `{}` at 1,790,000,000 seconds. */
const SIGNED = 't=1790000000,v1=82667adc0ba3f9326187ad192acf7897bf3a7e37af59d40aba84034a66efbbca';

/** The tasks of every place. */
export const TASKS: Tasks = {
  async get() {
    const { id } = await client.audiences.create({ name: 'Read' });
    const { data, requestId } = await client.audiences.get(id).withResponse();
    check(data.name === 'Read' && typeof requestId === 'string', 'the audience is read');
  },

  async 'create and wait'() {
    const { status } = await client.audiences.createAndWait({ name: 'Built' });
    check(status.id === 104, 'the audience is built');
  },

  async 'two at once'() {
    const { id } = await client.audiences.create({ name: 'Shared' });
    const both = await Promise.all([1, 2].map(() => client.audiences.wait(id)));
    check(
      both.every(({ status }) => status.id === 104),
      'both waits end',
    );
  },

  async 'queue at the limit'() {
    const pages = await Promise.all([1, 2, 3, 4, 5].map(() => limited.audiences.list({ per_page: 1 })));
    check(pages.length === 5, 'all calls end');
  },

  async list() {
    const audience = await client.audiences.create({ name: 'Listed' });
    const ids: number[] = [];
    for await (const { id } of client.audiences.list({ per_page: 50 })) ids.push(id);
    check(ids.filter((id) => id === audience.id).length === 1, 'the audience is listed once');
  },

  async upload() {
    const rows = ['id', ...Array.from({ length: 5_000 }, (_, row) => `row ${row}`)];
    const file = new Blob([rows.join('\n')]);
    let loaded = 0;
    const onProgress = (progress: { readonly loaded: number }): void => {
      loaded = progress.loaded;
    };
    const cohort = await client.cohorts.import(file, { name: 'Rows' }, { onProgress });
    check(cohort.total_eids === 5_000, `the cohort has ${cohort.total_eids} rows`);
    check(loaded === file.size, 'the progress ends at the size of the file');
  },

  async webhook() {
    check((await signWebhook('{}', SECRET, { timestamp: 1_790_000_000 })) === SIGNED, 'every runtime signs the same');
    const data = await client.audiences.create({ name: 'Sent' });
    const event = { schema_version: 1, id: 'evt_1', type: 'audience.completed', company_id: 1, data };
    const body = JSON.stringify({ ...event, created_at: new Date().toISOString() });
    const headers = { [SIGNATURE_HEADER]: await signWebhook(body, SECRET) };
    check((await verifyWebhook(body, headers, SECRET)).id === 'evt_1', 'the event is verified');
    const seen: number[] = [];
    const receiver = createWebhookReceiver({
      secrets: SECRET,
      on: { 'audience.completed': (received) => void seen.push(received.data.id) },
      logger: { warn: () => {}, error: () => {} },
    });
    const statuses: number[] = [];
    for (const text of [body, body, `${body} `]) {
      const request = new Request('http://localhost/webhooks', { method: 'POST', body: text, headers });
      statuses.push((await receiver.handle(request)).status);
    }
    check(statuses.join() === '200,200,400', `the receiver responds with ${statuses.join()}`);
    check(seen.join() === String(data.id), 'the event is handled once');
  },

  async abort() {
    const before = AbortSignal.abort(new Error('no longer needed'));
    const reason = await rejection(client.audiences.get(1, { signal: before }));
    check(String(reason).includes('no longer needed'), `an aborted call rejects with its reason: ${reason}`);
    const controller = new AbortController();
    const it = await exhausted();
    const queued = rejection(it.audiences.list({ per_page: 1 }, { signal: controller.signal }));
    controller.abort(new Error('no longer queued'));
    check(String(await queued).includes('no longer queued'), 'a call that waits rejects with its reason');
    await it.close();
  },

  async close() {
    const it = await exhausted();
    const queued = rejection(it.audiences.list({ per_page: 1 }));
    await it.close();
    const error = await queued;
    check(AudienceError.isInstance(error) && error.code === 'client-closed', `the call ends: ${error}`);
  },

  async errors() {
    const error = await rejection(client.audiences.get(999_999));
    check(NotFoundError.isInstance(error) && error instanceof NotFoundError, 'the error is a NotFoundError');
    check(error.status === 404 && error.code === 'not-found', 'the error has its status and code');
    const copy = AudienceError.from(JSON.parse(JSON.stringify(error)));
    check(NotFoundError.isInstance(copy) && copy.requestId === error.requestId, 'the error comes back from its JSON');
    // Nothing listens on this port, which `fetch` does not block.
    const lost = new AudienceClient({ baseUrl: 'http://127.0.0.1:49151', token: 'token', maxRetries: 0 });
    const outage = await rejection(lost.audiences.create({ name: 'Lost' }));
    check(ConnectionError.isInstance(outage), `the error is a ConnectionError: ${outage}`);
    await lost.close();
  },

  async sandbox() {
    const sandbox = createSandbox({ jobs: { duration: 0 } });
    const token = sandbox.accounts.create({ email: 'a@example.com', password: 'x' }).token('api');
    const it = new AudienceClient({ baseUrl: 'https://api.example.com', token, fetch: sandbox.fetch });
    const cohort = await it.cohorts.import(new Blob(['id\n1\n2']), { name: 'Rows' });
    check(cohort.total_eids === 2, `the cohort has ${cohort.total_eids} rows`);
    await it.close();
    await sandbox.close();
  },

  /** Connects an MCP client that does not come from an official package, because none is installed. */
  async mcp() {
    class Transport {
      readonly list: () => Promise<Response>;
      constructor(url: URL, options: { readonly fetch: McpFetch }) {
        const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
        const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
        this.list = () => options.fetch(url, { method: 'POST', headers, body });
      }
      async close(): Promise<void> {}
    }
    const mcpClient = {
      tools: '',
      async connect(transport: object): Promise<void> {
        if (transport instanceof Transport) this.tools = await (await transport.list()).text();
      },
    };
    const options = { baseUrl: SERVICE.baseUrl, token: SERVICE.mcpToken };
    const { tools } = await connectMcp({ ...options, client: mcpClient, transport: Transport });
    check(tools.includes('audiences_create'), `the endpoint has tools: ${tools.slice(0, 200)}`);
    const official = { ...mcpClient, callTool: (): void => {} };
    const error = await rejection(connectMcp({ ...options, client: official }));
    check(error instanceof Error && error.cause !== undefined, `the missing package is the cause: ${error}`);
  },

  async oauth() {
    const redirectUri = 'http://127.0.0.1/callback';
    const oauth = createOAuthClient({ baseUrl: SERVICE.baseUrl, redirectUri, store: memoryTokenStore() });
    const { url } = await oauth.authorize();
    check(new URL(url).searchParams.get('redirect_uri') === redirectUri, 'OAuth redirects to the program');
  },

  async telemetry() {
    await client.audiences.list({ per_page: 1 });
    check(spans.includes('audiences.list'), `the spans are ${spans.join()}`);
    check(spans.includes('GET /api/v2/audiences/index'), `the spans are ${spans.join()}`);
  },
};

/** Runs tasks one after the other; returns a line for each. */
export async function runTasks(tasks: Tasks = TASKS): Promise<string> {
  const lines: string[] = [];
  for (const [name, task] of Object.entries(tasks)) {
    const error = await rejection(task());
    lines.push(error === undefined ? `✓ ${name}` : `✗ ${name}: ${error instanceof Error ? error.stack : error}`);
  }
  return lines.join('\n');
}
