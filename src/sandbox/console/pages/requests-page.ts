import { html } from 'hono/html';
import type { LogEntry } from '../../state.ts';
import type { ConsoleContext } from '../console-context.ts';
import { commandLine } from '../highlight.ts';
import {
  badge,
  type Content,
  count,
  emptyState,
  foreign,
  type Html,
  head,
  httpBadge,
  live,
  timeElement,
} from '../html.ts';
import type { Page } from '../layout.ts';
import {
  cell,
  filterForm,
  noMatch,
  pageOf,
  pager,
  row,
  type Segment,
  segments,
  table,
  twoLines,
  withDays,
} from '../lists.ts';
import { createdBy, findResource } from '../objects.ts';
import { redactUrl } from '../redact-request.ts';
import { outcomeOf, reasonLine } from '../request-reason.ts';
import { findRequests } from '../request-search.ts';

const PATH = '/requests';

const GROUPS: readonly (readonly [value: string, text: string, has: (entry: LogEntry) => boolean])[] = [
  ['', 'All', () => true],
  ['refused', 'Refused', (entry) => outcomeOf(entry) === 'refused'],
  ['failed', 'Failed', (entry) => outcomeOf(entry) === 'failed'],
  ['faults', 'Faults', ({ fault }) => fault !== undefined],
];

const METHODS = ['', 'GET', 'POST', 'PUT', 'DELETE'].map((method) => [method, method || 'Any method'] as const);

const REPEATS = [
  ['', 'Repeats grouped'],
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
  const { state, clock } = console.service;
  const now = clock.now();
  const matching = findRequests(console, query);
  const [, , isInGroup = () => true] = GROUPS.find(([value]) => value === query.get('status')) ?? [];
  const list = matching.filter(isInGroup).reverse();
  const page = pageOf(
    query.get('repeats') === 'all' ? list.map(alone) : groupRepeats(console, list),
    query,
    ({ entry: { id } }, cursor) => numberOf(id) < numberOf(cursor),
    ({ entry: { id } }) => id,
  );
  const counts: readonly Segment[] = GROUPS.map(([value, text, has]) => [value, text, matching.filter(has).length]);
  return {
    title: 'Requests',
    content: html`${head('Requests', live('status', segments('Status', PATH, query, 'status', counts)), liveButtons())}
${filterForm(PATH, query, {
  label: 'Filter of requests',
  placeholder: 'Id, key, reason, any value sent, or path:/usage, key:…, status:429',
  kept: ['status'],
  selections: [
    ['Method', 'method', METHODS],
    ['Repeats', 'repeats', REPEATS],
  ],
})}
${live(
  'log',
  [
    table(
      'Requests, the latest first',
      [
        ['Time', 'w7'],
        ['Status', 'w8'],
        ['Request, and why it was refused'],
        ['Bucket', 'w7 lo'],
        ['Account', 'w9 lo'],
        ['Duration', 'w6 lo'],
      ],
      withDays(
        page.rows,
        ({ entry }) => Date.parse(entry.at),
        now,
        (group) => rowOf(console, group, now),
        6,
      ),
      state.log.length === 0 ? noRequests() : noMatch(PATH, 'requests', state.log.length),
    ),
    pager(PATH, query, page),
  ],
  list.length,
)}`,
  };
}

const noRequests = (): Html =>
  emptyState('No requests yet', 'Send one; it appears here with the reason if it is refused.', [
    commandLine('first', 'npx aud audiences create --name Visitors --sandbox'),
    html`<p><a href="/start">Other ways to begin</a></p>`,
  ]);

function rowOf(console: ConsoleContext, { entry, times, first }: RequestGroup, now: number): Html {
  const recorded = console.recorder.find(entry);
  const { id, method, path, status, account = '', bucket, at, replayed, served } = entry;
  const target = recorded ? redactUrl(recorded.url).slice(new URL(recorded.url).origin.length) : path;
  const isDifferent = status === 0 && served !== undefined;
  return row([
    cell(timeElement(at, Date.parse(at), 12)),
    cell(httpBadge(status), 'side2'),
    twoLines(
      [
        html`<a class="row" href="/requests/${id}" title="${target}"><b>${method}</b> <code><bdi>${target}</bdi></code></a>`,
        times > 1 ? badge('', `× ${count(times)}`) : '',
        replayed ? badge('', 'replayed') : '',
        isDifferent ? badge('', `service: ${served}`) : '',
      ],
      times > 1 ? html`since ${timeElement(first.at, now)}, all with this status` : explain(console, entry, now),
      'main',
    ),
    cell(bucket ? `${bucket.name} ${bucket.used}/${bucket.limit}` : '', 'lo'),
    cell(account === '' ? '' : foreign(account), 'lo'),
    cell(recorded ? `${recorded.duration.toFixed(1)} ms` : '', 'lo gone'),
  ]);
}

/** Returns why a request was refused, and what it has created. */
function explain(console: ConsoleContext, entry: LogEntry, now: number): Content {
  const line = reasonLine(entry, now);
  const reason = line === '' ? '' : html`<span title="${entry.why ?? ''}">${line}</span>`;
  const created = createdText(console, entry);
  return reason === '' || created === '' ? [reason, created] : [reason, '; ', created];
}

/** Returns what a request has created, and what has become of it. */
export function createdText(console: ConsoleContext, entry: LogEntry): Content {
  const id = createdBy(console, entry);
  if (id === undefined) return '';
  const resource = findResource(console.service, id);
  if (!resource) return `created ${id}, which has been deleted`;
  const { kind, name, status } = resource;
  const title = name === '' ? '' : html` “<bdi>${name}</bdi>”`;
  return html`created <a href="/resources/${id}">${kind} ${id}</a>${title}${status ? `, now ${status.id} ${status.name}` : ''}`;
}

/** Returns the number in the id of a request. */
export const numberOf = (id: string): number => Number(id.replace('req_', ''));
