/** Ten calls by the client that typed-openapi generates, and a handler of the events of a webhook. */
import { createApiClient, type Schemas } from './generated/typed-openapi.ts';

const [baseUrl = '', email = '', password = '', events = '[]'] = process.argv.slice(2);
const headers = new Headers({ accept: 'application/json', 'content-type': 'application/json' });
const client = createApiClient(
  {
    fetch: ({ method, url, urlSearchParams, parameters }) => {
      if (urlSearchParams) url.search = String(urlSearchParams);
      const content = parameters?.body === undefined ? null : JSON.stringify(parameters.body);
      return fetch(url, { method: method.toUpperCase(), headers, body: content });
    },
  },
  baseUrl,
);

const login = await client.post('/api/v2/auth/login', { body: { email, password } });
headers.set('authorization', `Bearer ${login.data.token}`);

const project = await client.post('/api/v2/projects/create', { body: { name: 'Autumn' }, header: {} });
const body = { name: 'Visitors', project_id: project.data[0]?.id ?? null };
const header = { 'Idempotency-Key': 'key' };
const created = await client.post('/api/v2/audiences/create', { body, header });
const [audience] = created.data;
if (!audience) throw new Error('There is no audience.');
const path = { id: audience.id };
const read = await client.get('/api/v2/audiences/{id}', { path });
console.log(read.data[0]?.status.name satisfies string | undefined);
const page = await client.get('/api/v2/audiences/index', { query: { page: 1, per_page: 10 } });
const endpoints = await client.get('/api/v2/webhooks/index');
const usage = await client.get('/api/v2/usage', { query: {} });
console.log(usage.data.build_budget.hour.used);
const table = { dataset: 'web', name: 'domains' } as const;
const rows = await client.get('/api/v2/reference/{dataset}/{name}', { path: table, query: {} });
const removed = await client.post('/api/v2/audiences/{id}/delete', { path });
for (const { status } of [page, endpoints, usage, rows, removed]) console.log(status satisfies 'success');
const missing = await client.get('/api/v2/activations/{id}', { path: { id: 999_999 }, withResponse: true });
console.log(missing.status === 404 && (missing.data.message satisfies string));

/** Returns what an event is about. */
function describe(event: Schemas.WebhookEvent): string {
  switch (event.type) {
    case 'audience.completed':
    case 'audience.failed':
      return `${event.data.name}: ${event.data.results_count}`;
    case 'activation.completed':
    case 'activation.failed':
      return `${event.data.partner.name}: ${event.data.datastreams.length}`;
    case 'cohort.completed':
    case 'cohort.failed':
      return `${event.data.name}: ${event.data.total_eids}`;
    case 'webhook.test':
      return 'test';
    default:
      return event satisfies never;
  }
}
for (const event of JSON.parse(events)) console.log(describe(event));
console.log('done');
