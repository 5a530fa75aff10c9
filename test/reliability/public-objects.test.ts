import '../support/nothing-left.ts';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { Client } from '@modelcontextprotocol/client';
import { expect, it, onTestFinished } from 'vitest';
import * as main from '../../src/index.ts';
import * as mcp from '../../src/mcp/index.ts';
import * as node from '../../src/node/index.ts';
import * as oauth from '../../src/oauth/index.ts';
import * as otel from '../../src/otel/index.ts';
import * as redis from '../../src/redis/index.ts';
import * as sandboxes from '../../src/sandbox/index.ts';
import * as webhooks from '../../src/webhooks/index.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { quick } from '../support/server.ts';

const CREDENTIALS = { email: 'canary@example.com', password: 'CANARY-password' };
const HEADERS = { 'x-api-key': 'CANARY-header' };
const SIGNING_SECRET = 'CANARY-signing-secret';
const BASE_URL = 'https://api.example.com';

/** Exports that create no object, or one that holds only what the service has returned. */
const WITHOUT_OBJECT =
  /^(?:[A-Z_]+|.*Error|operations|parseTimestamp|jobState|readJournal|openApiDocument|explainActivation|isKnownEvent|isOutdated|(?:sign|verify)Webhook|openFile|downloadTo|signInWithBrowser)$/;

const redisDown = { evalSha: () => Promise.reject(new Error('down')), eval: () => Promise.reject(new Error('down')) };
const storage = { getItem: () => null, setItem: () => {}, removeItem: () => {} };

/** Creates everything public, by the export that creates it, and uses what holds tokens. */
async function createAll(): Promise<{
  readonly objects: Readonly<Record<string, unknown>>;
  readonly secrets: string[];
}> {
  const sandbox = sandboxes.createSandbox();
  const account = sandbox.accounts.create(CREDENTIALS);
  const connection = { baseUrl: BASE_URL, fetch: sandbox.fetch, headers: HEADERS, ...quick } as const;
  const store = main.memoryTokenStore();
  const telemetry = otel.openTelemetry();
  const apiToken = main.apiToken(CREDENTIALS, { store, baseUrl: BASE_URL });
  const client = new main.AudienceClient({ ...connection, token: apiToken, telemetry });
  onTestFinished(() => client.close());
  const loginToken = main.loginToken(CREDENTIALS, { baseUrl: BASE_URL });
  const mcpToken = main.mcpToken(CREDENTIALS, { store: main.memoryTokenStore(), baseUrl: BASE_URL });
  const derived = client.withOptions({ headers: { 'x-other-key': 'CANARY-other-header' } });
  const byLogin = new main.AudienceClient({ ...connection, token: loginToken });
  onTestFinished(() => byLogin.close());
  const list = byLogin.audiences.list();
  const mcpClient = new Client({ name: 'test', version: '1' });
  onTestFinished(() => mcpClient.close());
  const receiver = webhooks.createWebhookReceiver({ secrets: SIGNING_SECRET, telemetry });
  const file = join(await temporaryDirectory(), 'token.json');
  const journal = await node.openJournal(join(await temporaryDirectory(), 'x.journal'), byLogin);
  onTestFinished(() => journal.close());
  const objects = {
    AudienceClient: [client, byLogin, derived, ...Object.values(client), client.audiences.watch(1)],
    pages: [
      list,
      await list,
      await derived.audiences.list({}, { token: 'CANARY-call' }).then(undefined, (error) => error),
      client.audiences.list().withResponse(),
    ],
    apiToken,
    loginToken,
    mcpToken,
    memoryTokenStore: store,
    memoryLimiter: main.memoryLimiter(),
    connectMcp: await mcp.connectMcp({ ...connection, token: mcpToken, client: mcpClient }),
    fileTokenStore: node.fileTokenStore(file),
    openJournal: journal,
    toNodeListener: node.toNodeListener(receiver),
    createOAuthClient: oauth.createOAuthClient({
      ...{ baseUrl: BASE_URL, redirectUri: 'http://127.0.0.1/callback', store, ...quick },
      client: { client_id: 'test', client_secret: 'CANARY-client-secret' },
    }),
    browserTokenStore: oauth.browserTokenStore({ storage }),
    openTelemetry: telemetry,
    redisDedupe: redis.redisDedupe(redisDown, { prefix: 'test' }),
    redisLimiter: redis.redisLimiter(redisDown),
    redisTokenStore: redis.redisTokenStore(redisDown, { key: 'test' }),
    createSandbox: sandbox,
    createWebhookReceiver: receiver,
    memoryDedupe: webhooks.memoryDedupe(),
  };
  const tokens = await Promise.all([apiToken.get({}), loginToken.get({}), mcpToken.get({})]);
  expect(account.tokens()).toHaveLength(tokens.length);
  return { objects, secrets: ['CANARY', ...tokens] };
}

/** Returns the result of a function, or nothing for a value that it does not take. */
function tryTo(show: () => unknown): unknown {
  try {
    return show();
  } catch {
    return undefined;
  }
}

it('inspection, JSON and clones of public objects show no secret', async () => {
  const { objects, secrets } = await createAll();
  const exported = Object.entries({ ...main, ...mcp, ...node, ...oauth, ...otel, ...redis, ...sandboxes, ...webhooks });
  const creating = exported.filter(([name]) => !WITHOUT_OBJECT.test(name)).map(([name]) => name);
  expect(Object.keys(objects)).toEqual(expect.arrayContaining(creating));
  for (const [name, value] of Object.entries(objects)) {
    for (const object of [value].flat()) {
      const shown = [object, tryTo(() => JSON.parse(JSON.stringify(object))), tryTo(() => structuredClone(object))]
        .map((view) => inspect(view, { depth: 20, showHidden: true, maxArrayLength: null, maxStringLength: null }))
        .join('\n');
      expect(
        secrets.filter((secret) => shown.includes(secret)),
        name,
      ).toEqual([]);
    }
  }
});
