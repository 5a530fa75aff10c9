import { html } from 'hono/html';
import type { LogEntry } from '../../state.ts';
import type { ConsoleContext } from '../console-context.ts';
import { badge, type Content, emptyState, type Html, head, hint, live, timeElement } from '../html.ts';
import type { Page } from '../layout.ts';
import { accountColumn, addressOf, type Column, listView, segments } from '../lists.ts';
import { findResource, resourceLink } from '../objects.ts';
import { redactText, targetOf } from '../redact-request.ts';
import { keyOwner, outcomeOf, reasonLine, statusBadge } from '../request-reason.ts';
import { findRequests, keptRequests, unsearchedText } from '../request-search.ts';
import { count } from '../words.ts';

const PATH = '/requests';

const GROUPS: readonly (readonly [value: string, text: string, has: (entry: LogEntry) => boolean])[] = [
  ['', 'All', () => true],
  ['refused', 'Refused', (entry) => outcomeOf(entry) === 'refused'],
  ['failed', 'Failed', (entry) => outcomeOf(entry) === 'failed'],
  ['faults', 'Faults', ({ fault }) => fault !== undefined],
];

export const SEND = html`<a class="button" href="/start">Send a request</a>`;

/** The latest of consecutive repeated requests, with their number and the first request. */
type RequestGroup = ReturnType<typeof alone>;

const alone = (entry: LogEntry) => ({ entry, times: 1, first: entry });

const withoutIds = (text: string): string => text.replaceAll(/\b\d+\b/g, '{id}');

/**
 * Groups consecutive repeats: the same read with the same status, such as polls, and refusals that differ only in ids.
 */
function groupRepeats(console: ConsoleContext, list: readonly LogEntry[]): RequestGroup[] {
  const groups: RequestGroup[] = [];
  let latestKind: string | undefined;
  for (const entry of list) {
    const latest = groups.at(-1);
    const kind = repeatedKind(console, entry);
    if (latest && kind !== undefined && kind === latestKind) {
      latest.times++;
      latest.first = entry;
    } else groups.push(alone(entry));
    latestKind = kind;
  }
  return groups;
}

/** Returns what repeats have in common; `undefined` for a request that has its own row. */
function repeatedKind(console: ConsoleContext, entry: LogEntry): string | undefined {
  const { method, status, account, fault, why } = entry;
  const isRepeatable = fault === undefined && (why === undefined ? method === 'GET' : status >= 400 && status < 500);
  if (!isRepeatable) return undefined;
  // Compare complete URLs: redacting the URLs of all requests would take most of the time of the page.
  const target = console.recorder.find(entry)?.url ?? entry.path;
  return `${method} ${status} ${account} ${why === undefined ? target : withoutIds(`${target} ${why}`)}`;
}

function targetIn({ recorder }: ConsoleContext, entry: LogEntry): string {
  const recorded = recorder.find(entry);
  return recorded ? targetOf(recorded) : entry.path;
}

export function requestsPage(console: ConsoleContext, query: URLSearchParams): Page {
  const hits = findRequests(console, query);
  const { state } = console.service;
  const unsearched = (query.get('q') ?? '') === '' ? '' : unsearchedText(console);
  const counts = GROUPS.map(([value, text, has]) => [value, text, hits.filter(has).length] as const);
  return {
    title: 'Requests',
    content: [
      head('Requests', live('status', segments('Status', PATH, query, 'status', counts))),
      live('kept', [keptRequests(state), unsearched].map(hint)),
      requestList(console, query, hits),
    ],
  };
}

function requestList(console: ConsoleContext, query: URLSearchParams, hits: readonly LogEntry[]): readonly Html[] {
  const { state } = console.service;
  const [, , isInGroup = () => true] = GROUPS.find(([value]) => value === query.get('status')) ?? [];
  const list = hits.filter(isInGroup).reverse();
  return listView({
    path: PATH,
    query,
    id: 'requests',
    placeholder: 'Text, or status:429, path:, key:, id:',
    matching: query.get('repeats') === 'all' ? list.map(alone) : groupRepeats(console, list),
    total: state.log.length,
    keyOf: ({ entry }) => entry.id,
    caption: 'Requests, newest first',
    columns: columnsOf(console, query),
    empty: emptyState('No requests', 'A request that you send appears here, with the reason if it is refused.', SEND),
  });
}

function columnsOf(console: ConsoleContext, query: URLSearchParams): readonly Column<RequestGroup>[] {
  const { clock, state } = console.service;
  return [
    ['Time', 'w4', ({ entry: { at } }) => timeElement(at, clock.now())],
    ['Status', 'w3', statusCell, 'state'],
    ['Request', 'w5', (group) => requestCell(console, group), 'main'],
    ['Result or reason', '', (group) => explainGroup(console, group, query), 'wrap full'],
    ...accountColumn<RequestGroup>(state.accounts.size > 1, ({ entry }) => entry.account),
  ];
}

const statusCell = ({ entry, times }: RequestGroup): Html =>
  html`${statusBadge(entry)} ${times > 1 ? badge('', `× ${count(times)}`) : ''}`;

function requestCell(console: ConsoleContext, { entry, first }: RequestGroup): Html {
  const { id, method } = entry;
  const target = targetIn(console, entry);
  const shown = target === targetIn(console, first) ? target : withoutIds(target);
  return html`${method} <a href="/requests/${id}" title="${target}"><code><bdi>${shown}</bdi></code></a>`;
}

function explainGroup(console: ConsoleContext, { entry, times, first }: RequestGroup, query: URLSearchParams): Content {
  if (times === 1) return explain(console, entry);
  const began = timeElement(first.at, console.service.clock.now());
  const all = addressOf(PATH, query, { repeats: 'all', from: entry.id });
  return html`${explain(console, entry)} <a href="${all}">Show all ${count(times)}</a> <span class="soft">(the first at ${began})</span>`;
}

function explain(console: ConsoleContext, entry: LogEntry): Content {
  const line = reasonLine(entry);
  const created = createdText(console, entry);
  if (entry.replayed) return html`${created} ${badge('', 'replayed')}`;
  if (line === '') return created;
  const name = created === '' ? redactText(entry.name ?? '') : '';
  const reason = html`${name && html`“<bdi>${name}</bdi>”: `}${line}`;
  return created === '' ? reason : [reason, '; ', created];
}

export function createdText(console: ConsoleContext, entry: LogEntry): Content {
  const { replayed, createdId } = entry;
  const id = replayed ? keyOwner(console.service, entry)?.createdId : createdId;
  if (id === undefined) return '';
  const resource = findResource(console.service, id);
  const verb = replayed ? 'returned' : 'created';
  if (!resource) return `${verb} ${id}, which has been deleted`;
  return html`${verb} ${resourceLink(resource)} <small>${resource.name && `${resource.kind} ${id}`}</small>`;
}
