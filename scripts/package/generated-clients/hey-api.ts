/** Ten calls by the client that @hey-api/openapi-ts generates, and a handler of the events of a webhook. */

import { client } from './generated/hey-api/client.gen.ts';
import {
  activationsGet,
  audiencesCreate,
  audiencesDelete,
  audiencesGet,
  audiencesList,
  authLogin,
  projectsCreate,
  referenceList,
  usageGet,
  type WebhookEvent,
  webhooksList,
} from './generated/hey-api/index.ts';

const [baseUrl = '', email = '', password = '', events = '[]'] = process.argv.slice(2);
client.setConfig({ baseUrl, headers: { accept: 'application/json' } });

/** Returns the data of a success. */
function dataOf<T>({ data, error }: { data: { data: T } | undefined; error: unknown }): T {
  if (!data) throw new Error(`It failed: ${JSON.stringify(error)}`);
  return data.data;
}

const { token } = dataOf(await authLogin({ body: { email, password } }));
client.setConfig({ auth: token });
const [project] = dataOf(await projectsCreate({ body: { name: 'Autumn' } }));
const body = { name: 'Visitors', project_id: project?.id ?? null };
const [audience] = dataOf(await audiencesCreate({ body, headers: { 'Idempotency-Key': 'key' } }));
if (!audience) throw new Error('There is no audience.');
const path = { id: audience.id };
const [read] = dataOf(await audiencesGet({ path }));
console.log(read?.status.name satisfies string | undefined);
dataOf(await audiencesList({ query: { page: 1, per_page: 10 } }));
dataOf(await webhooksList());
const { build_budget } = dataOf(await usageGet());
console.log(build_budget.hour.used);
dataOf(await referenceList({ path: { dataset: 'web', name: 'domains' } }));
dataOf(await audiencesDelete({ path }));
const { error } = await activationsGet({ path: { id: 999_999 } });
console.log(error?.message satisfies string | undefined);

/** Returns what an event is about. */
function describe(event: WebhookEvent): string {
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
