import { html } from 'hono/html';
import { EVENT_TYPES } from '../../admin/webhook-admin.ts';
import type { Endpoint } from '../../state.ts';
import { isDisabled } from '../../webhook-deliveries.ts';
import type { ConsoleContext } from '../console-context.ts';
import { type DeliveryGroup, groupDeliveries } from '../delivery-groups.ts';
import { checkbox, formDialog, input, opener } from '../forms.ts';
import { codeBlock } from '../highlight.ts';
import { badge, facts, foreign, type Html, head, linkButton, live, note, timeElement } from '../html.ts';
import type { Page } from '../layout.ts';
import { redactUrl } from '../redact-request.ts';
import { endpointActions, endpointBadge, eventsText } from './endpoint-table.ts';

/** One webhook endpoint: its state, its secret, and a receiver for it. */
export function endpointPage({ service }: ConsoleContext, id: number): Page | undefined {
  const endpoints = [...service.state.companies.values()].flatMap((company) => company.endpoints);
  const endpoint = endpoints.find((candidate) => candidate.id === id);
  if (!endpoint) return undefined;
  const now = service.clock.now();
  const attempts = service.webhooks.attempts.filter(({ event }) => event.endpoint === endpoint);
  return {
    title: endpoint.name,
    content: [
      html`<p class="crumb"><span><a href="/deliveries">Deliveries</a> / webhook endpoint ${id}</span></p>`,
      live('endpoint', [...summaryOf(endpoint, groupDeliveries(attempts, now), now), editDialog(endpoint)]),
      html`<h2>Your receiver</h2>${codeBlock('receiver', 'TypeScript', RECEIVER)}`,
    ],
  };
}

function summaryOf(endpoint: Endpoint, groups: readonly DeliveryGroup[], now: number): readonly (Html | '')[] {
  const { name, url, events, previous, consecutiveFailures, created_at, creator } = endpoint;
  const isDouble = previous !== undefined && previous.until > now;
  const edit = opener('edit', 'Edit…', { style: 'small' });
  return [
    head(
      foreign(name),
      endpointBadge(endpoint),
      endpointActions(endpoint, 'small primary', [
        edit,
        linkButton(`/deliveries?endpoint=${endpoint.id}`, 'Its deliveries', 'small'),
      ]),
    ),
    problemOf(endpoint, groups, now),
    facts([
      ['URL', html`<code>${foreign(redactUrl(url))}</code>`],
      ['Events', eventsText(events)],
      ['Exhausted in a row', `${consecutiveFailures} of 20`],
      ['Signatures', isDouble ? html`${badge('busy', 'Two')} until ${timeElement(previous.until, now)}` : 'one'],
      ['Created', html`${created_at} by ${foreign(creator.email)}`],
    ]),
  ];
}

function problemOf(endpoint: Endpoint, groups: readonly DeliveryGroup[], now: number): Html | '' {
  if (isDisabled(endpoint))
    return note('bad', 'Disabled: 20 deliveries in a row have used up their six attempts.', {
      details: [
        'The service delivers no events to it. When your receiver works again, resume the endpoint, and redeliver the events that it missed.',
      ],
    });
  const failed = groups.find(({ state }) => state === 'waiting');
  if (failed?.retryAt === undefined) return '';
  const { event, latest } = failed;
  const next = html`The next attempt is at ${timeElement(failed.retryAt, now)}.`;
  return note('warn', html`${event.type} has failed: ${latest.delivery.status ?? latest.response}. ${next}`, {
    details: ['After 20 deliveries in a row without success in six attempts, the service disables the endpoint.'],
  });
}

/** The form that changes an endpoint. Its URL may contain credentials, and is not shown. */
const editDialog = ({ id, name, url, events }: Endpoint): Html =>
  formDialog('edit', 'Edit the endpoint', 'POST /api/webhooks/update', 'Save', {
    values: { id },
    fields: [
      input('Name', 'name', { value: name }),
      input('URL', 'url', { type: 'url', placeholder: redactUrl(url) }, 'Empty: unchanged'),
      eventFields('Events', events),
    ],
  });

/** The form that registers an endpoint; `account` is the field that names its account. */
export const createDialog = (account: Html | ''): Html =>
  formDialog('create', 'Create a webhook endpoint', 'POST /api/webhooks', 'Create the endpoint', {
    lead: 'Its secret is shown once.',
    fields: [
      account,
      input('URL', 'url', { type: 'url', required: true, placeholder: 'http://127.0.0.1:3000/webhooks' }),
      input('Name', 'name', { placeholder: 'Webhook' }),
      eventFields('Events (none: all)', []),
    ],
  });

const eventFields = (legend: string, chosen: readonly string[]): Html =>
  html`<fieldset><legend>${legend}</legend><div class="checks">${EVENT_TYPES.map((type) =>
    checkbox(type, 'events', type, { 'data-list': true, checked: chosen.includes(type) }),
  )}</div></fieldset>`;

// Without `node:`: who looks for built-ins in bundles for browsers would find it.
const RECEIVER = `import { createServer } from 'http';
import { toNodeListener } from 'audience-activation/node';
import { createWebhookReceiver } from 'audience-activation/webhooks';

const receiver = createWebhookReceiver({
  secrets: process.env.WEBHOOK_SECRET, // two while you rotate it
  on: { 'audience.completed': ({ data }) => console.log(data.name) },
});
createServer(toNodeListener(receiver)).listen(3000);`;
