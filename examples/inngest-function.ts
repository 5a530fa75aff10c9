/**
 * A function of Inngest that builds an audience: a step creates it, and the event of a webhook ends the wait. No process
 * waits meanwhile. Serve `buildAudience` with `serve` of Inngest, and `receiver` like any other webhook receiver.
 */
import { AudienceClient, JobError, WaitTimeoutError } from 'audience-activation';
import { createWebhookReceiver } from 'audience-activation/webhooks';
import { eventType, Inngest, NonRetriableError, staticSchema } from 'inngest';

const requested = eventType('audience/requested', { schema: staticSchema<{ orderId: string; name: string }>() });
const ended = eventType('audience/ended', { schema: staticSchema<{ audienceId: number }>() });

const inngest = new Inngest({ id: 'audiences' });
const client = new AudienceClient(); // reads AUDIENCE_BASE_URL and AUDIENCE_TOKEN

export const buildAudience = inngest.createFunction(
  { id: 'build-audience', triggers: [requested] },
  async ({ event, step }) => {
    const { orderId, name } = event.data;
    // If the step fails after the service has created the audience, the service repeats its response, for 24 hours.
    const options = { idempotencyKey: `audience-build-${orderId}` };
    const id = await step.run('create', async () => (await client.audiences.create({ name }, options)).id);
    for (;;) {
      // Inngest does not keep an event that arrives before the wait for it, so read the audience first.
      const devices = await step.run('read', () => devicesOf(id));
      if (devices !== null) return { id, devices };
      await step.waitForEvent('wait', { event: ended, if: `async.data.audienceId == ${id}`, timeout: '15m' });
    }
  },
);

/** Returns the number of devices of an audience, or `null` while it is being built. */
async function devicesOf(id: number): Promise<number | null> {
  try {
    return (await client.audiences.wait(id, { timeout: 5_000 })).results_count;
  } catch (error) {
    if (error instanceof WaitTimeoutError) return null;
    if (error instanceof JobError) throw new NonRetriableError(error.message, { cause: error });
    throw error;
  }
}

const forward = async ({ id, data }: { id: string; data: { id: number } }): Promise<void> => {
  await inngest.send(ended.create({ audienceId: data.id }, { id }));
};

export const receiver = createWebhookReceiver({
  secrets: process.env.WEBHOOK_SECRET,
  on: { 'audience.completed': forward, 'audience.failed': forward },
});
