import { html } from 'hono/html';
import { listTokens } from '../../tokens.ts';
import type { ConsoleContext } from '../console-context.ts';
import { actionForm } from '../forms.ts';
import { codeBlock, commandLine, tabs } from '../highlight.ts';
import { type Content, count, facts, foreign, type Html, head, linkButton, live } from '../html.ts';
import type { Page } from '../layout.ts';

/** A step of a beginner. */
interface BeginnerStep {
  readonly id: string;
  readonly title: string;
  readonly isDone: boolean;
  readonly note: string;
  readonly content: Content;
}

/** How to send the first request: the steps, which tick themselves off, the addresses and the account. */
export function startPage(console: ConsoleContext): Page {
  const { service, addresses } = console;
  const { state } = service;
  const { api, storage } = addresses();
  const [account] = state.accounts.values();
  const steps = stepsOf(console);
  const done = steps.filter(({ isDone }) => isDone).length;
  return {
    title: 'Get started',
    source: '/start',
    content: html`${head('Get started')}
<p class="lead">The Audience Build and Activation API on your machine. Nothing leaves it, and nothing costs anything.</p>
<div class="cols aside"><section aria-label="First steps">
${live(
  'steps',
  html`<ol class="todo">${steps.map((step) => stepElement(step, steps.find(({ isDone }) => !isDone)?.id === step.id))}</ol>
<p class="pager"><span>${done} of ${steps.length} done. Steps are ticked off automatically.</span>${linkButton('/requests', 'See the requests', 'small')}</p>`,
)}
</section>
<aside aria-label="Addresses" class="cols">
<div class="card"><h2>Addresses</h2>
${facts(
  [
    ['API', html`<code>${api}</code>`],
    ['MCP', html`<code>${api}/api/v2/mcp</code>`],
    ['OpenAPI', html`<code>${api}/openapi.json</code>`],
    ['Storage', html`<code>${storage}</code>`],
    ['Console', 'this address'],
  ],
  'list',
)}
<h3>Account</h3>
${live(
  'account',
  account
    ? facts(
        [
          ['Email', foreign(account.email)],
          ['Password', html`<span class="soft">the one that it was created with</span>`],
          [
            'Budget',
            `${account.company.hourlyBuilds.count(service.clock.now())} of ${count(account.company.hourlyBuilds.limit)} builds an hour`,
          ],
        ],
        'list',
      )
    : html`<p class="soft">None yet.</p><p>${linkButton('/accounts', 'Create an account')}</p>`,
)}</div>
<div class="card"><h2>What you can do here</h2><ul class="links">
<li><a href="/requests">See why a request was refused</a></li>
<li><a href="/jobs">End a job with the status you need</a></li>
<li><a href="/clock">Move the clock by a day</a></li>
<li><a href="/deliveries">Deliver an event again</a></li>
<li><a href="/session">Save what happened as a test</a></li></ul></div>
</aside></div>`,
  };
}

function stepElement({ id, title, isDone, note, content }: BeginnerStep, isNext: boolean): Html {
  // Another id for another state: the step that comes next opens, whatever the reader has opened before.
  const state = isDone ? 'done' : isNext ? 'next' : '';
  return html`<li class="${state}"><details id="step-${id}-${state}"${isNext ? html` open` : ''}><summary>${title} <small>${isDone ? 'done' : note}</small></summary><div>${content}</div></details></li>`;
}

function stepsOf({ service, addresses }: ConsoleContext): readonly BeginnerStep[] {
  const { state, webhooks, jobs } = service;
  const { api } = addresses();
  const accounts = [...state.accounts.values()];
  const created = accounts.flatMap(({ audiences, activations, cohorts, estimates }) => [
    ...audiences.keys(),
    ...activations.keys(),
    ...cohorts.keys(),
    ...estimates.keys(),
  ]);
  return [
    {
      id: 'token',
      title: 'Get a token',
      isDone: accounts.some((account) => listTokens(service, account).length > 0),
      note: 'one click',
      content: html`<p>A token of the kind api is valid for a year, on all endpoints but MCP. It is shown once:</p>
${actionForm({ action: 'POST /api/tokens', submit: 'Issue a token…', values: { kind: 'api' } })}
<p>The client and the command read both variables:</p>${codeBlock('variables', 'Shell', `export AUDIENCE_BASE_URL=${api}\nexport AUDIENCE_TOKEN='…' # the token that was shown`)}`,
    },
    {
      id: 'request',
      title: 'Send your first request',
      isDone: state.requestCount > 0,
      note: 'waiting for it',
      content: html`<p>With the two variables of the step before, and <code>npm install audience-activation</code>:</p>
${tabs('as', [
  ['sdk', 'SDK', codeBlock('first-sdk', 'first.mjs', FIRST_PROGRAM)],
  ['curl', 'curl', codeBlock('first-curl', 'Shell', FIRST_CURL)],
  [
    'cli',
    'Command',
    codeBlock('first-command', 'Shell, without a token', 'npx aud audiences create --name Visitors --wait --sandbox'),
  ],
])}
<div class="acts">${actionForm({ action: 'POST /api/requests/first', submit: 'Send from here', style: 'primary' })} <span class="soft">It appears under <a href="/requests">Requests</a>, with the reason if it is refused.</span></div>`,
    },
    {
      id: 'job',
      title: 'Complete its job',
      isDone: created.some((id) => !jobs.saved.running.has(id)),
      note: 'one click',
      content: html`<p>A job takes ten minutes of the sandbox's clock. Under <a href="/jobs">Jobs</a>, choose Complete, or Needs info… to see how it fails; or advance the clock:</p>${commandLine('advance', 'npx aud sandbox advance 10m')}`,
    },
    {
      id: 'webhook',
      title: 'Receive a webhook',
      isDone: webhooks.attempts.length > 0,
      note: 'optional',
      content: html`<p>Register your receiver: the event of the next job that ends is delivered to it, and signed.</p><p>${linkButton('/account/webhooks', 'Create a webhook endpoint')}</p>`,
    },
    {
      id: 'lost',
      title: 'Lose a response without creating a duplicate',
      isDone: state.log.some(({ replayed }) => replayed === true),
      note: 'optional',
      content: html`<p>The service creates the audience, but its response is lost: the client sends it again with the same key, and the service replays its response.</p>${commandLine('lose', 'npx aud sandbox fault add --on audiences.create --cut after --times 1')}`,
    },
  ];
}

const FIRST_PROGRAM = `import { AudienceClient } from 'audience-activation';

const client = new AudienceClient(); // reads the two variables
const audience = await client.audiences.create({ name: 'Visitors' });
console.log(audience.id, audience.status.name);
await client.close();`;

const FIRST_CURL = `curl "$AUDIENCE_BASE_URL/api/v2/audiences/create" \\
  -H "Authorization: Bearer $AUDIENCE_TOKEN" \\
  --json '{ "name": "Visitors" }'`;
