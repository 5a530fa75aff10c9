import { AudienceClient, apiToken, type ClientOptions, memoryTokenStore } from '../../src/index.ts';
import { openFile } from '../../src/node/index.ts';
import { createSandbox, type SandboxOptions } from '../../src/sandbox/index.ts';
import { verifyWebhook } from '../../src/webhooks/index.ts';
import { startScene } from '../cli/support/run-command.ts';

const CREDENTIALS = { email: 'me@example.com', password: 'secret' };
const BASE_URL = 'https://api.example.com';
const BODY = { name: 'Visitors' };

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

/** Creates an audience whose job ends at a status, and waits for it. */
const build = (outcome: number) => start({ jobs: { duration: 0, outcome } }).client.audiences.createAndWait(BODY);

/** Fails with messages of `docs/troubleshooting.md` that the sources do not have as one text. */
export const PROVOKED: Readonly<Record<string, () => unknown>> = {
  '`baseUrl` must not end with /api/v2': () => new AudienceClient({ baseUrl: `${BASE_URL}/api/v2`, token: 't' }),
  '`token` is empty. Is AUDIENCE_TOKEN set?': () => new AudienceClient({ baseUrl: BASE_URL, token: '' }),
  '`token` must be visible ASCII without white space': () =>
    new AudienceClient({ baseUrl: BASE_URL, token: 'Bearer 1|abc' }),

  'failed: 401 … The token is missing, invalid, expired or revoked': () => start({}, { token: 't' }).client.usage.get(),
  'failed: 404 … if every call of this operation fails like this, run `aud check`': () =>
    start().client.audiences.get(4711),
  'was redirected (…), and the client never follows redirects': () =>
    respondingWith('', { status: 302, headers: { location: '/sign-in' } }).usage.get(),
  'The limit of … active API tokens is reached': async () => {
    const { account, sandbox } = start();
    for (let tokens = 1; tokens < 10; tokens++) account.token('api');
    const token = apiToken(CREDENTIALS, { store: memoryTokenStore() });
    return new AudienceClient({ baseUrl: BASE_URL, token, fetch: sandbox.fetch, logLevel: 'off' }).usage.get();
  },
  'failed: 422 …': () => start().client.audiences.create({ name: 'A', project_id: 77 }),
  'The build budget of the organization is used up until …': () =>
    start({ limits: { buildsPerHour: 0 } }).client.audiences.create(BODY),
  'exceeded its `deadline` of … ms before it was sent: …': async () => {
    const { client } = start({}, { rateLimits: { read: { limit: 1, interval: 60_000 } } });
    await client.usage.get();
    return client.usage.get({}, { deadline: 20 });
  },
  'cannot be completed as defined (status 107 …)': () => build(107),
  'failed (status 4… …). It can safely be created again under a new idempotency key': () => build(405),

  '… cannot be read: ENOENT': () => openFile('missing.csv'),
  'The body is already parsed': () => verifyWebhook({} as unknown as string, '', 'whsec'),

  'Not logged in: run `audience-activation login`': async () => {
    const scene = await startScene();
    const env = { AUDIENCE_BASE_URL: undefined, AUDIENCE_TOKEN: undefined };
    const { code, err } = await scene.run(['audiences', 'list'], { env });
    throw Object.assign(new Error(err), { code: String(code) });
  },
};
