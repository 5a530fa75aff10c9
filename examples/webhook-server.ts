/**
 * Receives webhooks with Fastify, and lets them end waits: the audiences are read once when their wait
 * begins, and then the service tells of their ends.
 *
 * The service is a sandbox in this process. Against the real one, register the server's public address
 * in the console, and give the secret that it shows.
 */
import { AudienceClient } from 'audience-activation';
import { toNodeListener } from 'audience-activation/node';
import { createSandbox } from 'audience-activation/sandbox';
import { createWebhookReceiver } from 'audience-activation/webhooks';
import fastify from 'fastify';

const sandbox = createSandbox({
  clock: { speed: 120 },
  jobs: { outcome: ({ name }) => (name.endsWith('3') ? 107 : 104) },
});
const account = sandbox.accounts.create({ email: 'demo@example.com', password: 'a password of the sandbox' });
const service = await sandbox.listen();
const client = new AudienceClient({ baseUrl: service.url, token: account.token('api') });

const secrets: string[] = [];
const receiver = createWebhookReceiver({
  secrets,
  // A faster clock than this machine's signs ahead of its time.
  now: () => sandbox.now(),
  on: {
    'audience.completed': ({ data }) => console.log(`Event: audience ${data.id} holds ${data.results_count} devices.`),
    'audience.failed': ({ data }) => console.log(`Event: audience ${data.id} ended at ${data.status.name}.`),
  },
});
receiver.attach(client.waits);

const server = fastify();
server.register(async (scope) => {
  // The receiver reads the body itself: signatures are over its raw bytes.
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', (_request, _body, done) => done(null));
  scope.post('/webhooks', (request, reply) => {
    reply.hijack();
    toNodeListener(receiver)(request.raw, reply.raw);
  });
});
const address = await server.listen({ port: 0, host: '127.0.0.1' });
const events = ['audience.completed', 'audience.failed'];
secrets.push(sandbox.webhooks.create({ account, name: 'Example', url: `${address}/webhooks`, events }).secret);

const names = ['Visitors of store 1', 'Visitors of store 2', 'Visitors of store 3'];
await Promise.all(
  names.map(async (name) => {
    const sources: string[] = [];
    const onUpdate = (_: unknown, { source }: { readonly source: string }): void => void sources.push(source);
    const outcome = await client.audiences.createAndWait({ name }, { wait: { onUpdate } }).then(
      ({ status }) => status.name,
      (error: Error) => error.name,
    );
    console.log(`Wait for "${name}": ${outcome}, told by ${sources.at(-1)}.`);
  }),
);

await client.close();
await server.close();
await service.close();
