import { html } from 'hono/html';
import type { HandledRequest } from '../../service.ts';
import type { LogEntry } from '../../state.ts';
import { badge, type Content, facts, type Html, httpBadge, input, live, select, table, timeElement } from '../html.ts';
import type { Page } from '../layout.ts';
import type { ConsoleContext } from '../operator-api.ts';
import { redactBody } from '../redact-request.ts';
import { curlOf, fetchOf, relevantHeaders, shownBody } from '../snippets.ts';

const PAGE_SIZE = 100;

/** Length of a path that is not broken into lines. */
const MAX_SHORT = 40;

/** The requests as they come, filtered by the query. */
export function requestsPage({ service, recorder }: ConsoleContext, query: URLSearchParams): Page {
  const { state, clock } = service;
  const matching = state.log.filter(createFilter(query));
  const page = Math.max(1, Math.trunc(Number(query.get('page'))) || 1);
  const end = Math.max(0, matching.length - (page - 1) * PAGE_SIZE);
  const start = Math.max(0, end - PAGE_SIZE);
  const rows = matching.slice(start, end).reverse();
  const now = clock.now();
  const empty =
    state.log.length === 0
      ? html`No requests yet. Send one to the API, for example with a client whose <code>baseUrl</code> is its address.`
      : 'No request matches the filter.';
  return {
    title: 'Requests',
    content: html`${filterForm(query)}
${live('log', [
  html`<p>${matching.length} of the ${state.log.length} latest requests${pages(query, page, start > 0)}</p>`,
  table(
    'Requests, the latest first',
    ['Request', 'Status', 'Why', 'Account', 'Bucket', 'Duration', 'Time'],
    rows.map((entry) => row(entry, recorder.find(entry), now)),
    empty,
  ),
])}`,
  };
}

function row(entry: LogEntry, recorded: HandledRequest | undefined, now: number): readonly Content[] {
  const { id, method, path, status, account, bucket, at } = entry;
  return [
    html`<a href="/requests/${id}"><b>${method}</b> ${pathElement(path)}</a>`,
    httpBadge(status),
    reasons(entry),
    account ?? '',
    bucket ? html`<span class="short">${bucket.name} ${bucket.used}/${bucket.limit}</span>` : '',
    recorded ? `${recorded.duration.toFixed(1)} ms` : '',
    timeElement(at, now),
  ];
}

/** Returns a path; a long one can be broken after its slashes. */
function pathElement(path: string): Html {
  if (path.length <= MAX_SHORT) return html`<span class="path short">${path}</span>`;
  const [first, ...segments] = path.split('/');
  return html`<span class="path">${first}${segments.map((segment) => html`/<wbr>${segment}`)}</span>`;
}

const reasons = ({ why, fault, replayed }: LogEntry): Content => [
  fault === undefined ? '' : badge('warn', `fault: ${fault}`),
  replayed ? badge('quiet', 'replayed') : '',
  why === undefined ? '' : html` <span class="why">${why}</span>`,
];

/** Returns the links to the pages before and after. */
function pages(query: URLSearchParams, page: number, hasOlder: boolean): Content {
  const link = (target: number, text: string): Html => {
    const params = new URLSearchParams(query);
    params.set('page', String(target));
    return html` <a href="/?${params.toString()}">${text}</a>`;
  };
  return [page > 1 ? link(page - 1, 'Newer') : '', hasOlder ? link(page + 1, 'Older') : ''];
}

const STATUSES = [
  ['', 'All'],
  ['errors', 'Errors'],
  ['2', '2xx'],
  ['4', '4xx'],
  ['5', '5xx'],
  ['0', 'No response'],
  ['faults', 'Faults'],
] as const;

function filterForm(query: URLSearchParams): Html {
  return html`<form class="fields filter" method="get" action="/">
${input('Path contains', 'path', { value: query.get('path') ?? '', type: 'search' })}
${select('Status', 'status', STATUSES, query.get('status') ?? '')}
${input('Account', 'account', { value: query.get('account') ?? '', type: 'search' })}
<button>Filter</button>
</form>`;
}

function createFilter(query: URLSearchParams): (entry: LogEntry) => boolean {
  const [path = '', account = '', status = ''] = ['path', 'account', 'status'].map((name) => query.get(name) ?? '');
  const hasStatus = (entry: LogEntry): boolean => {
    if (status === 'faults') return entry.fault !== undefined;
    if (status === 'errors') return entry.status === 0 || entry.status >= 400;
    return status === '' || Math.floor(entry.status / 100) === Number(status);
  };
  return (entry) =>
    `${entry.method} ${entry.path}`.includes(path) && (entry.account ?? '').includes(account) && hasStatus(entry);
}

/** One request: why it was refused, and how to send it again. */
export function requestPage({ service, recorder }: ConsoleContext, id: string): Page | undefined {
  const entry = service.state.log.find((candidate) => candidate.id === id);
  if (!entry) return undefined;
  const recorded = recorder.find(entry);
  const { method, path, status, account, bucket, budget, why, fault, replayed, at } = entry;
  const entries: (readonly [string, Content])[] = [
    ['Status', httpBadge(status)],
    ['Why', why ?? (status < 400 && status > 0 ? 'Accepted' : '')],
    ['Fault', fault ?? ''],
    ['Replayed', replayed ? 'The stored response of the idempotency key was sent again' : ''],
    ['Account', account ?? ''],
    ['Bucket', bucket ? `${bucket.name}: ${bucket.used} of ${bucket.limit} after this request` : ''],
    ['Build budget', budget ? budgetText(budget) : ''],
    ['Duration', recorded ? `${recorded.duration.toFixed(1)} ms` : ''],
    ['Time', html`${at}, ${timeElement(at, service.clock.now())}`],
    ['Request id', id],
  ];
  return {
    title: `${method} ${path}`,
    content: html`${facts(entries.filter(([, value]) => value !== ''))}
${recorded ? details(recorded) : html`<p class="empty">Its details are not kept: it was sent before the console was opened, or long ago.</p>`}
<p><a href="/">All requests</a></p>`,
  };
}

const budgetText = ({ hour, day }: NonNullable<LogEntry['budget']>): string =>
  `${hour.used} of ${hour.limit} builds an hour, ${day.used} of ${day.limit} a day`;

function details(recorded: HandledRequest): Html {
  const { response } = recorded;
  const body = shownBody(recorded);
  return html`<h2>Request headers</h2>
${facts(relevantHeaders(recorded))}
<h2>Request body</h2>
${body ? html`<pre tabindex="0">${pretty(body)}</pre>` : html`<p class="empty">No body, or one that is not kept.</p>`}
<h2>Response</h2>
${response ? html`<pre tabindex="0">${pretty(redactBody(response))}</pre>` : html`<p class="empty">No body, or one that is not kept.</p>`}
${snippet('curl', 'As curl', curlOf(recorded))}
${snippet('typescript', 'As TypeScript', fetchOf(recorded))}`;
}

const snippet = (id: string, title: string, code: string): Html => html`<h2>${title}</h2>
<pre id="${id}" tabindex="0">${code}</pre>
<button type="button" data-copy="${id}" aria-label="Copy ${title}">Copy</button>`;

function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), undefined, 2);
  } catch {
    return body;
  }
}
