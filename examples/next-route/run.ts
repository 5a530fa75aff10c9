/**
 * Route handlers in the way of Next (`app/api/…/route.ts`): one that receives webhooks, one that lists and
 * creates audiences for its callers. `npm run example:next-route` serves them by `node:http` against a sandbox,
 * has a real delivery sent, and ends.
 */
import { createSandbox } from 'audience-activation/sandbox';
import { serve } from './support/serve.ts';

const sent: Request[] = [];
const sandbox = createSandbox({
  // It moves when told. The receiver knows no sandbox, so signatures hold the machine's time.
  clock: 'manual',
  signatureClock: 'machine',
  deliver(request) {
    sent.push(request.clone());
    return fetch(request);
  },
});
const account = sandbox.accounts.create({ email: 'demo@example.com', password: 'a password of the sandbox' });
const service = await sandbox.listen();
// Loaded with the first request, as Next does: the environment is complete by then.
const app = await serve({
  '/api/webhooks': () => import('./app/api/webhooks/route.ts'),
  '/api/audiences': () => import('./app/api/audiences/route.ts'),
});
const url = `${app.url}/api/webhooks`;
const endpoint = sandbox.webhooks.create({ account, name: 'Next', url, events: ['audience.completed'] });
Object.assign(process.env, {
  AUDIENCE_BASE_URL: service.url,
  AUDIENCE_TOKEN: account.token('api'),
  WEBHOOK_SECRET: endpoint.secret,
});

async function call(what: string, init: RequestInit = {}): Promise<void> {
  const response = await fetch(`${app.url}/api/audiences`, init);
  console.log(`${what}: ${response.status} ${await response.text()}`);
}
const post = (body: unknown, key: string): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...(key && { 'idempotency-key': key }) },
  body: JSON.stringify(body),
});

await call('Created', post({ name: 'Visitors' }, 'order-4711'));
await call('The same again', post({ name: 'Visitors' }, 'order-4711'));
await call('Another under its key', post({ name: 'Buyers' }, 'order-4711'));
await call('Without a key', post({ name: 'Visitors' }, ''));
const long_ago = { analysis_type: 'WebDomain', start_date: '2020-01-01', end_date: '2020-01-31' };
await call('Too old data', post({ name: 'Visitors', dataset: [long_ago] }, 'order-4712'));
await call('List');

// The build ends, and the service tells of it.
await sandbox.advance(600_000);
for (const { type, status } of sandbox.webhooks.deliveries) console.log(`Delivered: ${type}: ${status}`);
const [delivery] = sent;
// A delivery whose answer was lost comes again: it is acknowledged, and not handled twice.
if (delivery) console.log(`Delivered again: ${(await fetch(delivery)).status}`);

const { client } = await import('./lib/audience.ts');
await client.close();
app.close();
await service.close();
