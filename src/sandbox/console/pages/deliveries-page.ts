import { html } from 'hono/html';
import { EVENT_TYPES } from '../../admin/webhook-admin.ts';
import type { Endpoint } from '../../state.ts';
import type { DeliveryAttempt } from '../../webhook-deliveries.ts';
import type { ConsoleContext } from '../console-context.ts';
import { type DeliveryGroup, type EndedAttempt, groupDeliveries, isDelivered } from '../delivery-groups.ts';
import { actionForm, advanceBy, type Choices, opener } from '../forms.ts';
import { codeBlock, prettyJson } from '../highlight.ts';
import {
  attributesOf,
  badge,
  type Content,
  emptyState,
  facts,
  foreign,
  type Happening,
  type Html,
  head,
  httpBadge,
  linkButton,
  live,
  note,
  timeElement,
  timeline,
} from '../html.ts';
import type { Page } from '../layout.ts';
import { addressOf, type Column, listView, search, segments, twoLines } from '../lists.ts';
import { redactBody, redactUrl } from '../redact-request.ts';
import { accountField, chosenAccount, shownAccounts, shownCompanies } from '../shown-accounts.ts';
import { count, relativeText, withoutOverrides } from '../words.ts';
import { createDialog } from './endpoint-page.ts';
import { endpointTable } from './endpoint-table.ts';
import { liveButtons } from './requests-page.ts';

/** The deliveries of a page. */
interface DeliveryList {
  readonly query: URLSearchParams;
  readonly endpoints: readonly Endpoint[];
  readonly groups: readonly DeliveryGroup[];
  readonly now: number;
}

const PATH = '/deliveries';

/** The deliveries of the sandbox, and the webhook endpoints. */
export function deliveriesPage(console: ConsoleContext, query: URLSearchParams): Page {
  const { service } = console;
  const endpoints = shownCompanies(console, query).flatMap((company) => company.endpoints);
  const now = service.clock.now();
  const isShown = chosenAccount(console, query)
    ? ({ event }: DeliveryAttempt) => event.endpoint.creator.company === chosenAccount(console, query)?.company
    : () => true;
  const list = { query, endpoints, groups: groupDeliveries(service.webhooks.attempts.filter(isShown), now), now };
  const create = opener('create', 'Create an endpoint…', { style: endpoints.length > 0 ? 'small' : 'small primary' });
  const notes = shownAccounts(console, query).flatMap(({ notifications }) => notifications);
  return {
    title: 'Deliveries',
    content: [
      head('Deliveries', live('status', stateSegments(list)), liveButtons()),
      deliveryList(list),
      html`<div class="head"><h2>Endpoints</h2><div class="acts">${create}</div></div>`,
      live('endpoints', endpointTable(endpoints, now)),
      live(
        'notifications',
        notes.reverse().map((text) => note('warn', withoutOverrides(text))),
      ),
      live('forms', createDialog(accountField(console, query))),
    ],
  };
}

/** Returns how many deliveries wait, and how many have failed for good. */
function stateSegments({ query, groups }: DeliveryList): Html {
  const numberOf = (state: string): number => groups.filter((group) => group.state === state).length;
  return segments('State', PATH, query, 'state', [
    ['', 'All', groups.length],
    ['waiting', 'Waiting', numberOf('waiting')],
    ['exhausted', 'Exhausted', numberOf('exhausted')],
  ]);
}

/** Returns the deliveries by event and endpoint, and the details of one of them. */
function deliveryList(list: DeliveryList): Html {
  const { query, endpoints, groups, now } = list;
  const isChosen = ({ event }: DeliveryGroup): boolean =>
    query.get('event') === event.id && query.get('to') === String(event.endpoint.id);
  const chosen = groups.find(isChosen);
  const matching = search(groups.filter(hasFields(query)), query, textOf);
  const [filter, rows] = listView({
    path: PATH,
    query,
    id: 'deliveries',
    placeholder: 'Event id, type, endpoint, text of the body or of the response',
    kept: ['state'],
    selections: selectionsOf(endpoints),
    matching,
    live: matching.length,
    total: groups.length,
    keyOf: ({ event }) => event.order,
    caption: 'Deliveries, by their first attempt, the latest first',
    columns: columnsOf(list, chosen),
    days: [now, ({ at }) => at],
    isChosen: (group) => group === chosen,
    empty: noDeliveries(endpoints),
  });
  const panel = chosen ? live('detail', deliveryPanel(chosen, now)) : '';
  return html`${filter}<div class="cols ${chosen ? 'panel' : ''}">${rows}${panel}</div>`;
}

