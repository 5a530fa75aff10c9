/** Ten calls by the client that swagger-typescript-api generates, and a handler of the events of a webhook. */
import { Api, type WebhookEvent } from './generated/swagger-typescript-api.ts';

const [baseUrl = '', email = '', password = '', events = '[]'] = process.argv.slice(2);
const headers = { accept: 'application/json' };
const client = new Api<string>({
  baseUrl,
  baseApiParams: { headers },
  securityWorker: (token) => ({ headers: { authorization: `Bearer ${token}` } }),
});
const { api } = client;
const { data: login } = await api.authLogin({ email, password });
client.setSecurityData(login.data.token);

const { data: project } = await api.projectsCreate({ name: 'Autumn' });
const body = { name: 'Visitors', project_id: project.data[0]?.id ?? null };
const { data: created } = await api.audiencesCreate(body, { headers: { 'idempotency-key': 'key' } });
const [audience] = created.data;
if (!audience) throw new Error('There is no audience.');
const { data: read } = await api.audiencesGet(audience.id);
console.log(read.data[0]?.status.name satisfies string | undefined);
const page = await api.audiencesList({ page: 1, per_page: 10 });
const endpoints = await api.webhooksList();
const usage = await api.usageGet({});
console.log(usage.data.data.build_budget.hour.used);
const rows = await api.referenceList('web', 'domains');
const removed = await api.audiencesDelete(audience.id);
for (const { status } of [page, endpoints, usage, rows, removed]) if (status !== 200) throw new Error(String(status));
const missing = await api.activationsGet(999_999).catch(({ status, error }) => ({ status, error }));
console.log(missing.status === 404 && missing.error.message);

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
