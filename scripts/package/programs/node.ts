import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { AudienceClient, NotFoundError, OAuthError } from 'audience-activation';
import { openFile, toNodeListener } from 'audience-activation/node';
import { OAuthError as OAuthErrorAgain } from 'audience-activation/oauth';
import { createSandbox } from 'audience-activation/sandbox';
import { createWebhookReceiver, WebhookVerificationError } from 'audience-activation/webhooks';
import { check } from './check.ts';
import { exerciseClient, exerciseErrors, exerciseMcp, exerciseWebhooks } from './exercise.ts';

/** Tests that `import` and `require` load the same classes. */
async function exerciseBothForms(): Promise<void> {
  const require = createRequire(`${process.cwd()}/`);
  check(require('audience-activation').NotFoundError === NotFoundError, 'require gives the same classes');
  check((await import('audience-activation')).NotFoundError === NotFoundError, 'import gives the same classes');
  const { WebhookVerificationError: again } = require('audience-activation/webhooks');
  check(again === WebhookVerificationError, 'require gives the same classes of webhooks');
  const ofRoot: unknown = require('audience-activation').WebhookVerificationError;
  check(ofRoot === WebhookVerificationError, 'both entries have the same classes');
  check(OAuthErrorAgain === OAuthError, 'the entry of OAuth has the same classes');
}

async function exerciseFile(client: AudienceClient): Promise<void> {
  const path = `customers-${process.pid}.csv`;
  await writeFile(path, 'email\na@example.com\nb@example.com\n');
  const cohort = await client.cohorts.import(await openFile(path), { name: 'Customers' });
  check(cohort.status.id === 4, 'the cohort is imported');
}

/** Tests that a receiver gets a delivery of the sandbox over HTTP. */
async function exerciseDelivery(): Promise<void> {
  const deliveries: number[] = [];
  const sandbox = createSandbox({ jobs: { duration: 0 } });
  const account = sandbox.accounts.create({ email: 'a@example.com', password: 'x' });
  const secrets: string[] = ['whsec_to_come'];
  const receiver = createWebhookReceiver({
    secrets,
    on: { 'audience.completed': ({ data }) => deliveries.push(data.id) },
  });
  const server = createServer(toNodeListener(receiver));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  check(typeof address === 'object' && address !== null, 'the receiver listens');
  const url = `http://127.0.0.1:${address.port}/`;
  secrets[0] = sandbox.webhooks.create({ url, events: ['audience.completed'] }).secret;
  const { url: baseUrl, close } = await sandbox.listen();
  const client = new AudienceClient({ baseUrl, token: account.token('api') });
  const delivered = new Promise((resolve) => receiver.attach({ notify: resolve }));
  await Promise.all([client.audiences.create({ name: 'Delivered' }), delivered]);
  await client.close();
  await close();
  await sandbox.close();
  await new Promise((done) => server.close(done));
  check(deliveries.length === 1, 'the event is delivered');
}

async function main(): Promise<void> {
  const before = [globalThis.fetch, globalThis.Request, globalThis.Response];
  const sandbox = createSandbox({ jobs: { duration: 0 } });
  const account = sandbox.accounts.create({ email: 'a@example.com', password: 'x' });
  const token = account.token('api');
  const { url: baseUrl, close } = await sandbox.listen();
  const audience = await exerciseClient({ baseUrl, token });
  await exerciseErrors({ baseUrl, token });
  await exerciseWebhooks(audience);
  await exerciseMcp({ baseUrl, token: account.token('mcp') });
  const client = new AudienceClient({ baseUrl, token });
  await exerciseFile(client);
  await client.close();
  await close();
  await exerciseDelivery();
  await exerciseBothForms();
  const after = [globalThis.fetch, globalThis.Request, globalThis.Response];
  check(
    after.every((value, at) => value === before[at]),
    'the globals are unchanged',
  );
  console.log(`done on ${process.versions.node}`);
}

main().catch((error: unknown) => {
  console.error(error);
  // Exit explicitly, because servers may still be listening.
  process.exit(1);
});
