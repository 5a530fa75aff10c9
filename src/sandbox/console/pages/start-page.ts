import { html } from 'hono/html';
import type { ConsoleContext } from '../console-context.ts';
import { actionForm } from '../forms.ts';
import { codeBlock, commandAt, panels } from '../highlight.ts';
import { attributesOf, type Content, facts, type Html, head, linkButton } from '../html.ts';
import type { Page } from '../layout.ts';

/** A step of a beginner. */
type Step = readonly [id: string, title: string, content: Content];

/** How to send the first request: the steps, and the addresses. */
export function startPage(console: ConsoleContext): Page {
  return {
    title: 'Get started',
    content: html`${head('Get started')}
<p class="hint">The Audience Build and Activation API on your machine. Nothing leaves it, and nothing costs anything.</p>
<div class="cols"><section aria-label="First steps">${stepList(console)}</section>
<aside class="card" aria-label="Addresses"><h2>Addresses</h2>${addressFacts(console)}</aside></div>`,
  };
}

function addressFacts({ addresses }: ConsoleContext): Html {
  const { api, storage } = addresses();
  const entries = [
    ['API', api],
    ['MCP', `${api}/api/v2/mcp`],
    ['OpenAPI', `${api}/openapi.json`],
    ['Storage', storage],
  ] as const;
  return facts(entries.map(([name, url]) => [name, html`<code>${url}</code>`] as const));
}

const stepList = (console: ConsoleContext): Html =>
  html`<ol class="todo card">${stepsOf(console).map(
    ([id, title, content], index) =>
      html`<li><details id="step-${id}"${attributesOf({ open: index === 0 })}><summary>${title}</summary><div>${content}</div></details></li>`,
  )}</ol>`;

function stepsOf({ addresses }: ConsoleContext): readonly Step[] {
  const { api } = addresses();
  return [
    ['request', 'Send your first request', firstRequest(api)],
    ['job', 'Complete its job', jobStep(api)],
    ['webhook', 'Receive a webhook', WEBHOOK_STEP],
    ['faults', 'Lose a response, or run into a rate limit', FAULTS_STEP],
  ];
}

const jobStep = (
  api: string,
): Html => html`<p>A job takes ten minutes of the sandbox's clock. Under <a href="/jobs">Jobs</a>, choose End…: Completed,
or Additional Info to see how it fails; or advance the clock:</p>${commandAt(api, 'advance', 'sandbox advance 10m')}`;

const WEBHOOK_STEP = html`<p>Register your receiver: the event of the next job that ends is delivered to it, and signed.</p>
<p>${linkButton('/deliveries#create', 'Create a webhook endpoint')}</p>`;

const FAULTS_STEP = html`<p>Under <a href="/faults">Faults</a>, choose Response lost: the service creates the audience, the client sends it
again with the same key, and the service replays its response. Or choose Rate limited: the client waits for as long as
<code>Retry-After</code> says, and sends it again.</p>`;

const FIRST_PROGRAM = `import { AudienceClient } from 'audience-activation';

const client = new AudienceClient();
const audience = await client.audiences.create({ name: 'Visitors' });
console.log(audience.id, audience.status.name);
await client.close();`;

const FIRST_CURL = `curl "$AUDIENCE_BASE_URL/api/v2/audiences/create" \\
  -H "Authorization: Bearer $AUDIENCE_TOKEN" \\
  --json '{ "name": "Visitors" }'`;

const FIRST_COMMAND = 'npx aud audiences create --name Visitors --wait';

const firstRequest = (api: string): Html => html`${variables(api)}${panels([
  ['SDK', codeBlock('first-sdk', 'first.mjs', FIRST_PROGRAM)],
  ['curl', codeBlock('first-curl', 'Shell', FIRST_CURL)],
  ['Command', codeBlock('first-command', 'Shell', FIRST_COMMAND)],
])}
${actionForm('POST /api/tokens', 'Issue a token', { values: { kind: 'api' } })}
<p class="hint">The request appears under <a href="/requests">Requests</a>, with the reason if it is refused.</p>`;

const TOKEN = `\${AUDIENCE_TOKEN:?issue one in the console}`;

/**
 * Returns the two variables. A shell that already has a token keeps it. Otherwise, the shell prints where to find one.
 */
const variables = (api: string): Html =>
  html`<figure class="code"><figcaption><span>Shell: the command has printed a token, or issue one below</span>
<button type="button" class="quiet small" data-copy="variables" aria-label="Copy the variables">Copy</button></figcaption>
<pre id="variables"><span class="k">export</span> AUDIENCE_BASE_URL=${api}
<span class="k">export</span> AUDIENCE_TOKEN=<span class="good">"${TOKEN}"</span>
npm install audience-activation</pre></figure>`;
