import { type Audience, AudienceClient, ConnectionError, type Fetch, NotFoundError } from 'audience-activation';
import { connectMcp, type McpFetch } from 'audience-activation/mcp';
import {
  createWebhookReceiver,
  SIGNATURE_HEADER,
  signWebhook,
  verifyWebhook,
  WebhookVerificationError,
} from 'audience-activation/webhooks';
import { check } from './check.ts';

/** The service that a program uses. */
export interface Service {
  readonly baseUrl: string;
  readonly token: string;
  readonly fetch?: Fetch;
}

/** Creates an audience, waits for it and finds it in the list. */
export async function exerciseClient({ baseUrl, token, fetch }: Service): Promise<Audience> {
  const client = new AudienceClient({ baseUrl, token, fetch });
  const audience = await client.audiences.createAndWait({ name: 'From the tarball' });
  check(audience.status.id === 104, 'the audience is built');
  const names: string[] = [];
  for await (const { id, name } of client.audiences.list()) if (id === audience.id) names.push(name);
  check(names.join() === 'From the tarball', 'the audience is listed once');
  await client.close();
  return audience;
}

/** Tests that an error has its class, status and code. */
export async function exerciseErrors({ baseUrl, token, fetch }: Service): Promise<void> {
  const client = new AudienceClient({ baseUrl, token, fetch });
  const error: unknown = await client.audiences.get(999_999).catch((reason: unknown) => reason);
  check(NotFoundError.isInstance(error) && error instanceof NotFoundError, 'the error is a NotFoundError');
  check(error.status === 404 && error.code === 'not-found', 'the error has its status and code');
  await client.close();
}

/** Imports a file, which is uploaded in the way that this platform supports. */
export async function exerciseFiles({ baseUrl, token, fetch }: Service): Promise<void> {
  const client = new AudienceClient({ baseUrl, token, fetch });
  const rows = ['id', ...Array.from({ length: 5_000 }, (_, row) => `row ${row}`)];
  const data = new Blob([rows.join('\n')]);
  let loaded = 0;
  const cohort = await client.cohorts.import(
    data,
    { name: 'Rows' },
    { onProgress: (progress) => (loaded = progress.loaded) },
  );
  check(cohort.total_eids === 5_000, `the cohort holds ${cohort.total_eids} rows`);
  check(loaded === data.size, 'the progress ends at the size of the file');
  await client.close();
}

/** Connects an MCP client that does not come from an official package. */
export async function exerciseMcp({ baseUrl, token, fetch }: Service): Promise<void> {
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
  const { tools } = await connectMcp({ baseUrl, token, client, transport: Transport, fetch });
  check(tools.includes('audiences_create'), `the endpoint has tools: ${tools.slice(0, 200)}`);
  const error: unknown = await connectMcp({ baseUrl, token, client, fetch }).catch((reason: unknown) => reason);
  check(String(error).includes('pass `transport'), `without an official package the error says what to do: ${error}`);
  const official = { ...client, callTool: (): void => {} };
  const missing: unknown = await connectMcp({ baseUrl, token, client: official, fetch }).catch((reason) => reason);
  check(missing instanceof Error && missing.cause !== undefined, `the missing package is the cause: ${missing}`);
}

/** Tests that a create is `not-sent` when the service cannot be reached. */
export async function exerciseOutage(token: string): Promise<void> {
  // Nothing listens on this loopback port, and `fetch` does not block it.
  const client = new AudienceClient({ baseUrl: 'http://127.0.0.1:49151', token, maxRetries: 0 });
  const error: unknown = await client.audiences.create({ name: 'Lost' }).catch((reason: unknown) => reason);
  check(ConnectionError.isInstance(error), 'the error is a ConnectionError');
  check(error.outcome === 'not-sent', `the outcome is ${error.outcome}: ${error.message}`);
  await client.close();
}

const SECRET = 'whsec_of_a_test';
/** The header of the body `{}` at 1,790,000,000 seconds. */
const SIGNED = 't=1790000000,v1=82667adc0ba3f9326187ad192acf7897bf3a7e37af59d40aba84034a66efbbca';

/** Signs, verifies and receives deliveries, and refuses a forged one. */
export async function exerciseWebhooks(audience: Audience): Promise<void> {
  const event = { schema_version: 1, id: 'evt_1', type: 'audience.completed', company_id: 1, data: audience };
  const body = JSON.stringify({ ...event, created_at: new Date().toISOString() });
  const headers = { [SIGNATURE_HEADER]: await signWebhook(body, SECRET) };
  check((await verifyWebhook(body, headers, SECRET)).id === 'evt_1', 'the event is verified');
  check((await signWebhook('{}', SECRET, { timestamp: 1_790_000_000 })) === SIGNED, 'every runtime signs the same');
  const error: unknown = await verifyWebhook(`${body} `, headers, SECRET).catch((reason: unknown) => reason);
  check(WebhookVerificationError.isInstance(error), 'a forged event is refused');

  const seen: number[] = [];
  const receiver = createWebhookReceiver({
    secrets: SECRET,
    on: { 'audience.completed': ({ data }) => seen.push(data.id) },
    logger: { warn: () => {}, error: () => {} },
  });
  const deliver = async (text: string): Promise<number> => {
    const request = new Request('http://localhost/webhooks', { method: 'POST', body: text, headers });
    return (await receiver.handle(request)).status;
  };
  const statuses = [await deliver(body), await deliver(body), await deliver(`${body} `)];
  check(statuses.join() === '200,200,400', `the receiver responds with ${statuses.join()}`);
  check(seen.join() === String(audience.id), 'the event is handled once');
}
