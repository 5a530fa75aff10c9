/** POST /api/webhooks receives the events of jobs that have ended. */
import { createWebhookReceiver, memoryDedupe } from 'audience-activation/webhooks';
import { client } from '../../../lib/audience.ts';

const receiver = createWebhookReceiver({
  secrets: process.env.WEBHOOK_SECRET,
  // For one process only. Several processes need a shared store, such as a table of your database.
  dedupe: memoryDedupe(),
  on: {
    'audience.completed': ({ data }) => console.log(`Event: audience ${data.id} holds ${data.results_count} devices.`),
    'audience.failed': ({ data }) => console.log(`Event: audience ${data.id} ended at ${data.status.name}.`),
  },
});
receiver.attach(client.waits);

export const POST = (request: Request): Promise<Response> => receiver.handle(request);