function hasFields(query: URLSearchParams): (group: DeliveryGroup) => boolean {
  const is = (name: string, value: string | number): boolean => [String(value), '', null].includes(query.get(name));
  return ({ state, event }) => is('state', state) && is('type', event.type) && is('endpoint', event.endpoint.id);
}

const textOf = ({ event: { id, type, endpoint, body }, attempts }: DeliveryGroup): string =>
  [id, type, endpoint.name, endpoint.url, body, ...attempts.map(({ response }) => response)].join(' ');

function selectionsOf(endpoints: readonly Endpoint[]): readonly (readonly [string, string, Choices])[] {
  const types = [...EVENT_TYPES, 'webhook.test'].map((name) => [name, name] as const);
  const names = endpoints.map(({ id, name }) => [String(id), name.slice(0, 30)] as const);
  const byType = ['Event type', 'type', [['', 'Any event'], ...types]] as const;
  return endpoints.length > 1 ? [byType, ['Endpoint', 'endpoint', [['', 'Any endpoint'], ...names]]] : [byType];
}

const noDeliveries = (endpoints: readonly Endpoint[]): Html =>
  emptyState(
    'No deliveries yet',
    'An event is delivered when a job ends, to each endpoint that subscribes to it.',
    endpoints.length === 0 ? opener('create', 'Create an endpoint…') : linkButton('/jobs', 'End a job'),
  );

function columnsOf(list: DeliveryList, chosen: DeliveryGroup | undefined): readonly Column<DeliveryGroup>[] {
  const { now } = list;
  const columns: readonly Column<DeliveryGroup>[] = [
    ['First at', chosen ? 'w5' : 'w6', ({ at }) => timeElement(at, at)],
    ['Event and endpoint', '', (group) => eventLines(group, list, group === chosen), 'two main'],
    ['Attempts', chosen ? 'w8' : 'w9', (group) => twoLines(dots(group), nextOf(group, now)), 'two'],
    ['Response', 'w8', ({ latest }) => responseBadge(latest), 'side2'],
  ];
  return chosen ? columns : [...columns, ['Actions', 'w7 lo', ({ event }) => redeliver(event.id, 'small'), 'acts']];
}

function eventLines({ event, latest }: DeliveryGroup, { query }: DeliveryList, isChosen: boolean): Html {
  const address = addressOf(PATH, query, { event: event.id, to: String(event.endpoint.id) });
  const link = attributesOf({ href: `${address}#detail`, 'aria-current': isChosen && 'true' });
  const manual = latest.delivery.manual ? badge('', 'manual') : '';
  return twoLines(
    html`<a class="row"${link}><b>${event.type}</b></a>${manual}`,
    html`to ${foreign(event.endpoint.name)}, <code>${event.id}</code>`,
  );
}

function nextOf({ state, retryAt }: DeliveryGroup, now: number): Content {
  if (retryAt !== undefined) return html`next ${timeElement(retryAt, now)}`;
  if (state === 'delivered') return '';
  return html`<span class="bad">${state === 'exhausted' ? 'exhausted' : 'not attempted again'}</span>`;
}

