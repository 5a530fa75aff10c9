/**
 * A Hono app whose page shows the progress of a build, which ends by a webhook. `node examples/hono-progress/run.ts`
 * starts it and prints its address; Ctrl-C stops it.
 *
 * The service is a sandbox in this process. For the real service, register the app's public address in the console, and
 * pass the webhook secret that the console shows. Flags, after `--`: `--speed 60` (of the sandbox's clock).
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';
import { getRequestListener } from '@hono/node-server';
import { AudienceClient } from 'audience-activation';
import { createSandbox } from 'audience-activation/sandbox';
import { createWebhookReceiver } from 'audience-activation/webhooks';
import { createApp } from './app.ts';

const { values } = parseArgs({ options: { speed: { type: 'string', default: '60' } } });
const sandbox = createSandbox({ clock: { speed: Number(values.speed) }, signatureClock: 'machine' });
const account = sandbox.accounts.create({ email: 'demo@example.com', password: 'a password of the sandbox' });
const service = await sandbox.listen();
const client = new AudienceClient({ baseUrl: service.url, token: account.token('api') });

const secrets: string[] = [];
const receiver = createWebhookReceiver({ secrets });
const app = createApp(client, receiver);
const server = createServer(getRequestListener(app.fetch)).listen(0, '127.0.0.1');
await once(server, 'listening');
const address = server.address();
const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : address}`;
const events = ['audience.completed', 'audience.failed'];
secrets.push(sandbox.webhooks.create({ account, name: 'Example', url: `${url}/webhooks`, events }).secret);
console.log(`Open ${url}. Ctrl-C stops the app.`);

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, async () => {
    // First the client: requests that wait for jobs end, and the server can close.
    await client.close();
    server.close();
    await service.close();
  });
