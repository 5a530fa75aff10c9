import { html } from 'hono/html';
import type { HandledRequest } from '../../service.ts';
import type { LogEntry } from '../../state.ts';
import type { ConsoleContext } from '../console-context.ts';
import { commandLine } from '../highlight.ts';
import { badge, type Content, emptyState, foreign, type Html, head, httpBadge, live, timeElement } from '../html.ts';
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
  wordsOf,
} from '../lists.ts';
import { redactUrl } from '../redact-request.ts';
import { reasonLine } from '../request-reason.ts';
import { decode } from '../snippet-values.ts';

const PATH = '/requests';

const isRefused = ({ status }: LogEntry): boolean => status >= 400 && status < 500;
const isFailed = ({ status }: LogEntry): boolean => status === 0 || status >= 500;
const hasFault = ({ fault }: LogEntry): boolean => fault !== undefined;

const GROUPS: readonly (readonly [value: string, text: string, has: (entry: LogEntry) => boolean])[] = [
  ['', 'All', () => true],
  ['refused', 'Refused', isRefused],
  ['failed', 'Failed', isFailed],
  ['faults', 'Faults', hasFault],
];

const METHODS = ['', 'GET', 'POST', 'PUT', 'DELETE'].map((method) => [method, method || 'Any method'] as const);

/** Returns the button that pauses a live list. */
export const liveButtons = (): Html =>
  html`<span class="live">Live</span><button type="button" class="small" data-pause aria-pressed="false">Pause</button>`;

/** The requests as they come, filtered by the query. */
export function requestsPage(console: ConsoleContext, query: URLSearchParams): Page {
  const { state, clock } = console.service;
  const now = clock.now();
  const matching = matchesOf(console, query);
  const [, , isInGroup = () => true] = GROUPS.find(([value]) => value === query.get('status')) ?? [];
  const list = matching.filter(isInGroup).reverse();
  const page = pageOf(
    list,
    query,
    ({ id }, cursor) => numberOf(id) < numberOf(cursor),
    ({ id }) => id,
  );
  const counts: readonly Segment[] = GROUPS.map(([value, text, has]) => [value, text, matching.filter(has).length]);
  return {
    title: 'Requests',
    content: html`${head('Requests', live('status', segments('Status', PATH, query, 'status', counts)), liveButtons())}
${filterForm(PATH, query, {
  label: 'Filter of requests',
  placeholder: 'Path, id, key, account, reason, text of a body, or status:429',
  kept: ['status'],
  selections: [['Method', 'method', METHODS]],
})}
${live('log', [
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
      ({ at }) => Date.parse(at),
      now,
      (entry) => rowOf(entry, console.recorder.find(entry), now),
      6,
    ),
    state.log.length === 0 ? noRequests() : noMatch(PATH, 'requests', state.log.length),
  ),
  pager(PATH, query, page),
])}`,
  };
}

const noRequests = (): Html =>
  emptyState('No requests yet', 'Send one; it appears here with the reason if it is refused.', [
    commandLine('first', 'npx aud audiences create --name Visitors --sandbox'),
    html`<p><a href="/start">Other ways to begin</a></p>`,
  ]);

function rowOf(entry: LogEntry, recorded: HandledRequest | undefined, now: number): Html {
  const { id, method, path, status, account = '', bucket, at, replayed, served } = entry;
  const target = recorded ? redactUrl(recorded.url).slice(new URL(recorded.url).origin.length) : path;
  const isDifferent = status === 0 && served !== undefined;
  return row([
    cell(timeElement(at, Date.parse(at), 12)),
    cell(httpBadge(status), 'side2'),
    twoLines(
      html`<a class="row" href="/requests/${id}" title="${target}"><b>${method}</b> <code><bdi>${target}</bdi></code></a>${replayed ? badge('', 'replayed') : ''}${isDifferent ? badge('', `service: ${served}`) : ''}`,
      reasonOrNothing(entry, now),
      'main',
    ),
    cell(bucket ? `${bucket.name} ${bucket.used}/${bucket.limit}` : '', 'lo'),
    cell(account === '' ? '' : foreign(account), 'lo'),
    cell(recorded ? `${recorded.duration.toFixed(1)} ms` : '', 'lo gone'),
  ]);
}

function reasonOrNothing(entry: LogEntry, now: number): Content {
  const line = reasonLine(entry, now);
  return line === '' ? '' : html`<span title="${entry.why ?? ''}">${line}</span>`;
}

const numberOf = (id: string): number => Number(id.replace('req_', ''));

/** Returns the requests that match the text and the method of a query, oldest first. */
function matchesOf(console: ConsoleContext, query: URLSearchParams): readonly LogEntry[] {
  const { log } = console.service.state;
  const words = wordsOf(query);
  const method = query.get('method') ?? '';
  if (words.length === 0 && method === '') return log;
  const matchers = words.map(matcherOf);
  return log.filter(
    (entry) =>
      (method === '' || entry.method === method) &&
      matchers.every((matches) => matches(entry, () => searchText(console, entry))),
  );
}

/** Returns what a word of a search asks for: `status:429`, `method:post`, `account:eve`, or any text. */
function matcherOf(word: string): (entry: LogEntry, text: () => string) => boolean {
  const [, field, value = ''] = /^(status|method|account|fault):(.+)$/.exec(word) ?? [];
  if (field === 'status') return ({ status }) => String(status).startsWith(value);
  if (field === 'method') return ({ method }) => method.toLowerCase() === value;
  if (field === 'account') return ({ account = '' }) => account.toLowerCase().includes(value);
  if (field === 'fault') return ({ fault = '' }) => fault.toLowerCase().includes(value);
  return (_, text) => text().includes(word);
}

const texts = new WeakMap<LogEntry, string>();

/** Returns all that a request can be found by, in small letters. */
function searchText({ recorder }: ConsoleContext, entry: LogEntry): string {
  const kept = texts.get(entry);
  if (kept !== undefined) return kept;
  const { id, method, path, status, account = '', why = '', fault = '' } = entry;
  const recorded = recorder.find(entry);
  const { url = '', headers, body, response = '' } = recorded ?? {};
  const key = headers?.get('idempotency-key') ?? '';
  const text = [
    id,
    method,
    path,
    url && new URL(url).search,
    status || 'no response',
    account,
    why,
    fault,
    key,
    body ? decode(body) : '',
    response,
  ]
    .join(' ')
    .toLowerCase();
  if (recorded) texts.set(entry, text);
  return text;
}
