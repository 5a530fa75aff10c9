import { html } from 'hono/html';
import type { Service } from '../../service.ts';
import type { LogEntry } from '../../state.ts';
import type { ConsoleContext } from '../console-context.ts';
import { type DeliveryGroup, deliveryHref, deliverySummary, keptAttempts, responseBadge } from '../delivery-groups.ts';
import type { StatusChange } from '../history.ts';
import { type Content, foreign, type Happening, type Html, hint, jobBadge, timeElement, timeline } from '../html.ts';
import { numberOf } from '../lists.ts';
import { reasonText, type ShownResource } from '../objects.ts';
import { reasonLine, statusBadge } from '../request-reason.ts';
import { keptRequests } from '../request-search.ts';
import { counted } from '../words.ts';
import { redeliver } from './endpoint-table.ts';
import { createdText } from './requests-page.ts';

interface Chapter extends Happening {
  /** Time by which the chapter is sorted. @default `at` */
  readonly started?: number;
  /** Rank among the chapters of the same time. */
  readonly order: number;
}

export const isPollOf = ({ method, path, status }: LogEntry, id: number): boolean =>
  method === 'GET' && status >= 200 && status < 400 && path.endsWith(`/${id}`);

const MAX_CHAPTERS = 60;

/** A resource, and what its page shows about it. */
export interface Story {
  readonly console: ConsoleContext;
  readonly resource: ShownResource;
  readonly requests: readonly LogEntry[];
  readonly groups: readonly DeliveryGroup[];
  readonly query: URLSearchParams;
}

export function storySection(story: Story): Html {
  const { console, resource, query } = story;
  const { id } = resource;
  const now = console.service.clock.now();
  const chapters = chaptersOf(story);
  const shown = query.has('all') ? chapters : chapters.slice(-MAX_CHAPTERS);
  const earlier = chapters.length - shown.length;
  const more = earlier > 0 ? html`<p><a href="/resources/${id}?all">${counted(earlier, 'earlier event')}</a></p>` : '';
  const hasChanges = resource.status === undefined || console.history.changesOf(id).length > 0;
  const statuses = hasChanges ? '' : 'The statuses of the job are not kept.';
  const kept = [keptRequests(console.service.state), keptAttempts(console.service), statuses];
  const lead = hint(kept.filter(Boolean).join(' '));
  return html`<h2>What happened</h2>${lead}${more}${timeline(shown, now)}`;
}

/** Returns the events except polls. A request precedes its effects at the same time. */
function chaptersOf({ console, resource: { id }, requests, groups }: Story): readonly Chapter[] {
  const { service, history } = console;
  const changes = history.changesOf(id);
  const end = (changes.at(-1)?.requests ?? 0) + 0.7;
  const chapters: Chapter[] = [
    ...changes.map((change) => statusChapter(service, change)),
    ...groups
      .toReversed()
      .map((group, index) => ({ ...deliveryChapter(service, group, end), ...(index > 0 && { gap: '' }) })),
    ...requests
      .filter((entry) => !isPollOf(entry, id))
      .map((entry) => requestChapter(console, entry, id, entry.createdId === id ? -1 : numberOf(entry.id))),
  ];
  const startOf = ({ at, started = at }: Chapter): number => started;
  return chapters.sort((a, b) => startOf(a) - startOf(b) || a.order - b.order);
}

const spaced = (...parts: readonly Content[]): Html[] => parts.map((part) => (part === '' ? html`` : html`${part} `));

function requestChapter(console: ConsoleContext, entry: LogEntry, id: number, order: number): Chapter {
  const at = Date.parse(entry.at);
  // Sort a request by its start, because its effects come before its end.
  const started = console.recorder.find(entry)?.started.time ?? at;
  const key = entry.idempotencyKey;
  const link = html`<a href="/requests/${entry.id}">${entry.method} ${entry.path}</a>`;
  const more = entry.status < 400 && key ? html`<span class="soft">with the key <bdi>${key}</bdi></span>` : '';
  const reason = reasonLine(entry);
  const created = entry.createdId === id ? html`<span class="soft">created it</span>` : createdText(console, entry);
  return { at, started, order, content: spaced(statusBadge(entry), link, created, more, reason) };
}

function statusChapter(service: Service, change: StatusChange): Chapter {
  const { at, status, outcome, cause, requests } = change;
  const reason = outcome === undefined ? '' : reasonText(service, change);
  return {
    at,
    order: requests + 0.5,
    content: spaced(jobBadge(status), html`<bdi>${reason}</bdi>`),
    ...(cause !== 'job' && { gap: cause === 'cancel' ? 'cancelled' : 'ended by you or your program' }),
  };
}

function deliveryChapter(service: Service, group: DeliveryGroup, order: number): Chapter {
  const now = service.clock.now();
  const { event, at, attempts, latest, retryAt, state } = group;
  const { type, endpoint } = event;
  const isGood = state === 'delivered';
  const next = retryAt === undefined ? '' : html`, next ${timeElement(retryAt, now)}`;
  const later = attempts.length > 1 ? html`, the latest at ${timeElement(latest.delivery.at, now)}` : '';
  const progress = isGood && attempts.length === 1 ? '' : html`<span>${deliverySummary(group)}${later}${next}</span>`;
  const title = html`<a href="${deliveryHref(event)}">${type}</a> <span>to ${foreign(endpoint.name)}</span>`;
  return {
    at,
    order,
    content: spaced(title, responseBadge(latest), progress, isGood ? '' : redeliver(service, event, 'small')),
  };
}
