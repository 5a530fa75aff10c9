import { createWebhookReceiver } from 'audience-activation/webhooks';
import fastify from 'fastify';
import { expect, it, onTestFinished } from 'vitest';
import { webhookRoute } from '../../../examples/support/webhook-route.ts';
import type { WebhookEvent } from '../../../src/webhooks/index.ts';
import { startScene } from '../support/run-process.ts';

const SECRET = 'whsec_local';
const RUNNING = { jobs: { duration: 3_600_000 } };

it('listen delivers the ends of jobs to a Fastify receiver, with the resource as its GET returns it', async () => {
  const scene = await startScene(RUNNING);
  const { json, sandbox, start } = scene;
  const [audience] = await json(['audiences', 'create', '--name', 'a']);
  const [failing] = await json(['audiences', 'create', '--name', 'b']);
  const events: WebhookEvent[] = [];
  const collect = (event: WebhookEvent): void => void events.push(event);
  const on = { 'audience.completed': collect, 'audience.failed': collect };
  const server = fastify();
  server.register(webhookRoute(createWebhookReceiver({ secrets: SECRET, on })));
  onTestFinished(() => server.close());
  const receiver = `${await server.listen({ port: 0, host: '127.0.0.1' })}/webhooks`;
  const jobs = `audience:${audience?.id},${failing?.id}`;
  const listening = start(['listen', '--forward-to', receiver, '--jobs', jobs, '--secret', SECRET]);
  await expect.poll(() => listening.printed.err).toContain(`events go to ${receiver}.`);
  sandbox.jobs.finish('audience', Number(audience?.id), 104);
  sandbox.jobs.finish('audience', Number(failing?.id), 107);
  const { code, out } = await listening.ended;
  expect(code).toBe(0);
  expect(out).toMatch(new RegExp(`\taudience.completed\t${audience?.id}\t1\t200\tdelivered\n`));
  expect(events.map(({ type }) => type).sort()).toEqual(['audience.completed', 'audience.failed']);
  const [data] = await json(['audiences', 'get', String(audience?.id)]);
  expect(events.find(({ type }) => type === 'audience.completed')).toMatchObject({
    schema_version: 1,
    id: expect.stringMatching(/^evt_/),
    company_id: 1,
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    data,
  });
});
