import { html } from 'hono/html';
import type { ConsoleContext } from '../console-context.ts';
import { actionForm } from '../forms.ts';
import { codeBlock } from '../highlight.ts';
import { facts, type Html, head } from '../html.ts';
import type { Page } from '../layout.ts';

export function startPage({ addresses }: ConsoleContext): Page {
  const { api, storage } = addresses();
  const urls = { API: api, MCP: `${api}/api/v2/mcp`, OpenAPI: `${api}/openapi.json`, Storage: storage };
  return {
    title: 'Get started',
    content: html`${head('Get started')}
<p class="hint">The sandbox serves the Audience Build and Activation API on this machine. It sends requests only to your webhook endpoints.</p>
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
const firstRequest = (api: string): Html => html`${codeBlock(
  'variables',
  'Shell: use the token that the command printed, or issue one below',
  `export AUDIENCE_BASE_URL=${api}\nexport AUDIENCE_TOKEN="\${AUDIENCE_TOKEN:?issue one in the console}"\nnpm install audience-activation`,
)}${actionForm('POST /api/tokens', 'Issue a token', { values: { kind: 'api' } })}
${codeBlock('first-sdk', 'SDK, first.mjs', FIRST_PROGRAM)}
${codeBlock('first-curl', 'Or with curl', FIRST_CURL)}
${codeBlock('first-command', 'Or with the command', 'npx aud audiences create --name Visitors --wait')}
<p class="hint">The request appears under <a href="/requests">Requests</a>, with the reason if it is refused.</p>`;

const THEN = html`<ul class="rows"><li><b>End the job.</b> By default, a job takes ten minutes of the sandbox's clock. Advance the <a href="/clock">clock</a>.
Or choose End… under <a href="/jobs">Jobs</a>: with the status 107, a program that waits for the job gets an error.</li>
<li><b>Receive a webhook.</b> <a href="/deliveries#create">Create a webhook endpoint</a>. When an audience's job ends, the sandbox sends the endpoint a signed event.</li>
<li><b>Lose a response.</b> Add the fault Response lost under <a href="/faults">Faults</a>, and run the program again. The service creates the audience, but
the client gets no response. The client repeats the request with the same key, and gets the stored response.</li>
<li><b>Reach a rate limit.</b> Add the fault Rate limited under <a href="/faults">Faults</a>, and run the program again. The client waits for as long as
<code>Retry-After</code> says, and repeats the request.</li></ul>`;
