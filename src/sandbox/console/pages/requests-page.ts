import { html } from 'hono/html';
import type { LogEntry } from '../../state.ts';
import type { ConsoleContext } from '../console-context.ts';
import { badge, type Content, emptyState, foreign, type Html, head, httpBadge, live, timeElement } from '../html.ts';
import type { Page } from '../layout.ts';
import { type Column, listView, segments, twoLines } from '../lists.ts';
import { findResource } from '../objects.ts';
import { targetOf } from '../redact-request.ts';
import { outcomeOf, reasonLine } from '../request-reason.ts';
import { createdBy, findRequests, keptText, nameIn, unsearchedCount } from '../request-search.ts';
import { count, counted } from '../words.ts';

const PATH = '/requests';

const GROUPS: readonly (readonly [value: string, text: string, has: (entry: LogEntry) => boolean])[] = [
  ['', 'All', () => true],
  ['refused', 'Refused', (entry) => outcomeOf(entry) === 'refused'],
  ['failed', 'Failed', (entry) => outcomeOf(entry) === 'failed'],
  ['faults', 'Faults', ({ fault }) => fault !== undefined],
];

const METHODS = ['', 'GET', 'POST', 'PUT', 'DELETE'].map((method) => [method, method || 'Any method'] as const);

/** Leads to the ways to send a request, which have the address of the sandbox. */
export const SEND = html`<a class="button" href="/start">Send a request</a>`;

const REPEATS = [
  ['', 'Polls grouped'],
  ['all', 'Every request'],
] as const;

/** A request, and how many there are with the identical reads just before it. */
interface RequestGroup {
  readonly entry: LogEntry;
  times: number;
  /** The first one. */
  first: LogEntry;
}

const alone = (entry: LogEntry): RequestGroup => ({ entry, times: 1, first: entry });

const isPlainRead = ({ method, why, fault }: LogEntry): boolean =>
  method === 'GET' && why === undefined && fault === undefined;

/** Groups reads that repeat one after the other with the same result, such as polls; the latest request is first. */
function groupRepeats({ recorder }: ConsoleContext, list: readonly LogEntry[]): RequestGroup[] {
  const isRepeat = (entry: LogEntry, next: LogEntry): boolean =>
    entry.path === next.path &&
    entry.status === next.status &&
    entry.account === next.account &&
    isPlainRead(entry) &&
    isPlainRead(next) &&
    recorder.find(entry)?.url === recorder.find(next)?.url;
  const groups: RequestGroup[] = [];
  for (const entry of list) {
    const latest = groups.at(-1);
    if (!latest || !isRepeat(entry, latest.first)) groups.push(alone(entry));
    else {
      latest.times++;
      latest.first = entry;
    }
  }
  return groups;
}

/** Returns the button that pauses a live list. */
export const liveButtons = (): Html =>
  html`<span class="live">Live</span><button type="button" class="small" data-pause aria-pressed="false">Pause</button>`;

/** The requests as they come, filtered by the query. */
export function requestsPage(console: ConsoleContext, query: URLSearchParams): Page {
  const hits = findRequests(console, query);
  const kept = keptText(console.service.state);
  const counts = GROUPS.map(([value, text, has]) => [value, text, hits.filter(has).length] as const);
  return {
    title: 'Requests',
    content: [
      head('Requests', live('status', segments('Status', PATH, query, 'status', counts)), liveButtons()),
      live('kept', [kept && html`<p class="lead">Only ${kept} are kept.</p>`, unsearched(console, query)]),
      requestList(console, query, hits),
    ],
  };
}

/** Returns how many requests a search by text could not look into. */
function unsearched(console: ConsoleContext, query: URLSearchParams): Html | '' {
  const number = (query.get('q') ?? '') === '' ? 0 : unsearchedCount(console);
  if (number === 0) return '';
  const text = `The bodies of ${counted(number, 'request')} are not kept: found by path, key, name, created id and reason only.`;
  return html`<p class="lead">${text}</p>`;
}

