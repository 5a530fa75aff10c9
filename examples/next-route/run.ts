/**
 * Next-style route handlers (`app/api/…/route.ts`): one receives webhooks, one lists and creates audiences for its
 * callers. `node examples/next-route/run.ts` serves the handlers with `node:http`, against a sandbox that sends a real
 * delivery, and ends.
 */
import { createSandbox } from 'audience-activation/sandbox';
import { serve } from './support/serve.ts';

const deliveries: Request[] = [];
const sandbox = createSandbox({
  // The receiver checks signatures by the machine's clock, so the sandbox must sign with that clock's time.
  clock: 'manual',
  signatureClock: 'machine',
  deliver(request) {
    deliveries.push(request.clone());
    return fetch(request);
  },
});
const account = sandbox.accounts.create({ email: 'demo@example.com', password: 'a password of the sandbox' });
const service = await sandbox.listen();
// Routes are imported at the first request, as in Next, when the environment variables are set.
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

async function call(description: string, init: RequestInit = {}): Promise<void> {
  const response = await fetch(`${app.url}/api/audiences`, init);
  console.log(`${description}: ${response.status} ${await response.text()}`);
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
const tooOld = { analysis_type: 'WebDomain', start_date: '2020-01-01', end_date: '2020-01-31' };
await call('Too old data', post({ name: 'Visitors', dataset: [tooOld] }, 'order-4712'));
await call('List');

// The build ends, and the service sends an event.
await sandbox.advance(600_000);
for (const { type, status } of sandbox.webhooks.deliveries) console.log(`Delivered: ${type}: ${status}`);
const [delivery] = deliveries;
// Repeat the delivery, as the service does if a response is lost: it is acknowledged, but not handled again.
if (delivery) console.log(`Delivered again: ${(await fetch(delivery)).status}`);

const { client } = await import('./lib/audience.ts');
await client.close();
app.close();
await service.close();
