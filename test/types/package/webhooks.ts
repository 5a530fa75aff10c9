import { AudienceClient } from 'audience-activation';
import { toNodeListener } from 'audience-activation/node';
import { createWebhookReceiver, isKnownEvent, verifyWebhook, type WebhookEvent } from 'audience-activation/webhooks';

const client = new AudienceClient();
const receiver = createWebhookReceiver({
  secrets: ['whsec_new', 'whsec_old'],
  on: {
    'audience.completed': async ({ data }) => data.results_count.toFixed(),
    'activation.failed': ({ data }) => data.datastreams.length,
    'cohort.completed': ({ data: { total_eids } }) => total_eids.toFixed(),
    // @ts-expect-error no such type of event
    'audience.complete': () => undefined,
  },
  otherwise: (event) => event.type.toUpperCase(),
});
receiver.attach(client.waits);
toNodeListener(receiver);

const event: WebhookEvent = await verifyWebhook('{}', new Headers(), 'whsec_x', { tolerance: 10 });
if (isKnownEvent(event)) {
  switch (event.type) {
    case 'audience.failed':
      event.data.status.id.toFixed();
      // @ts-expect-error that of a cohort
      event.data.total_eids.toFixed();
      break;
    case 'cohort.failed':
      event.data.total_eids.toFixed();
      break;
  }
}
// @ts-expect-error not known yet
event.data.status;

// @ts-expect-error there is no synchronous form
const { id } = verifyWebhook('{}', '', 'whsec_x');
console.log(id);

const same: boolean = client.waits.notify(event);
const audience = await client.waits.wait({ kind: 'audience', id: 1 });
const cohort = await client.waits.wait({ kind: 'cohort', id: 1 }, { onUpdate: ({ total_eids }) => total_eids });
console.log(same, audience.dataset, cohort.total_eids);
// @ts-expect-error no kind of job
await client.waits.wait({ kind: 'project', id: 1 });
