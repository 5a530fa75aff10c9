import { html } from 'hono/html';
import type { Service } from '../../service.ts';
import type { ConsoleContext } from '../console-context.ts';
import {
  type DeliveryGroup,
  deliveryLane,
  deliverySummary,
  groupDeliveries,
  isDelivered,
  keptAttempts,
  MAX_ATTEMPTS,
  responseBadge,
  STATES,
} from '../delivery-groups.ts';
import { advanceBy, opener } from '../forms.ts';
import { bytesIn, codeBlock, prettyJson } from '../highlight.ts';
import { badge, emptyState, foreign, type Html, head, hint, linkButton, live, timeElement, timeline } from '../html.ts';
import type { Page } from '../layout.ts';
import { addressOf, listView, type Segment, search, segments } from '../lists.ts';
import { findResource, resourceLink, subjectIdOf } from '../objects.ts';
import { redactBody } from '../redact-request.ts';
import { accountField, chosenAccount, shownAccounts } from '../shown-accounts.ts';
import { chart, rangeOf } from '../tracks.ts';
import { capital, count, relativeText } from '../words.ts';
import { createDialog, editDialog, endpointTable, offText, redeliver } from './endpoint-table.ts';

const PATH = '/deliveries';

export function deliveriesPage(console: ConsoleContext, query: URLSearchParams): Page {
  const hits = search(groupDeliveries(console.service, chosenAccount(console, query)), query, textOf);
  const tabs = TABS.map(([value, text]): Segment => [value, text, hits.filter((hit) => isIn(hit, value)).length]);
  const segs = live('status', segments('State', PATH, query, 'state', tabs));
  return {
    title: 'Deliveries',
    content: [
      head('Deliveries', '', opener('create', 'Create an endpoint…', { style: 'primary' })),
      live('endpoints', endpointTable(console, query)),
      html`<div class="head"><h2>Events to endpoints</h2>${segs}</div>`,
      live('kept', hint(keptAttempts(console.service))),
      deliveryList(console.service, query, hits),
      live('forms', [createDialog(accountField(shownAccounts(console, query))), editDialog()]),
    ],
  };
}

const TABS = [
  ['', 'All'],
  ['waiting', STATES.waiting],
  ['failed', STATES.failed],
] as const;

const isIn = ({ state }: DeliveryGroup, tab: string | null): boolean => !tab || state === tab;

function deliveryList(service: Service, query: URLSearchParams, hits: readonly DeliveryGroup[]): readonly Html[] {
  const now = service.clock.now();
  const isOpen = ({ event }: DeliveryGroup): boolean =>
    query.get('event') === event.id && query.get('to') === String(event.endpoint.id);
  // Keep the open delivery in the list, even if a redelivery has changed its state.
  const isListed = (group: DeliveryGroup): boolean => isIn(group, query.get('state')) || isOpen(group);
  const eventCell = ({ event }: DeliveryGroup): Html => {
    const address = addressOf(PATH, query, { event: event.id, to: String(event.endpoint.id) });
    const subject = findResource(service, subjectIdOf(event) ?? 0);
    // The id distinguishes resources with the same name, such as the default name.
    const of =
      subject &&
      html`<span class="soft">of</span> ${resourceLink(subject)} <span class="soft">${subject.name && subject.id}</span>`;
    return html`<a href="${address}#detail">${event.type}</a> ${of ?? ''}`;
  };
  return listView({
    path: PATH,
    query,
    id: 'deliveries',
    placeholder: 'Event, endpoint, body or response',
    matching: hits.filter(isListed),
    total: groupDeliveries(service).length,
    keyOf: ({ event }) => event.order,
    caption: 'Deliveries by their first attempt, newest first',
    columns: [
      ['First at', 'w4', ({ at }) => timeElement(at, now)],
      ['Event', '', eventCell, 'main'],
      ['To', 'w3', ({ event }) => foreign(event.endpoint.name)],
      ['Attempts', 'w4', attemptsOf],
      ['State', 'w4', (group) => stateBadge(group, now), 'state'],
    ],
    more: (group) => (isOpen(group) ? [query.get('state') ? STAYS : '', detail(service, group)] : undefined),
    empty: emptyState(
      'No deliveries yet',
      'When the job of an audience, an activation or a cohort ends, its event is delivered to each active endpoint that subscribes to it.',
      service.jobs.saved.running.size === 0 ? '' : linkButton('/jobs', 'End a job'),
    ),
  });
}

const STAYS = hint('While this row is open, it stays here even if its state changes. The tab does not count it then.');

const textOf = ({ event: { id, type, endpoint, body }, attempts }: DeliveryGroup): string => {
  const responses = attempts.map(({ response }) => response);
  return [id, type, endpoint.name, `endpoint:${endpoint.id}`, endpoint.url, body, ...responses].join(' ');
};

const attemptsOf = ({ attempts, latest }: DeliveryGroup): Html =>
  html`${count(attempts.length)} ${responseBadge(latest)}`;

function stateBadge({ state, retryAt }: DeliveryGroup, now: number): Html {
  if (retryAt !== undefined) return badge('warn', html`next ${timeElement(retryAt, now)}`);
  return badge(state === 'delivered' ? 'ok' : 'bad', STATES[state].toLowerCase());
}

function detail(service: Service, group: DeliveryGroup): Html {
  const now = service.clock.now();
  const { event, attempts, latest, retryAt } = group;
  const { id, type, endpoint, body } = event;
  const headers = `content-type: application/json\nservice-signature: ${latest.signature}`;
  const left = html`${relativeText((retryAt ?? now) - now)}; ${MAX_ATTEMPTS - latest.delivery.attempt} are left`;
  const next = retryAt === undefined ? '' : html` Next attempt at ${timeElement(retryAt, now)}, ${left}.`;
  const advance = retryAt === undefined ? '' : advanceBy(retryAt - now, 'Advance to the attempt');
  const signedAt = Number(/^t=(\d+)/.exec(latest.signature)?.[1]) * 1_000;
  const ofMachine = html` The signature has the time ${timeElement(signedAt || 0, now)} of the machine's clock (<code>signatureClock</code>).`;
  const signed = Math.abs(signedAt - latest.delivery.at) > 60_000 ? ofMachine : '';
  const happenings = attempts.map((attempt, index) => {
    const { at, manual, attempt: number } = attempt.delivery;
    const start = manual && number === 1 ? badge('', 'manual') : '';
    const response = attempt.response === '' ? '' : html`<code>${foreign(redactBody(attempt.response))}</code>`;
    const line = html`<b>Attempt ${index + 1}</b> ${responseBadge(attempt)} ${start} ${response}`;
    return { at, content: line };
  });
  const lanes = [deliveryLane(group)];
  return html`<div class="cols half"><div><h2 id="detail" tabindex="-1">${type} to ${foreign(endpoint.name)}</h2>
<p><b class="${isDelivered(latest) ? 'good' : 'bad'}">${capital(deliverySummary(group))}.</b>${next}${offText(event)}</p><div class="acts">${redeliver(service, event)}${advance}</div>${chart(lanes, rangeOf(lanes, now))}${timeline(happenings, now)}
<p class="hint">Event <code>${id}</code>. If a receiver refuses the signature, check it with <code>aud webhooks verify</code>.${signed}</p></div>
<div>${codeBlock('delivery-headers', 'Headers of the latest attempt', headers)}
${codeBlock('delivery-body', `Body, ${count(bytesIn(body))} bytes, the same in each attempt`, prettyJson(redactBody(body)))}</div></div>`;
}
