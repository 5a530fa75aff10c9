/**
 * An agent: signs its user in with OAuth, lists the tools of the service, and builds an audience with them.
 *
 * Runs against a sandbox in another process, and submits its consent page by code. With AUDIENCE_BASE_URL, the agent
 * uses that service instead: your browser opens the consent page, and the tokens are kept in a file for the next run.
 */
import { Client } from '@modelcontextprotocol/client';
import { jobState, memoryTokenStore, ReauthorizationRequiredError } from 'audience-activation';
import { connectMcp } from 'audience-activation/mcp';
import { fileTokenStore, signInWithBrowser } from 'audience-activation/node';
import { createOAuthClient } from 'audience-activation/oauth';
import { allow } from './support/consent.ts';
import { showProgress } from './support/progress.ts';
import { startSandbox } from './support/sandbox.ts';

const POLL_INTERVAL_MS = 500;

const address = process.env.AUDIENCE_BASE_URL;
const sandbox = address === undefined ? await startSandbox({ speed: 120 }) : undefined;
const baseUrl = sandbox?.url ?? address;

const oauth = createOAuthClient({
  baseUrl,
  redirectUri: 'http://127.0.0.1/callback', // on a free port
  store: sandbox ? memoryTokenStore() : fileTokenStore('./mcp-agent.tokens.json'),
  clientName: 'Example agent',
});

async function signIn(): Promise<void> {
  if (!sandbox) return signInWithBrowser(oauth);
  return signInWithBrowser(oauth, { open: false, onUrl: (url) => allow(url, sandbox.credentials) });
}

/** Calls a tool, whose text content is the service's envelope; returns its `data`. */
async function callTool(client: Client, name: string, input: Record<string, unknown>) {
  const { content } = await client.callTool({ name, arguments: input });
  const [item] = content;
  const envelope = JSON.parse(item?.type === 'text' ? item.text : '{}');
  if (envelope.status !== 'success') throw new Error(`${name}: ${envelope.message}`);
  return Array.isArray(envelope.data) ? envelope.data[0] : envelope.data;
}

const progress = showProgress();
const connect = (): Promise<Client> =>
  connectMcp({ baseUrl, token: oauth, client: new Client({ name: 'example-agent', version: '1.0.0' }) });
let client: Client | undefined;
try {
  client = await connect().catch(async (error) => {
    if (!ReauthorizationRequiredError.isInstance(error)) throw error;
    await signIn();
    progress.line('Signed in.');
    return connect();
  });
  const { tools } = await client.listTools();
  progress.line(
    `${tools.length} tools, among them ${tools
      .slice(0, 3)
      .map(({ name }) => name)
      .join(', ')}.`,
  );

  // With a key, the call can be repeated after a lost response without creating a second audience.
  const key = crypto.randomUUID();
  let audience = await callTool(client, 'audiences_create', { name: 'Built by an agent', idempotency_key: key });
  progress.line(`Created audience ${audience.id}, "${audience.name}".`);
  while (jobState('audience', audience) === 'running') {
    progress.update(audience.status.name);
    await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
    audience = await callTool(client, 'audiences_get', { id: audience.id });
  }
  progress.line(`${audience.status.name}: ${audience.results_count} devices.`);

  if (sandbox) {
    await oauth.revoke();
    progress.line('Signed out.');
  }
} finally {
  progress.end();
  await client?.close();
  await sandbox?.stop();
}
