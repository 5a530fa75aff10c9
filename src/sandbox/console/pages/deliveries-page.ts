import { html } from 'hono/html';
import type { Service } from '../../service.ts';
import type { ConsoleContext } from '../console-context.ts';
import {
  type DeliveryGroup,
  deliveryLane,
  deliverySummary,
  type EndedAttempt,
  groupDeliveries,
  hasFailed,
  isDelivered,
  MAX_ATTEMPTS,
  receiversOf,
  receives,
  STATES,
} from '../delivery-groups.ts';
import { actionForm, advanceBy, opener } from '../forms.ts';
import { codeBlock, prettyJson } from '../highlight.ts';
import {
  badge,
  type Content,
  emptyState,
  foreign,
  type Html,
  head,
  httpBadge,
  linkButton,
  live,
  timeElement,
  timeline,
} from '../html.ts';
import type { Page } from '../layout.ts';
import { addressOf, listView, type Segment, search, segments } from '../lists.ts';
import { findResource, resourceLink, subjectIdOf } from '../objects.ts';
import { redactBody } from '../redact-request.ts';
import { accountField, chosenAccount, shownCompanies } from '../shown-accounts.ts';
import { chart, rangeOf } from '../tracks.ts';
import { capital, count, relativeText } from '../words.ts';
import { createDialog, editDialog, endpointTable, resume } from './endpoint-table.ts';

const PATH = '/deliveries';

export function deliveriesPage(console: ConsoleContext, query: URLSearchParams): Page {
  const { service } = console;
  const companies = shownCompanies(console, query);
  const endpoints = companies.flatMap((company) => company.endpoints);
  const everyEndpoint = [...service.state.companies.values()].flatMap((company) => company.endpoints);
  const now = service.clock.now();
  const groups = groupDeliveries(service, chosenAccount(console, query));
  const create = opener('create', 'Create an endpoint…', { style: endpoints.length > 0 ? '' : 'primary' });
  const hits = search(groups, query, textOf);
  const tabs = TABS.map(([value, text, isListed]): Segment => [value, text, hits.filter(isListed).length]);
  const segs = live('status', segments('State', PATH, query, 'state', tabs));
  return {
    title: 'Deliveries',
    content: [
      head('Deliveries', '', create),
      live('endpoints', endpointTable(endpoints, everyEndpoint.length, now, query)),
      html`<div class="head"><h2>Events</h2>${segs}</div>`,
      deliveryList(console, query, endpoints, hits, groupDeliveries(service).length),
      live('forms', [createDialog(accountField(console, query)), editDialog()]),
    ],
  };
}

const TABS = [
  ['', 'All', () => true],
  ['waiting', STATES.waiting, ({ state }: DeliveryGroup) => state === 'waiting'],
  ['failed', 'Failed', hasFailed],
] as const;

function deliveryList(
  { service }: ConsoleContext,
  query: URLSearchParams,
  endpoints: readonly Event['endpoint'][],
  hits: readonly DeliveryGroup[],
  total: number,
): readonly Html[] {
  const now = service.clock.now();
  const isOpen = ({ event }: DeliveryGroup): boolean =>
    query.get('event') === event.id && query.get('to') === String(event.endpoint.id);
  // What is open stays, also if a redelivery has changed its state.
  const [, , isInTab] = TABS.find(([value]) => value === query.get('state')) ?? TABS[0];
  const isListed = (group: DeliveryGroup): boolean => isInTab(group) || isOpen(group);
  const eventCell = ({ event }: DeliveryGroup): Content => {
    const address = addressOf(PATH, query, { event: event.id, to: String(event.endpoint.id) });
    const subject = findResource(service, subjectIdOf(event) ?? 0);
    return html`<a href="${address}#detail">${event.type}</a> ${subject ? html`<span class="soft">of</span> ${resourceLink(subject)}` : ''}`;
  };
  return listView({
    path: PATH,
    query,
    id: 'deliveries',
    placeholder: 'Event, endpoint, body or response',
    kept: ['state'],
    matching: hits.filter(isListed),
    isGrowing: true,
    total,
    keyOf: ({ event }) => event.order,
    caption: 'Deliveries, by their first attempt, the latest first',
    columns: [
      ['First at', 'w4', ({ at }) => timeElement(at, now)],
      ['Event', '', eventCell, 'main'],
      ['To', 'w3', ({ event }) => foreign(event.endpoint.name)],
      ['Attempts', 'w4', attemptsOf],
      ['State', 'w4', (group) => stateBadge(group, now), 'state'],
    ],
    more: (group) => (isOpen(group) ? detail(service, group) : undefined),
    empty: emptyState(
      'No deliveries yet',
      'When the job of an audience, an activation or a cohort ends, its event is delivered to each endpoint that subscribes to it.',
      endpoints.length === 0 || service.jobs.saved.running.size === 0 ? '' : linkButton('/jobs', 'End a job'),
    ),
  });
}

