/** Ten calls by openapi-fetch, with the types that openapi-typescript generates, and a handler of the events of a webhook. */
import createClient from 'openapi-fetch';
import type { components, paths } from './generated/schema.js';

const [baseUrl = '', email = '', password = '', events = '[]'] = process.argv.slice(2);
const client = createClient<paths>({
  baseUrl,
  headers: { accept: 'application/json' },
});

/** Returns the data of a success. */
function dataOf<T>({ data, error }: { data?: { data: T } | undefined; error?: unknown }): T {
  if (!data) throw new Error(`It failed: ${JSON.stringify(error)}`);
  return data.data;
}

const { token } = dataOf(await client.POST('/api/v2/auth/login', { body: { email, password } }));
client.use({ onRequest: ({ request }) => void request.headers.set('authorization', `Bearer ${token}`) });
const [project] = dataOf(await client.POST('/api/v2/projects/create', { body: { name: 'Autumn' } }));
if (!project) throw new Error('There is no project.');
const body = { name: 'Visitors', project_id: project.id };
const header = { 'Idempotency-Key': 'key' };
const [audience] = dataOf(await client.POST('/api/v2/audiences/create', { body, params: { header } }));
const [replayed] = dataOf(await client.POST('/api/v2/audiences/create', { body, params: { header } }));
if (!audience || audience.id !== replayed?.id) throw new Error('The create was not replayed.');
const path = { id: audience.id };
const [read] = dataOf(await client.GET('/api/v2/audiences/{id}', { params: { path } }));
console.log(read?.status.name satisfies string | undefined);
dataOf(await client.GET('/api/v2/audiences/index', { params: { query: { page: 1, per_page: 10 } } }));
dataOf(await client.POST('/api/v2/estimates/create', { body: { dataset: [] } }));
dataOf(await client.GET('/api/v2/webhooks/index'));
const { build_budget } = dataOf(await client.GET('/api/v2/usage', { params: { query: { yearmonth: undefined } } }));
console.log(build_budget.hour.used);
const reference = { dataset: 'web', name: 'domains' } as const;
dataOf(await client.GET('/api/v2/reference/{dataset}/{name}', { params: { path: reference } }));
const { error } = await client.GET('/api/v2/activations/{id}', { params: { path: { id: 999_999 } } });
console.log(error?.message satisfies string | undefined);

/** Returns what an event is about. */
function describe(event: components['schemas']['WebhookEvent']): string {
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
