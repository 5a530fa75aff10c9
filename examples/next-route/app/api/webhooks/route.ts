/** POST /api/webhooks: the service tells of ends here. */
import { createWebhookReceiver, memoryDedupe } from 'audience-activation/webhooks';
import { client } from '../../../lib/audience.ts';

const receiver = createWebhookReceiver({
  secrets: process.env.WEBHOOK_SECRET ?? '',
  // Of this process: several need a store that they share, such as a table of your database.
  dedupe: memoryDedupe(),
  on: {
    'audience.completed': ({ data }) => console.log(`Event: audience ${data.id} holds ${data.results_count} devices.`),
    'audience.failed': ({ data }) => console.log(`Event: audience ${data.id} ended at ${data.status.name}.`),
  },
});
receiver.attach(client.waits);

export const POST = (request: Request): Promise<Response> => receiver.handle(request);