const textOf = ({ event: { id, type, endpoint, body }, attempts }: DeliveryGroup): string => {
  const responses = attempts.map(({ response }) => response);
  return [id, type, endpoint.name, `endpoint:${endpoint.id}`, endpoint.url, body, ...responses].join(' ');
};

const attemptsOf = ({ attempts, latest }: DeliveryGroup): Content =>
  html`${count(attempts.length)} ${responseBadge(latest)}`;

function stateBadge({ state, retryAt }: DeliveryGroup, now: number): Html {
  if (retryAt !== undefined) return badge('warn', html`next ${timeElement(retryAt, now)}`);
  return badge(state === 'delivered' ? 'ok' : 'bad', STATES[state].toLowerCase());
}

export function responseBadge({ delivery: { status }, failure = 'unreachable' }: EndedAttempt): Html {
  return status === undefined ? badge('bad', FAILURES[failure]) : httpBadge(status);
}

const FAILURES = { timeout: 'timeout', refused: 'refused', unreachable: 'no response' } as const;

function detail(service: Service, group: DeliveryGroup): Html {
  const now = service.clock.now();
  const { event, attempts, latest, retryAt } = group;
  const { id, type, endpoint, body } = event;
  const headers = `content-type: application/json\nservice-signature: ${latest.signature}`;
  const left = html`${relativeText((retryAt ?? now) - now)}; ${MAX_ATTEMPTS - latest.delivery.attempt} are left`;
  const next = retryAt === undefined ? '' : html` Next attempt at ${timeElement(retryAt, now)}, ${left}.`;
  const advance = retryAt === undefined ? '' : advanceBy(retryAt - now, 'Advance to it');
  const happenings = attempts.map((attempt, index) => {
    const { at, manual } = attempt.delivery;
    const response = attempt.response === '' ? '' : html`<code>${foreign(redactBody(attempt.response))}</code>`;
    const line = html`<b>Attempt ${index + 1}</b> ${responseBadge(attempt)} ${manual ? badge('', 'manual') : ''} ${response}`;
    return { at, content: line };
  });
  const lanes = [deliveryLane(group)];
  return html`<div class="cols half"><div><h2>${type} to ${foreign(endpoint.name)}</h2>
<p><b class="${isDelivered(latest) ? 'good' : 'bad'}">${capital(deliverySummary(group))}.</b>${next}${offText(endpoint)}</p><div class="acts">${redeliver(service, event)}${advance}</div>${chart(lanes, rangeOf(lanes, now))}${timeline(happenings, now)}
<p class="hint">Event <code>${id}</code>. If a receiver refuses the signature, check it with <code>aud webhooks verify</code>.</p></div>
<div>${codeBlock('delivery-headers', 'Headers of the latest attempt', headers)}
${codeBlock('delivery-body', `Body, ${count(body.length)} bytes, the same in each attempt`, prettyJson(redactBody(body)))}</div></div>`;
}

const offText = (endpoint: Event['endpoint']): Html | '' =>
  receives(endpoint) ? '' : html` ${foreign(endpoint.name)} is not active: a redelivery does not reach it.`;

type Event = DeliveryGroup['event'];

/** Returns the buttons that send an event again, and that first resume its endpoint if this is not active. */
export function redeliver(service: Service, { id, endpoint }: Event, style = ''): readonly (Html | '')[] {
  const names = receiversOf(service, id);
  return [
    endpoint.is_active ? '' : resume(endpoint, style),
    names === ''
      ? html`<button class="${style}" disabled>Redeliver</button>`
      : actionForm('POST /api/webhooks/redeliver', html`Redeliver to <bdi>${names}</bdi>`, {
          values: { event: id },
          style,
        }),
  ];
}
