import { html } from 'hono/html';
import { EVENT_TYPES } from '../../admin/webhook-admin.ts';
import type { Service } from '../../service.ts';
import type { Endpoint } from '../../state.ts';
import { isDisabled } from '../../webhook-deliveries.ts';
import type { ConsoleContext } from '../console-context.ts';
import { type DeliveryGroup, inactiveText, receiversOf } from '../delivery-groups.ts';
import { actionForm, checkbox, formDialog, input, opener } from '../forms.ts';
import { badge, type Content, emptyState, foreign, type Html, menu, note, timeElement } from '../html.ts';
import { addressOf, noMatch, table } from '../lists.ts';
import { redactUrl } from '../redact-request.ts';
import { shownCompanies } from '../shown-accounts.ts';
import { counted } from '../words.ts';

const GETS = 'Your receiver gets a signed POST when the job of an audience, an activation or a cohort ends.';

/** Returns the webhook endpoints, with their problems and actions. */
export function endpointTable(console: ConsoleContext, query: URLSearchParams): Html {
  const { state, clock } = console.service;
  const endpoints = shownCompanies(console, query).flatMap((company) => company.endpoints);
  const total = [...state.companies.values()].flatMap((company) => company.endpoints).length;
  const none =
    total === 0 ? emptyState('No webhook endpoints', GETS) : noMatch('/deliveries', 'webhook endpoints', total);
  const rows = table('Webhook endpoints', endpoints, none, [
    ['Endpoint', '', (one) => nameCell(one, query), 'main'],
    ['Events', 'w4', ({ events }) => eventsText(events)],
    ['Details', 'w5', (endpoint) => detailsOf(endpoint, clock.now()), 'full soft wrap'],
    ['State', 'w3', stateBadge, 'state'],
    ['Actions', 'w2', actionsOf, 'right'],
  ]);
  return html`${endpoints.filter(isDisabled).map((one) => disabledNote(one, query))}${rows}`;
}

const deliveriesTo = ({ id }: Endpoint, query: URLSearchParams, state = ''): string =>
  addressOf('/deliveries', query, { q: `endpoint:${id}`, state, from: '', event: '', to: '' });

const nameCell = (one: Endpoint, query: URLSearchParams): Html =>
  html`<a class="name" href="${deliveriesTo(one, query)}">${foreign(one.name)}</a> <code class="soft">${foreign(redactUrl(one.url))}</code>`;

const eventsText = (events: readonly string[]): Content =>
  events.length === EVENT_TYPES.length ? 'all' : foreign(events.join(', '), 'none');

function detailsOf(endpoint: Endpoint, now: number): Content {
  const { id, creator, previous, consecutiveFailures } = endpoint;
  const until = previous && previous.until > now ? timeElement(previous.until, now) : '';
  const signatures = until && html`, deliveries signed with both secrets until ${until}`;
  const isFailing = consecutiveFailures > 0 && !isDisabled(endpoint);
  const size = counted(consecutiveFailures, 'delivery or redelivery', 'deliveries or redeliveries');
  const failures = `, the last ${size} gave up (the service switches the endpoint off after 20)`;
  return html`endpoint ${id}, ${foreign(creator.company.name)}${isFailing ? failures : ''}${signatures}`;
}

/** Returns the state of an endpoint: active, paused, or switched off by the service. */
const stateBadge = (one: Endpoint): Html =>
  one.is_active ? badge('ok', 'Active') : isDisabled(one) ? badge('bad', 'Switched off') : badge('', 'Paused');

function disabledNote(one: Endpoint, query: URLSearchParams): Html {
  return note('bad', html`<bdi>${one.name}</bdi> is switched off`, {
    details: [
      '20 deliveries or redeliveries in a row failed all six attempts. The endpoint receives no events until you resume it.',
    ],
    actions: [resume(one), html`<a href="${deliveriesTo(one, query, 'failed')}">Show the deliveries that gave up</a>`],
  });
}

const resume = ({ id, name }: Endpoint, style = ''): Html =>
  actionForm('POST /api/webhooks/resume', 'Resume', { values: { id }, label: `Resume ${name}`, style });

/**
 * Returns the button that sends an event again, after a button that resumes its endpoint if the endpoint is not active.
 */
export function redeliver(service: Service, { id, endpoint }: Event, style = ''): readonly (Html | '')[] {
  const names = receiversOf(service, id);
  const form = { values: { event: id }, style };
  return [
    endpoint.is_active ? '' : resume(endpoint, style),
    names === ''
      ? html`<button class="${style}" disabled>Redeliver</button>`
      : actionForm('POST /api/webhooks/redeliver', html`Redeliver to <bdi>${names}</bdi>`, form),
  ];
}

export const offText = ({ endpoint }: Event): Content =>
  inactiveText(endpoint) && html` ${foreign(endpoint.name)} ${inactiveText(endpoint)}: a redelivery does not reach it.`;

type Event = DeliveryGroup['event'];

const ROTATE = 'The new secret is shown once. The previous one also signs for 24 hours.';
const DELETE = 'This cancels the pending attempts. The list still shows the attempts so far.';

function actionsOf({ id, name, is_active, events }: Endpoint): Html {
  const action = (verb: string, submit: string, style = '', consequence = ''): Html => {
    const label = `${submit.replace('…', '')} ${name}`;
    const confirm = consequence && `${label}? ${consequence}`;
    return actionForm(`POST /api/webhooks/${verb}`, submit, { values: { id }, label, style, confirm });
  };
  // Only an active endpoint can be tested.
  const state = is_active ? [action('test', 'Send test'), action('pause', 'Pause')] : [action('resume', 'Resume')];
  return menu(`endpoint-${id}`, `Actions of ${name}`, [
    ...state,
    opener('edit', 'Edit…', { label: `Edit ${name}`, about: name, values: { id, name, events } }),
    action('rotate', 'Rotate secret…', '', ROTATE),
    action('delete', 'Delete…', 'danger', DELETE),
  ]);
}

/** Returns the form that changes an endpoint. The form does not show the URL, which may contain credentials. */
export const editDialog = (): Html =>
  formDialog('edit', html`Edit <bdi data-name>the endpoint</bdi>`, 'POST /api/webhooks/update', 'Save', {
    fields: [
      html`<input type="hidden" name="id" data-type="number">`,
      input('Name', 'name'),
      input('URL', 'url', { type: 'url' }, 'Empty: unchanged'),
      eventFields('Events (none: unchanged)'),
    ],
  });

export const createDialog = (account: Html | ''): Html =>
  formDialog('create', 'Create a webhook endpoint', 'POST /api/webhooks', 'Create the endpoint', {
    lead: 'The endpoint receives the events of all accounts of its organization. Its secret is shown once.',
    fields: [
      account,
      input('URL', 'url', { type: 'url', required: true, placeholder: 'http://127.0.0.1:3000/webhooks' }),
      input('Name', 'name', { placeholder: 'Webhook' }),
      eventFields('Events (none: all)'),
    ],
  });

const eventFields = (legend: string): Html =>
  html`<fieldset><legend>${legend}</legend>${EVENT_TYPES.map((type) =>
    checkbox(type, 'events', type, { 'data-list': true }),
  )}</fieldset>`;
