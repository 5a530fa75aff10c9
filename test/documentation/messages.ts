import { appendFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AudienceClient, apiToken, type ClientOptions, loginToken, memoryTokenStore } from '../../src/index.ts';
import { openFile, openJournal } from '../../src/node/index.ts';
import { createSandbox, type SandboxOptions } from '../../src/sandbox/index.ts';
import { signWebhook, verifyWebhook } from '../../src/webhooks/index.ts';
import { startScene } from '../cli/support/run-command.ts';
import { temporaryDirectory } from '../support/directory.ts';
import type { Step } from '../support/script.ts';
import { clientOf, startServer } from '../support/server.ts';
import { wireActivation } from '../support/storage.ts';

const CREDENTIALS = { email: 'me@example.com', password: 'secret' };
const BASE_URL = 'https://api.example.com';
const BODY = { name: 'Visitors' };

/** Creates with a journal of another account, whose own create has lost its response or not. */
async function useOfAnotherAccount(cut?: 'after'): Promise<unknown> {
  const path = join(await temporaryDirectory(), 'night.journal');
  const { client, sandbox } = start();
  if (cut) sandbox.faults.add({ on: 'audiences.create', cut, times: 1 });
  const first = await openJournal(path, client);
  await first.create(client.audiences, 'north', BODY).catch(() => {});
  await first.close();
  const token = sandbox.accounts.create({ email: 'you@example.com', password: 'secret' }).token('api');
  const other = new AudienceClient({ baseUrl: BASE_URL, token, fetch: sandbox.fetch });
  await using journal = await openJournal(path, other);
  return await journal.create(other.audiences, 'north', BODY);
}

/** Starts a sandbox with an account, and a client of it that fails at the first problem. */
function start(sandboxOptions: SandboxOptions = {}, options: ClientOptions = {}) {
  const sandbox = createSandbox(sandboxOptions);
  const account = sandbox.accounts.create(CREDENTIALS);
  const defaults = { baseUrl: BASE_URL, token: account.token('api'), fetch: sandbox.fetch, maxRetries: 0 };
  return { sandbox, account, client: new AudienceClient({ ...defaults, logLevel: 'off', ...options }) };
}

/** Returns a client whose service always responds with this. */
const respondingWith = (body: string, init: ResponseInit): AudienceClient =>
  start({}, { fetch: async () => new Response(body, init) }).client;

/** Downloads a result whose link has a response. */
async function download(response: Step): Promise<void> {
  const server = await startServer({
    'GET /api/v2/activations/7': [{ data: wireActivation('/files/1.csv') }],
    'GET /files/1.csv': [response],
  });
  for await (const { open } of clientOf(server).activations.download(7)) await open();
}

/** Creates an audience whose job ends at a status, and waits for it. */
const build = (outcome: number) => start({ jobs: { duration: 0, outcome } }).client.audiences.createAndWait(BODY);

/** Creates a client without an address or a token in the environment. */
function withoutEnvironment(options: ClientOptions): unknown {
  const { AUDIENCE_BASE_URL, AUDIENCE_TOKEN } = process.env;
  delete process.env.AUDIENCE_BASE_URL;
  delete process.env.AUDIENCE_TOKEN;
  try {
    return new AudienceClient(options);
  } finally {
    Object.assign(process.env, AUDIENCE_BASE_URL && { AUDIENCE_BASE_URL }, AUDIENCE_TOKEN && { AUDIENCE_TOKEN });
  }
}

/** Verifies a delivery that was signed with a secret at a time. */
async function verify(secret: string, age: number): Promise<unknown> {
  const body = JSON.stringify({ id: 'evt_1', type: 'audience.completed' });
  const timestamp = Math.floor(Date.now() / 1_000) - age;
  return verifyWebhook(body, await signWebhook(body, 'whsec', { timestamp }), secret);
}

