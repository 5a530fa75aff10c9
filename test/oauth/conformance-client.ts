import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { memoryTokenStore, ReauthorizationRequiredError } from '../../src/index.ts';
import { createOAuthClient } from '../../src/oauth/index.ts';

/** Connects to the server of one scenario of the official suite, lists its tools and calls each of them. */
const address = process.argv.at(-1) ?? '';
const { client_id, client_secret } = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}');

/** Client ids that scenarios for client metadata documents require. No document exists at this address. */
const NAMED_BY_ADDRESS = { 'auth/basic-cimd': 'https://conformance-test.local/client-metadata.json' };
const named = Object.entries(NAMED_BY_ADDRESS).find(([name]) => name === process.env.MCP_CONFORMANCE_SCENARIO)?.[1];

/** Authorization servers to allow: all that the metadata contain, because those of the suite listen on random ports. */
const allowedIssuers: string[] = [];

/** Scope that the last 403 response requires. */
let requiredScope: string | undefined;

async function recordingFetch(input: Request | URL | string, init?: RequestInit): Promise<Response> {
  const response = await fetch(input, init);
  if (response.ok && init?.method === 'GET' && response.headers.get('content-type')?.includes('application/json')) {
    const { authorization_servers = [] } = await response.clone().json();
    allowedIssuers.push(...authorization_servers);
  }
  if (response.status === 403)
    requiredScope = /scope="([^"]*)"/.exec(response.headers.get('www-authenticate') ?? '')?.[1];
  return response;
}

const oauth = createOAuthClient({
  baseUrl: new URL(address).origin,
  resource: address,
  redirectUri: 'http://localhost:3000/callback',
  store: memoryTokenStore(),
  allowedIssuers,
  fetch: recordingFetch,
  ...(client_id !== undefined && { client: { client_id, client_secret } }),
  ...(named !== undefined && { client: { client_id: named } }),
});

async function signIn(scope?: string): Promise<void> {
  const { url } = await oauth.authorize({ scope });
  const response = await fetch(url, { redirect: 'manual' });
  await oauth.callback(response.headers.get('location') ?? '');
}

let signIns = 0;

/** Runs `work` until it succeeds, and signs in when required: three times at most in this process. */
async function signedIn<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const isSignInRequired = ReauthorizationRequiredError.isInstance(error) || requiredScope !== undefined;
      if (!isSignInRequired || ++signIns > 3) throw error;
      const scope = requiredScope;
      requiredScope = undefined;
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
