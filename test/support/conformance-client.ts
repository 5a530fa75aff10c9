import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { memoryTokenStore, ReauthorizationRequiredError } from '../../src/index.ts';
import { createOAuthClient } from '../../src/oauth/index.ts';

/** Connects to the server of one scenario of the official suite, lists its tools and calls each. */
const address = process.argv.at(-1) ?? '';
const { client_id, client_secret } = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}');

/** The address that the scenario of clients named by their addresses wants to see; nothing is there. */
const NAMED_BY_ADDRESS = { 'auth/basic-cimd': 'https://conformance-test.local/client-metadata.json' };
const named = Object.entries(NAMED_BY_ADDRESS).find(([name]) => name === process.env.MCP_CONFORMANCE_SCENARIO)?.[1];

/** The suite's authorization servers listen on ports that nobody can name before; whichever the service names is allowed. */
const allowedIssuers: string[] = [];

/** The scope that the last refusal named. */
let wanted: string | undefined;

async function noting(input: Request | URL | string, init?: RequestInit): Promise<Response> {
  const answer = await fetch(input, init);
  if (answer.ok && init?.method === 'GET' && answer.headers.get('content-type')?.includes('application/json')) {
    const { authorization_servers = [] } = await answer.clone().json();
    allowedIssuers.push(...authorization_servers);
  }
  if (answer.status === 403) wanted = /scope="([^"]*)"/.exec(answer.headers.get('www-authenticate') ?? '')?.[1];
  return answer;
}

const oauth = createOAuthClient({
  baseUrl: new URL(address).origin,
  resource: address,
  redirectUri: 'http://localhost:3000/callback',
  store: memoryTokenStore(),
  allowedIssuers,
  fetch: noting,
  ...(client_id !== undefined && { client: { client_id, client_secret } }),
  ...(named !== undefined && { client: { client_id: named } }),
});

async function signIn(scope?: string): Promise<void> {
  const { url } = await oauth.authorize({ scope });
  const answer = await fetch(url, { redirect: 'manual' });
  await oauth.callback(answer.headers.get('location') ?? '');
}

let signIns = 0;

/** Works until it succeeds, signing in where that is asked for, three times in all at most. */
async function signedIn<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const asked = ReauthorizationRequiredError.isInstance(error) || wanted !== undefined;
      if (!asked || ++signIns > 3) throw error;
      const scope = wanted;
      wanted = undefined;
      await signIn(scope);
    }
  }
}

const client = await signedIn(async () => {
  const made = new Client({ name: 'conformance', version: '1.0.0' });
  await made.connect(new StreamableHTTPClientTransport(new URL(address), { fetch: oauth.fetch }));
  return made;
});
const { tools } = await signedIn(() => client.listTools());
for (const { name } of tools) await signedIn(() => client.callTool({ name, arguments: {} }));
await client.close();