function dots({ attempts, latest }: DeliveryGroup): Html {
  const { attempt, manual } = latest.delivery;
  const run = attempts.filter(({ event }) => event.order === latest.event.order);
  const open = isDelivered(latest) ? 0 : 6 - attempt;
  const label = `${manual ? 'Manual, attempt' : 'Attempt'} ${attempt} of 6: ${isDelivered(latest) ? 'delivered' : 'failed'}`;
  const marks = [
    run.map((one) => html`<i class="${isDelivered(one) ? 'good' : 'bad'}"></i>`),
    Array.from({ length: open }, () => html`<i></i>`),
  ];
  return html`<span class="dots" role="img" aria-label="${label}">${marks}</span> <span class="num soft">${attempt} of 6</span>`;
}

/** Returns the form that delivers an event again. */
export const redeliver = (event: string, style: string): Html =>
  actionForm('POST /api/webhooks/redeliver', 'Redeliver', { values: { event }, label: `Redeliver ${event}`, style });

/** Returns the status of a receiver, or why there is none. */
export function responseBadge({ delivery: { status }, failure = 'unreachable' }: EndedAttempt): Html {
  return status === undefined ? badge('bad', FAILURES[failure]) : httpBadge(status);
}

const FAILURES = { timeout: 'timeout', refused: 'refused', unreachable: 'no response' } as const;

/** Returns one delivery: what follows, its attempts, and what was sent. */
function deliveryPanel(group: DeliveryGroup, now: number): Html {
  const { event, attempts, latest } = group;
  const { id, type, endpoint, body } = event;
  const headers = `content-type: application/json\nservice-signature: ${latest.signature}`;
  return html`<div class="card"><div class="head"><h2>${type}</h2><div class="acts">${redeliver(id, 'primary small')}</div></div>
<div class="acts">${stateOf(group)} ${nextAttempt(group, now)}</div>
${facts(
  [
    ['Event', html`<code>${id}</code>`],
    ['Endpoint', html`<a href="/endpoints/${endpoint.id}">${foreign(endpoint.name)}</a>`],
    ['URL', html`<code>${foreign(redactUrl(endpoint.url))}</code>`],
    ['About', subjectOf(event)],
  ],
  'list',
)}
<h3>Attempts</h3>${timeline(attempts.map((attempt) => happeningOf(attempt, now)))}
${codeBlock('delivery-headers', 'Request headers', headers)}
${codeBlock('delivery-body', `Body, ${count(body.length)} bytes`, prettyJson(redactBody(body)))}
<p class="soft">A receiver that refuses it? <code>aud webhooks verify</code> checks the signature.</p></div>`;
}

function stateOf({ attempts, state }: DeliveryGroup): Html {
  if (state === 'delivered') return html`<b class="good">Delivered.</b>`;
  const failures = attempts.filter((attempt) => !isDelivered(attempt)).length;
  return html`<b class="bad">Failed ${failures === 1 ? 'once' : `${failures} times`}.</b>`;
}

function nextAttempt({ retryAt }: DeliveryGroup, now: number): Content {
  if (retryAt === undefined) return '';
  return html`<span>Next attempt at ${timeElement(retryAt, now)}, ${relativeText(retryAt - now)}.</span> ${advanceBy(retryAt - now, 'Advance to it', 'small')}`;
}

/** Returns the id of the resource that an event is about. */
export function subjectIdOf({ body }: DeliveryGroup['event']): number | undefined {
  const { data }: { readonly data?: { readonly id?: unknown } } = Object(JSON.parse(body));
  return typeof data?.id === 'number' ? data.id : undefined;
}

function subjectOf(event: DeliveryGroup['event']): Content {
  const id = subjectIdOf(event);
  if (id === undefined) return '';
  const about = `${event.type.split('.')[0]} ${id}`;
  return html`<a href="/resources/${id}">${about}</a>`;
}

function happeningOf(attempt: EndedAttempt, now: number): Happening {
  const { at, attempt: number, manual } = attempt.delivery;
  const response = attempt.response === '' ? '' : html`<code>${redactBody(attempt.response)}</code>`;
  const line = html`<b>${number}</b> ${timeElement(at, now)} ${responseBadge(attempt)} ${manual ? badge('', 'manual') : ''}`;
  return { at, tone: isDelivered(attempt) ? 'good' : 'bad', content: html`<p>${line}</p>${response}` };
}
