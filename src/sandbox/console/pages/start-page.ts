import { html } from 'hono/html';
import type { ConsoleContext } from '../console-context.ts';
import { actionForm } from '../forms.ts';
import { codeBlock } from '../highlight.ts';
import { facts, type Html, head } from '../html.ts';
import type { Page } from '../layout.ts';

/** How to send the first request, what to try after it, and the addresses. */
export function startPage({ addresses }: ConsoleContext): Page {
  const { api, storage } = addresses();
  const urls = { API: api, MCP: `${api}/api/v2/mcp`, OpenAPI: `${api}/openapi.json`, Storage: storage };
  return {
    title: 'Get started',
    content: html`${head('Get started')}
<p class="hint">The Audience Build and Activation API on your machine. Nothing leaves it, and nothing costs anything.</p>
<div class="cols"><section aria-labelledby="first-title"><h2 id="first-title">Send your first request</h2>${firstRequest(api)}
<h2>Then</h2>${THEN}</section>
<aside class="card" aria-label="Addresses"><h2>Addresses</h2>${facts(Object.entries(urls).map(([name, url]) => [name, html`<code>${url}</code>`]))}</aside></div>`,
  };
}

const FIRST_PROGRAM = `import { AudienceClient } from 'audience-activation';

const client = new AudienceClient();
const audience = await client.audiences.create({ name: 'Visitors' });
console.log(audience.id, audience.status.name);
await client.close();`;

const FIRST_CURL = `curl "$AUDIENCE_BASE_URL/api/v2/audiences/create" \\
  -H "Authorization: Bearer $AUDIENCE_TOKEN" \\
  --json '{ "name": "Visitors" }'`;

/** A shell that already has a token keeps it. Otherwise, the shell prints where to find one. */
const TOKEN = `\${AUDIENCE_TOKEN:?issue one in the console}`;

const firstRequest = (api: string): Html => html`${codeBlock(
  'variables',
  'Shell: the command has printed a token, or issue one below',
  `export AUDIENCE_BASE_URL=${api}\nexport AUDIENCE_TOKEN="${TOKEN}"\nnpm install audience-activation`,
)}${actionForm('POST /api/tokens', 'Issue a token', { values: { kind: 'api' } })}
${codeBlock('first-sdk', 'SDK, first.mjs', FIRST_PROGRAM)}
${codeBlock('first-curl', 'Or with curl', FIRST_CURL)}
${codeBlock('first-command', 'Or with the command', 'npx aud audiences create --name Visitors --wait')}
<p class="hint">The request appears under <a href="/requests">Requests</a>, with the reason if it is refused.</p>`;

const THEN = html`<ul class="rows"><li><b>Complete its job.</b> A job takes ten minutes of the sandbox's clock. Under <a href="/jobs">Jobs</a>, choose End…: Completed,
or Additional Info to see how it fails; or advance the <a href="/clock">clock</a>.</li>
<li><b>Receive a webhook.</b> <a href="/deliveries#create">Create a webhook endpoint</a>: the event of the next job that ends is delivered to it, and signed.</li>
<li><b>Lose a response, or run into a rate limit.</b> Under <a href="/faults">Faults</a>, choose Response lost: the service creates the audience, the client sends it
again with the same key, and the service replays its response. Or choose Rate limited: the client waits for as long as
<code>Retry-After</code> says, and sends it again.</li></ul>`;
