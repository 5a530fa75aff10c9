import { html } from 'hono/html';
import { EVENT_TYPES } from '../../admin/webhook-admin.ts';
import type { Endpoint } from '../../state.ts';
import type { ConsoleContext } from '../console-context.ts';
import { type DeliveryGroup, groupDeliveries, isDelivered } from '../delivery-groups.ts';
import { badge, emptyState, foreign, type Html, head, linkButton, live, timeElement } from '../html.ts';
import type { Page } from '../layout.ts';
import {
  addressOf,
  cell,
  filterForm,
  hasWords,
  noMatch,
  pageOf,
  pager,
  row,
  type Segment,
  segments,
  table,
  twoLines,
  withDays,
  wordsOf,
} from '../lists.ts';
import { deliveryPanel, redeliver, responseBadge } from './delivery-panel.ts';
import { endpointTable } from './endpoint-table.ts';
import { liveButtons } from './requests-page.ts';

/** The deliveries of a page, and how they are changed. */
interface DeliveryList {
  readonly path: string;
  readonly query: URLSearchParams;
  /** Prefix of the endpoints that do the actions. */
  readonly api: string;
  readonly endpoints: readonly Endpoint[];
  readonly groups: readonly DeliveryGroup[];
  readonly now: number;
}

/** All deliveries of the sandbox. */
export function deliveriesPage({ service }: ConsoleContext, query: URLSearchParams): Page {
  const endpoints = [...service.state.companies.values()].flatMap((company) => company.endpoints);
  const now = service.clock.now();
  const groups = groupDeliveries(service.webhooks.attempts, now);
  const list = { path: '/deliveries', query, api: '/api', endpoints, groups, now };
  return {
    title: 'Deliveries',
    content: [
      head('Deliveries', live('status', stateSegments(list)), liveButtons()),
      deliveryList(list),
      html`<h2>Endpoints</h2>`,
      live('endpoints', endpointTable(endpoints, '/api', now)),
    ],
  };
}

/** Returns how many deliveries wait, and how many have failed for good. */
export function stateSegments({ path, query, groups }: DeliveryList): Html {
  const numberOf = (state: string): number => groups.filter((group) => group.state === state).length;
  const choices: readonly Segment[] = [
    ['', 'All', groups.length],
    ['waiting', 'Waiting', numberOf('waiting')],
    ['exhausted', 'Exhausted', numberOf('exhausted')],
  ];
  return segments('State', path, query, 'state', choices);
}

/** Returns the deliveries by event and endpoint, and the details of one of them. */
export function deliveryList(list: DeliveryList): Html {
  const { path, query, endpoints, groups, now } = list;
  const words = wordsOf(query);
  const [state, type, endpointId] = ['state', 'type', 'endpoint'].map((name) => query.get(name) ?? '');
  const matching = groups.filter(
    (group) =>
      (!state || group.state === state) &&
      (!type || group.event.type === type) &&
      (!endpointId || String(group.event.endpoint.id) === endpointId) &&
      (words.length === 0 || hasWords(words, textOf(group))),
  );
  const page = pageOf(
    matching,
    query,
    ({ event }, cursor) => event.order < Number(cursor),
    ({ event }) => String(event.order),
  );
  const chosen = groups.find(
    ({ event }) => query.get('event') === event.id && query.get('to') === String(event.endpoint.id),
  );
  const types = [...EVENT_TYPES, 'webhook.test'].map((name) => [name, name] as const);
  return html`${filterForm(path, query, {
    label: 'Filter of deliveries',
    placeholder: 'Event id, type, endpoint, text of the body or of the response',
    kept: ['state'],
    selections: [
      ['Event type', 'type', [['', 'Any event'], ...types]],
      ...(endpoints.length > 1
        ? [
            [
              'Endpoint',
              'endpoint',
              [['', 'Any endpoint'], ...endpoints.map(({ id, name }) => [String(id), name.slice(0, 30)] as const)],
            ] as const,
          ]
        : []),
    ],
  })}
<div class="cols ${chosen ? 'panel' : ''}">${live(
    'deliveries',
    [
      table(
        'Deliveries, the latest first',
        [
          ['Time', chosen ? 'w5' : 'w6'],
          ['Event and endpoint'],
          ['Attempts', chosen ? 'w8' : 'w9'],
          ['Response', 'w8'],
          ...(chosen ? [] : [['Actions', 'w7 lo'] as const]),
        ],
        withDays(
          page.rows,
          ({ latest }) => latest.delivery.at,
          now,
          (group) => rowOf(group, list, chosen),
          chosen ? 4 : 5,
        ),
        groups.length === 0 ? noDeliveries(endpoints) : noMatch(path, 'deliveries', groups.length),
      ),
      pager(path, query, page),
    ],
    matching.length,
  )}${chosen ? live('detail', deliveryPanel(chosen, list.api, now)) : ''}</div>`;
}

