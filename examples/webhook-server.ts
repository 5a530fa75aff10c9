/**
 * A Fastify backend: `POST /audiences` starts a build and responds immediately, `GET /audiences/:id` returns its
 * status, and `POST /webhooks` receives the events that end the waits. `node examples/webhook-server.ts` starts the
 * backend, sends it orders for three audiences, and ends.
 *
 * The service is a sandbox in this process. For the real service, register the backend's public address in the console,
 * and pass the webhook secret that the console shows.
 */
import {
  AUDIENCE_STATUS,
  AudienceClient,
  AudienceError,
  JobError,
  RateLimitError,
  ValidationError,
} from 'audience-activation';
import { createSandbox } from 'audience-activation/sandbox';
import { createWebhookReceiver } from 'audience-activation/webhooks';
import fastify from 'fastify';
import { webhookRoute } from './support/webhook-route.ts';

const sandbox = createSandbox({
  clock: { speed: 120 },
  jobs: { outcome: ({ name }) => AUDIENCE_STATUS[name.endsWith('3') ? 'additionalInfo' : 'completed'] },
});
const account = sandbox.accounts.create({ email: 'demo@example.com', password: 'a password of the sandbox' });
const service = await sandbox.listen();
const client = new AudienceClient({ baseUrl: service.url, token: account.token('api') });

const secrets: string[] = [];
const receiver = createWebhookReceiver({
  secrets,
  // The sandbox's clock runs faster than the machine's, and signatures contain the sandbox's time.
  now: () => sandbox.now(),
  on: {
    'audience.completed': ({ data }) => console.log(`Event: audience ${data.id} holds ${data.results_count} devices.`),
    'audience.failed': ({ data }) => console.log(`Event: audience ${data.id} ended at ${data.status.name}.`),
  },
});
receiver.attach(client.waits);

const server = fastify();
server.register(webhookRoute(receiver));

/** Builds by the id of their audience. Outside of demos, keep them in your database. */
const builds = new Map<number, { name: string; status: string; source: string | undefined; error?: string }>();
const waits: Promise<void>[] = [];

server.post<{ Body: { name: string } }>(
  '/audiences',
  { schema: { body: { type: 'object', required: ['name'], properties: { name: { type: 'string', minLength: 1 } } } } },
  async ({ body, headers }, reply) => {
    // Use the caller's key: if the caller retries after a lost response, no second audience is built.
    const idempotencyKey = String(headers['idempotency-key'] ?? crypto.randomUUID());
    const { id, name, status } = await client.audiences.create({ name: body.name }, { idempotencyKey });
    if (!builds.has(id)) {
      builds.set(id, { name, status: status.name, source: undefined });
      waits.push(follow(id));
    }
    return reply.code(202).header('location', `/audiences/${id}`).send({ id, idempotencyKey });
  },
);

server.get<{ Params: { id: number } }>(
  '/audiences/:id',
  { schema: { params: { type: 'object', properties: { id: { type: 'integer' } } } } },
  async ({ params }, reply) => builds.get(params.id) ?? reply.code(404).send({ error: 'Not found.' }),
);

server.setErrorHandler((error: Error, _request, reply) => {
  if (!AudienceError.isInstance(error)) return reply.send(error);
  const { code, outcome, idempotencyKey } = error;
  if (ValidationError.isInstance(error)) return reply.code(422).send({ code, errors: error.errors });
  return reply.code(RateLimitError.isInstance(error) ? 429 : 502).send({ code, outcome, idempotencyKey });
});

/** Waits for an audience and records its result. After a restart, call it again for builds that have not ended. */
async function follow(id: number): Promise<void> {
  const build = builds.get(id);
  if (!build) return;
  try {
    await client.audiences.wait(id, {
      onUpdate: ({ status }, { source }) => Object.assign(build, { status: status.name, source }),
    });
  } catch (error) {
    build.error = JobError.isInstance(error) ? error.name : String(error);
  }
}

const address = await server.listen({ port: 0, host: '127.0.0.1' });
const events = ['audience.completed', 'audience.failed'];
secrets.push(sandbox.webhooks.create({ account, name: 'Example', url: `${address}/webhooks`, events }).secret);

const order = async (name: string): Promise<string> => {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${address}/audiences`, { method: 'POST', headers, body: JSON.stringify({ name }) });
  const location = response.headers.get('location');
  if (!location) throw new Error(`The order was refused with ${response.status}.`);
  return location;
};
const names = ['Visitors of store 1', 'Visitors of store 2', 'Visitors of store 3'];
const locations = await Promise.all(names.map(order));
await Promise.all(waits);
for (const location of locations) {
  const { name, status, source, error } = await (await fetch(address + location)).json();
  console.log(`Wait for "${name}": ${error ?? status}, reported by ${source}.`);
}

await client.close();
await server.close();
await service.close();