/** Fails in the ways whose messages `docs/troubleshooting.md` explains, by the message as written there. */
export const PROVOKED: Readonly<Record<string, () => unknown>> = {
  '`baseUrl` is missing': () => withoutEnvironment({ token: 't' }),
  '`baseUrl` must be an http(s) URL': () => new AudienceClient({ baseUrl: 'api.example.com', token: 't' }),
  '`baseUrl` must not end with /api/v2': () => new AudienceClient({ baseUrl: `${BASE_URL}/api/v2`, token: 't' }),
  '`baseUrl` uses http on …, where others could read the token': () =>
    new AudienceClient({ baseUrl: 'http://api.example.com', token: 't' }),
  '`token` is missing': () => withoutEnvironment({ baseUrl: BASE_URL }),
  '`token` and `baseUrl` are missing': () => withoutEnvironment({}),
  '`token` is empty. Is AUDIENCE_TOKEN set?': () => new AudienceClient({ baseUrl: BASE_URL, token: '' }),
  '`token` must be visible ASCII without white space': () =>
    new AudienceClient({ baseUrl: BASE_URL, token: 'Bearer 1|abc' }),
  '`…` is not an option of …': () => new AudienceClient({ baseUrl: BASE_URL, token: 't', ...{ retries: 3 } }),

  'failed: 401 … The token is missing, invalid, expired or revoked': () => start({}, { token: 't' }).client.usage.get(),
  'The service also refused a new token': () => {
    const token = loginToken(CREDENTIALS, { store: memoryTokenStore() });
    return start({ faults: [{ on: 'usage.get', status: 401 }] }, { token }).client.usage.get();
  },
  'Only tokens of scope `mcp` are accepted here': () => {
    const { account, client } = start({}, { mcpToken: { get: async () => account.token('api') } });
    return client.mcp.send({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  },
  'failed: 404 … if every call of this operation fails like this, run `aud check`': () =>
    start().client.audiences.get(4711),
  'the body is HTML or XML, so a proxy probably responded': () => respondingWith('<html>', { status: 200 }).usage.get(),
  'the body is empty': () => respondingWith('', { status: 200 }).usage.get(),
  'the body is not complete JSON': () => respondingWith('{"status":', { status: 200 }).usage.get(),
  'the body lacks the envelope': () => respondingWith('{"ok":true}', { status: 200 }).usage.get(),
  'was redirected (…), and the client does not follow the redirect': () =>
    respondingWith('', { status: 302, headers: { location: '/sign-in' } }).usage.get(),
  'could not reach the service': async () => {
    const { url, close } = await createSandbox().listen();
    await close();
    return new AudienceClient({ baseUrl: url, token: 't', maxRetries: 0, logLevel: 'off' }).usage.get();
  },
  'the body is not a JSON-RPC 2.0 message': () =>
    start({}, { mcpToken: 'm', fetch: async () => new Response('{}') }).client.mcp.send({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/list',
    }),
  'lost the connection before a complete response arrived': () =>
    start({ faults: [{ on: 'usage.get', cut: 'after' }] }).client.usage.get(),
  'The client is closed': async () => {
    const { client } = start();
    await client.close();
    return client.usage.get();
  },
  'received no complete response within … ms (`timeout`)': () =>
    start({ faults: [{ on: 'usage.get', delay: 60_000 }] }, { timeout: 10 }).client.usage.get(),
  'received no complete response within the … of the runtime': () => {
    const cause = Object.assign(new Error('Headers Timeout Error'), { code: 'UND_ERR_HEADERS_TIMEOUT' });
    const failing = async () => {
      throw new TypeError('fetch failed', { cause });
    };
    return start({}, { fetch: failing }).client.usage.get();
  },
  'The limit of … active API tokens is reached': async () => {
    const { account, client } = start({}, { token: apiToken(CREDENTIALS, { store: memoryTokenStore() }) });
    for (let tokens = 1; tokens < 10; tokens++) account.token('api');
    return client.usage.get();
  },

  'The resource may have been created: repeat the request with the idempotency key "…"': () =>
    start({ faults: [{ on: 'audiences.create', cut: 'after' }] }).client.audiences.create(BODY),
  'failed: 422 …': () => start().client.audiences.create({ name: 'A', project_id: 77 }),
  'an earlier request used this key with another body': async () => {
    const { client } = start();
    await client.audiences.create(BODY, { idempotencyKey: 'order-1' });
    return client.audiences.create({ name: 'Others' }, { idempotencyKey: 'order-1' });
  },
  'an earlier request with this key may still be in flight': async () => {
    const { sandbox, client } = start();
    const removeFault = sandbox.faults.add({ on: 'audiences.create', inFlight: 60_000 });
    const first = client.audiences.create(BODY, { idempotencyKey: 'order-1' });
    const second = client.audiences.create(BODY, { idempotencyKey: 'order-1' });
    return second.finally(async () => {
      removeFault();
      await first;
    });
  },
  'was not sent: … The value is a Promise': () => start().client.audiences.get(Promise.resolve(4) as unknown as number),

  'failed: 429 … Try again at …': () =>
    start({ faults: [{ on: 'usage.get', status: 429, retryAfter: 300 }] }).client.usage.get(),
  'The build budget of the organization is used up until …': () =>
    start({ limits: { buildsPerHour: 0 } }).client.audiences.create(BODY),
  'exceeded its `deadline` of … ms before it was sent: …': async () => {
    const { client } = start({}, { rateLimits: { read: { limit: 1, interval: 60_000 } } });
    await client.usage.get();
    return client.usage.get({}, { deadline: 20 });
  },

  'The wait for … timed out after … ms': async () => {
    const { client } = start();
    return client.audiences.wait(await client.audiences.create(BODY), { timeout: 20 });
  },
  'cannot be completed as defined (status 107 …)': () => build(107),
  'failed (status 4… …). You can safely create the … again with a new idempotency key': () => build(405),
  'To try again, upload the file again': async () => {
    const { client } = start({ jobs: { duration: 0, outcome: 405 } });
    return client.cohorts.import(new Blob(['a@example.com\n']), { name: 'Customers' });
  },
  'The results are available at status 104': async () => {
    const { client, sandbox } = start();
    const { id } = await client.audiences.create(BODY);
    await sandbox.advance(3_600_000);
    const { id: activation } = await client.activations.create({ audience_id: id });
    return client.activations.results(activation);
  },

  'an HTML page instead of the file': () => download({ text: '<html>', headers: { 'content-type': 'text/html' } }),
  'responded with … instead of the file': () => download({ status: 204, text: '' }),
  '… cannot be read: ENOENT': () => openFile('missing.csv'),
  'has changed since it was opened': async () => {
    const path = join(await temporaryDirectory(), 'customers.csv');
    await writeFile(path, 'a@example.com\n');
    const file = await openFile(path);
    await appendFile(path, 'b@example.com\n');
    return start().client.cohorts.import(file, { name: 'Customers' });
  },
  '`size` is … bytes, but the data': () =>
    start().client.uploads.upload({ kind: 'cohort', data: new Blob(['a']).stream(), size: 2 }),

  'lost the connection to storage': async () => {
    const { client, sandbox } = start();
    const reservation = await client.uploads.reserve({ kind: 'cohort', size: 1 });
    sandbox.faults.add({ on: new URL(reservation.url).pathname, cut: 'before' });
    return client.uploads.send(reservation, new Blob(['a']));
  },
  'could not reach storage': async () => {
    const { sandbox, account } = start();
    const { url, close } = await sandbox.listen();
    const client = new AudienceClient({ baseUrl: url, token: account.token('api'), maxRetries: 0, logLevel: 'off' });
    const reservation = await client.uploads.reserve({ kind: 'cohort', size: 1 });
    await close();
    return client.uploads.send(reservation, new Blob(['a']));
  },

  'must be an http(s) link, but it is …': async () => {
    const server = await startServer({ 'GET /api/v2/activations/7': [{ data: wireActivation('ftp://files/1.csv') }] });
    for await (const { open } of clientOf(server).activations.download(7)) await open();
  },

  'was redirected by storage': async () => {
    const { sandbox, client } = start({}, { fetch: async (...request) => respond(...request) });
    const redirect = { status: 302, headers: { location: '/elsewhere' } };
    const respond: NonNullable<ClientOptions['fetch']> = async (input, init) =>
      init?.method === 'PUT' ? new Response('', redirect) : sandbox.fetch(input, init);
    return client.uploads.upload({ kind: 'cohort', data: new Blob(['a']) });
  },

  'is not a journal of this version': async () => {
    const path = join(await temporaryDirectory(), 'regions.csv');
    await writeFile(path, 'key,name\n');
    return openJournal(path, start().client);
  },
  'was written with another account': () => useOfAnotherAccount(),
  'was sent with another token': () => useOfAnotherAccount('after'),
  'while it was open': async () => {
    const { client } = start();
    const path = join(await temporaryDirectory(), 'night.journal');
    await using journal = await openJournal(path, client);
    await rm(path);
    return await journal.create(client.audiences, 'north', BODY);
  },
  'is not a regular file': () => openJournal('/dev/zero', start().client),
  'was created with another body': async () => {
    const path = join(await temporaryDirectory(), 'night.journal');
    const { client } = start();
    await using journal = await openJournal(path, client);
    await journal.create(client.audiences, 'north', BODY);
    return await journal.create(client.audiences, 'north', { name: 'Others' });
  },

  'The signature does not match': () => verify('another', 0),
  'The delivery was signed … s ago': () => verify('whsec', 600),
  'The header … is missing': () => verifyWebhook('{}', '', 'whsec'),
  'The signature header': () => verifyWebhook('{}', 'v1=', 'whsec'),
  'The body is signed, but': async () => verifyWebhook('[]', await signWebhook('[]', 'whsec'), 'whsec'),
  'The body is already parsed': () => verifyWebhook({} as unknown as string, '', 'whsec'),

  'Not logged in: run': async () => {
    const scene = await startScene();
    const env = { AUDIENCE_BASE_URL: undefined, AUDIENCE_TOKEN: undefined };
    const { code, err } = await scene.run(['audiences', 'list'], { env });
    throw Object.assign(new Error(err), { code: String(code) });
  },
};
