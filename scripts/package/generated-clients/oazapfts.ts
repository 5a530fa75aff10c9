/** Ten calls by the client that oazapfts generates, and a handler of the events of a webhook. */
import {
  activationsGet,
  audiencesCreate,
  audiencesDelete,
  audiencesGet,
  audiencesList,
  authLogin,
  defaults,
  projectsCreate,
  referenceList,
  usageGet,
  type WebhookEvent,
  webhooksList,
} from './generated/oazapfts.ts';

const [baseUrl = '', email = '', password = '', events = '[]'] = process.argv.slice(2);
defaults.baseUrl = baseUrl;
defaults.headers = { accept: 'application/json' };

const login = await authLogin({ email, password });
if (login.status !== 200) throw new Error(login.data.message);
defaults.headers = { ...defaults.headers, authorization: `Bearer ${login.data.data.token}` };

const project = await projectsCreate({ name: 'Autumn' });
if (project.status !== 200) throw new Error(project.data.message);
const body = { name: 'Visitors', project_id: project.data.data[0]?.id ?? null };
const created = await audiencesCreate(body, { idempotencyKey: 'key' });
const audience = created.status === 200 ? created.data.data[0] : undefined;
if (!audience) throw new Error('There is no audience.');
const read = await audiencesGet(audience.id);
console.log(read.status === 200 && (read.data.data[0]?.status.name satisfies string | undefined));
const page = await audiencesList({ page: 1, perPage: 10 });
const endpoints = await webhooksList();
const usage = await usageGet();
console.log(usage.status === 200 && usage.data.data.build_budget.hour.used);
const rows = await referenceList('web', 'domains', { page: 1 });
const removed = await audiencesDelete(audience.id);
for (const { status } of [page, endpoints, usage, rows, removed]) if (status !== 200) throw new Error(String(status));
const missing = await activationsGet(999_999);
console.log(missing.status === 404 && (missing.data.message satisfies string));

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