const textOf = ({ event, attempts }: DeliveryGroup): string =>
  [
    event.id,
    event.type,
    event.endpoint.name,
    event.endpoint.url,
    event.body,
    ...attempts.map(({ response }) => response),
  ].join(' ');

const noDeliveries = (endpoints: readonly Endpoint[]): Html =>
  emptyState(
    'No deliveries yet',
    'An event is delivered when a job ends, to each endpoint that subscribes to it.',
    endpoints.length === 0
      ? html`<p class="acts">${linkButton('/account/webhooks', 'Create a webhook endpoint')}</p>`
      : html`<p class="acts">${linkButton('/jobs', 'End a job')}</p>`,
  );

function rowOf(group: DeliveryGroup, { path, query, api, now }: DeliveryList, chosen: DeliveryGroup | undefined): Html {
  const isChosen = group === chosen;
  const { event, latest, state, retryAt } = group;
  const { delivery } = latest;
  const next =
    retryAt !== undefined
      ? html`next ${timeElement(retryAt, now)}`
      : state === 'exhausted' || state === 'stopped'
        ? html`<span class="bad">${state === 'exhausted' ? 'exhausted' : 'not attempted again'}</span>`
        : '';
  const manual = delivery.manual ? badge('', 'manual') : '';
  const address = addressOf(path, query, { event: event.id, to: String(event.endpoint.id) });
  return row(
    [
      cell(timeElement(delivery.at, delivery.at)),
      twoLines(
        html`<a class="row" href="${address}#detail"${isChosen ? html` aria-current="true"` : ''}><b>${event.type}</b></a>${manual}`,
        html`to ${foreign(event.endpoint.name)}, <code>${event.id}</code>`,
        'main',
      ),
      twoLines(dots(group), next),
      cell(responseBadge(latest), 'side2'),
      ...(chosen ? [] : [cell(redeliver(event.id, api, 'small'), 'acts lo')]),
    ],
    isChosen ? 'on' : '',
  );
}

/** Returns the attempts of the latest run as dots, of six. */
function dots({ attempts, latest }: DeliveryGroup): Html {
  const run = attempts
    .filter(({ delivery }) => delivery.manual === latest.delivery.manual)
    .slice(-latest.delivery.attempt);
  const { attempt, manual } = latest.delivery;
  const open = isDelivered(latest) ? 0 : 6 - attempt;
  const label = `${manual ? 'Manual, attempt' : 'Attempt'} ${attempt} of 6: ${isDelivered(latest) ? 'delivered' : 'failed'}`;
  const marks = [
    run.map((one) => html`<i class="${isDelivered(one) ? 'good' : 'bad'}"></i>`),
    Array.from({ length: open }, () => html`<i></i>`),
  ];
  return html`<span class="dots" role="img" aria-label="${label}">${marks}</span> <span class="num soft">${attempt} of 6</span>`;
}
