import { html } from 'hono/html';
import { EVENT_TYPES } from '../../admin/webhook-admin.ts';
import type { AccountRecord, Endpoint } from '../../state.ts';
import { isDisabled } from '../../webhook-deliveries.ts';
import type { ConsoleContext } from '../console-context.ts';
import { type DeliveryGroup, groupDeliveries } from '../delivery-groups.ts';
import { checkbox, formDialog, input, opener } from '../forms.ts';
import { codeBlock } from '../highlight.ts';
import { badge, facts, foreign, type Html, head, live, note, timeElement } from '../html.ts';
import type { Page } from '../layout.ts';
import { redactUrl } from '../redact-request.ts';
import { withoutOverrides } from '../words.ts';
import { deliveryList, stateSegments } from './deliveries-page.ts';
import { endpointActions, endpointBadge, endpointTable, eventsText } from './endpoint-table.ts';

const API = '/account/api';
const PATH = '/account/webhooks';

/** The webhook endpoints of the account's organization. */
export function webhooksPage({ service }: ConsoleContext, { company, notifications }: AccountRecord): Page {
  const { endpoints } = company;
  const create = opener('create', 'Create an endpoint…', { style: endpoints.length > 0 ? 'primary' : '' });
  const list = endpointTable(endpoints, API, service.clock.now(), (id) => `${PATH}/${id}`);
  const notes = notifications.toReversed().map((text) => note('warn', withoutOverrides(text)));
  return {
    title: 'Webhooks',
    content: [
      head('Webhooks', '', create),
      live('endpoints', list),
      live('notifications', notes.length === 0 ? '' : [html`<h2>Notifications</h2>`, notes]),
      formDialog('create', 'Create a webhook endpoint', `POST ${API}/webhooks`, 'Create the endpoint', {
        lead: 'Its secret is shown once.',
        fields: [
          input('URL', 'url', { type: 'url', required: true, placeholder: 'http://127.0.0.1:3000/webhooks' }),
          input('Name', 'name', { placeholder: 'Webhook' }),
          eventFields('Events (none: all)', []),
        ],
      }),
    ],
  };
}

/** One webhook endpoint: its state, its secret, a receiver for it, its deliveries. */
export function webhookPage(
  { service }: ConsoleContext,
  { company }: AccountRecord,
  id: number,
  query: URLSearchParams,
): Page | undefined {
  const endpoint = company.endpoints.find((candidate) => candidate.id === id);
  if (!endpoint) return undefined;
  const now = service.clock.now();
  const attempts = service.webhooks.attempts.filter(({ event }) => event.endpoint === endpoint);
  const list = { path: `${PATH}/${id}`, query, api: API, endpoints: [], groups: groupDeliveries(attempts, now), now };
  return {
    title: endpoint.name,
    content: [
      html`<p class="crumb"><span><a href="${PATH}">Webhooks</a> / endpoint ${id}</span></p>`,
      live('endpoint', [...summaryOf(endpoint, list.groups, now), editDialog(endpoint)]),
      html`<h2>Your receiver</h2>${codeBlock('receiver', 'TypeScript', RECEIVER)}`,
      html`<div class="head"><h2>Deliveries</h2>${live('status', stateSegments(list))}</div>`,
      deliveryList(list),
    ],
  };
}

function summaryOf(endpoint: Endpoint, groups: readonly DeliveryGroup[], now: number): readonly (Html | '')[] {
  const { name, url, events, previous, consecutiveFailures, created_at, creator } = endpoint;
  const isDouble = previous !== undefined && previous.until > now;
  const edit = opener('edit', 'Edit…', { style: 'small' });
  return [
    head(foreign(name), endpointBadge(endpoint), endpointActions(endpoint, API, 'small primary', [edit])),
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
      details: ['No event is delivered. Resume it when your receiver works, and redeliver what it has missed.'],
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
  formDialog('edit', 'Edit the endpoint', `POST ${API}/webhooks/update`, 'Save', {
    values: { id },
    fields: [
      input('Name', 'name', { value: name }),
      input('URL', 'url', { type: 'url', placeholder: redactUrl(url) }, 'Empty: unchanged'),
      eventFields('Events', events),
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