function requestList(console: ConsoleContext, query: URLSearchParams, hits: readonly LogEntry[]): readonly Html[] {
  const { state, clock } = console.service;
  const [, , isInGroup = () => true] = GROUPS.find(([value]) => value === query.get('status')) ?? [];
  const list = hits.filter(isInGroup).reverse();
  return listView({
    path: PATH,
    query,
    id: 'requests',
    placeholder: 'Id, key, reason, any value sent, or path:/usage, key:…, status:429',
    kept: ['status'],
    selections: [
      ['Method', 'method', METHODS],
      ['Polls', 'repeats', REPEATS],
    ],
    matching: query.get('repeats') === 'all' ? list.map(alone) : groupRepeats(console, list),
    live: list.length,
    total: state.log.length,
    keyOf: ({ entry }) => entry.id,
    caption: 'Requests, the latest first',
    columns: columnsOf(console),
    days: [clock.now(), ({ entry }) => Date.parse(entry.at)],
    empty: emptyState('No requests yet', 'Send one; it appears here with the reason if it is refused.', SEND),
  });
}

function columnsOf(console: ConsoleContext): readonly Column<RequestGroup>[] {
  const durationOf = (entry: LogEntry): string => {
    const recorded = console.recorder.find(entry);
    return recorded ? `${recorded.duration.toFixed(1)} ms` : '';
  };
  return [
    ['Time', 'w7', ({ entry: { at } }) => timeElement(at, Date.parse(at), 12)],
    ['Status', 'w8', ({ entry }) => httpBadge(entry.status), 'side2'],
    ['Request, and why it was refused', '', (group) => requestLines(console, group), 'two main cut'],
    ['Bucket', 'w9 lo', ({ entry: { bucket } }) => (bucket ? `${bucket.name} ${bucket.used}/${bucket.limit}` : '')],
    ['Account', 'w7 lo', ({ entry: { account = '' } }) => (account === '' ? '' : foreign(account))],
    ['Duration', 'w5 lo', ({ entry }) => durationOf(entry), 'gone'],
  ];
}

function requestLines(console: ConsoleContext, { entry, times, first }: RequestGroup): Html {
  const now = console.service.clock.now();
  const recorded = console.recorder.find(entry);
  const { id, method, path, status, replayed, served } = entry;
  const target = recorded ? targetOf(recorded) : path;
  const isDifferent = status === 0 && served !== undefined;
  const title = [
    html`<a class="row" href="/requests/${id}" title="${target}"><b>${method}</b> <code><bdi>${target}</bdi></code></a>`,
    times > 1 ? badge('', `× ${count(times)}`) : '',
    replayed ? badge('', 'replayed') : '',
    isDifferent ? badge('', `service: ${served}`) : '',
  ];
  const since = html`since ${timeElement(first.at, now)}, all with this status`;
  return twoLines(title, times > 1 ? since : explain(console, entry));
}

/** Returns why a request was refused, with the name that it had sent, and what it has created. */
function explain(console: ConsoleContext, entry: LogEntry): Content {
  const line = reasonLine(entry);
  const created = createdText(console, entry);
  if (line === '') return created;
  const name = created === '' ? nameIn(console, entry) : '';
  const reason = html`<span title="${entry.why ?? ''}">${name && html`“<bdi>${name}</bdi>”: `}${line}</span>`;
  return created === '' ? reason : [reason, '; ', created];
}

/** Returns what a request has created, and what has become of it. */
export function createdText(console: ConsoleContext, entry: LogEntry): Content {
  const id = createdBy(console, entry);
  if (id === undefined) return '';
  const resource = findResource(console.service, id);
  if (!resource) return `created ${id}, which has been deleted`;
  const { kind, name, status } = resource;
  const title = name === '' ? '' : html` “<bdi>${name}</bdi>”`;
  const now = status ? `, now ${status.id} ${status.name}` : '';
  return html`created <a href="/resources/${id}">${kind} ${id}</a>${title}${now}`;
}
