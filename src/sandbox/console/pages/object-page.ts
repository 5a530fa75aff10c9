import { html } from 'hono/html';
import type { Service } from '../../service.ts';
import type { LogEntry } from '../../state.ts';
import type { ConsoleContext } from '../console-context.ts';
import { type DeliveryGroup, groupDeliveries } from '../delivery-groups.ts';
import type { StatusChange } from '../history.ts';
import {
  type Content,
  capital,
  count,
  durationText,
  facts,
  foreign,
  type Html,
  head,
  httpBadge,
  jobBadge,
  linkButton,
  live,
  note,
  relativeText,
  type Tone,
  timeElement,
} from '../html.ts';
import type { Page } from '../layout.ts';
import { createdBy, findResource, reasonOf, requestsAbout, type ShownResource } from '../objects.ts';
import { outcomeOf, reasonLine } from '../request-reason.ts';
import { redeliver, responseBadge } from './delivery-panel.ts';
import { endDialog, jobActions } from './jobs-page.ts';
import { numberOf } from './requests-page.ts';
import { detailsOf } from './resource-pages.ts';

/** Something that happened to a resource, or because of it. */
interface Chapter {
  readonly at: number;
  /** Rank among the chapters of the same time. */
  readonly order: number;
  readonly tone: Tone;
  readonly content: Content;
  /** Said between it and what was before, in place of the time between them. */
  readonly gap?: string;
  /** Set for a poll: many are one line. */
  readonly isPoll?: boolean;
}

/** One resource, with its story: the request that created it, its statuses, polls, deliveries, and requests that name it. */
export function objectPage(console: ConsoleContext, id: number, query: URLSearchParams): Page | undefined {
  const { service } = console;
  const resource = findResource(service, id);
  if (!resource) return undefined;
  const now = service.clock.now();
  const { kind, name, status } = resource;
  const requests = requestsAbout(console, id);
  const isAll = query.has('all');
  const chapters = storyOf(console, resource, requests);
  const shown = isAll ? chapters : chapters.slice(-MAX_CHAPTERS);
  const earlier = chapters.length - shown.length;
  const running = service.jobs.saved.running.get(id);
  return {
    title: `${capital(kind)} ${id}`,
    content: html`<p class="crumb"><span><a href="/resources?kind=${resource.namespace}">Resources</a> / ${kind} ${id}</span></p>
${live('object', [
  head(name === '' ? `${capital(kind)} ${id}` : foreign(name), status ? jobBadge(status) : '', [
    ...(running ? jobActions({ ...running, id }) : []),
    linkButton(`/requests?q=id:${id}&repeats=all`, 'Show its requests'),
  ]),
  reasonNote(service, resource),
  facts([
    ['Account', foreign(resource.account.email)],
    ['Details', detailsOf(resource, now)],
    ['Polled by your client', pollsText(service, requests, id)],
  ]),
  html`<h2>Its story</h2>
${earlier > 0 ? html`<p><a href="/resources/${id}?all">${count(earlier)} before</a></p>` : ''}
<ol class="steps">${shown.map((chapter, index) => [gapOf(chapter, shown[index - 1]), chapterElement(chapter, now)])}</ol>`,
])}
${endDialog()}`,
  };
}

/** Most chapters that are shown at first. */
const MAX_CHAPTERS = 60;

function reasonNote(service: Service, resource: ShownResource): Html | '' {
  const reason = reasonOf(service, resource);
  const { status } = resource;
  if (reason === undefined || !status) return '';
  const needsInfo = status.id === 107;
  const gets = html`Your client gets a <code>${needsInfo ? 'JobNeedsInfoError' : 'JobFailedError'}</code>.`;
  return note(needsInfo ? 'warn' : 'bad', html`${needsInfo ? 'Needs information' : 'Ended'}: <bdi>${reason}</bdi>`, {
    details: [html`Only the console shows this reason, as with the service. ${gets}`],
  });
}

const isPollOf = ({ method, path, status }: LogEntry, id: number): boolean =>
  method === 'GET' && status < 400 && path.endsWith(`/${id}`);

/** Returns how often the client has read a resource, and when the last time. */
function pollsText({ clock }: Service, requests: readonly LogEntry[], id: number): string {
  const polls = requests.filter((entry) => isPollOf(entry, id));
  const latest = polls.at(-1);
  if (!latest) return 'never';
  const times = polls.length === 1 ? 'once' : `${count(polls.length)} times`;
  return `${times}, the last time ${relativeText(Date.parse(latest.at) - clock.now())}`;
}

/** Returns what happened, in the order of the sandbox's clock; at one time, the request is before what follows from it. */
function storyOf(console: ConsoleContext, resource: ShownResource, requests: readonly LogEntry[]): readonly Chapter[] {
  const { service, history } = console;
  const { id } = resource;
  const creator = requests.find((entry) => createdBy(console, entry) === id);
  const groups = groupDeliveries(service.webhooks.attempts, service.clock.now()).filter((group) => isAbout(group, id));
  const changes = history.changesOf(id);
  const end = (changes.at(-1)?.requests ?? 0) + 0.7;
  const chapters = [
    ...(creator ? [{ ...requestChapter(console, creator, id), order: -1 }] : []),
    ...changes.map((change) => statusChapter(service, change)),
    ...groups.toReversed().map((group) => deliveryChapter(group, service.clock.now(), end)),
    ...requests.filter((entry) => entry !== creator).map((entry) => requestChapter(console, entry, id)),
  ];
  return withPolls(
    chapters.sort((a, b) => a.at - b.at || a.order - b.order),
    id,
  );
}

const isAbout = ({ event: { body } }: DeliveryGroup, id: number): boolean => {
  if (!body.includes(`"id":${id},`)) return false;
  const { data }: { readonly data?: { readonly id?: unknown } } = Object(JSON.parse(body));
  return data?.id === id;
};

const TONES = { accepted: 'good', refused: 'warn', failed: 'bad' } as const;

function requestChapter(console: ConsoleContext, entry: LogEntry, id: number): Chapter {
  const key = console.recorder.find(entry)?.headers.get('idempotency-key');
  const link = html`<a href="/requests/${entry.id}">${entry.method} ${entry.path}</a>`;
  const more = entry.status < 400 && key ? html`<span class="soft">idempotency key <bdi>${key}</bdi></span>` : '';
  const reason = reasonLine(entry, console.service.clock.now());
  return {
    at: Date.parse(entry.at),
    order: numberOf(entry.id),
    tone: TONES[outcomeOf(entry)],
    content: [httpBadge(entry.status), link, more, reason === '' ? '' : html`<span>${reason}</span>`],
    isPoll: isPollOf(entry, id),
  };
}

function statusChapter(service: Service, change: StatusChange): Chapter {
  const { at, status, outcome, cause, inConsole, requests } = change;
  const tone = outcome === undefined ? '' : outcome === 'completed' ? 'good' : outcome === 'needsInfo' ? 'warn' : 'bad';
  const reason = outcome === undefined ? undefined : reasonOf(service, change);
  const by =
    cause === 'cancel' ? 'cancelled' : inConsole ? 'ended by you, in the console' : 'ended by sandbox.jobs.finish';
  return {
    at,
    order: requests + 0.5,
    tone,
    content: [jobBadge(status), reason === undefined ? '' : html`<span><bdi>${reason}</bdi></span>`],
    ...(cause !== 'job' && { gap: by }),
  };
}

function deliveryChapter(group: DeliveryGroup, now: number, order: number): Chapter {
  const { event, latest, retryAt, state, attempts } = group;
  const { id, type, endpoint } = event;
  const isGood = state === 'delivered';
  const next = retryAt === undefined ? '' : html`, next ${timeElement(retryAt, now)}`;
  const progress = isGood ? '' : html`<span>attempt ${latest.delivery.attempt} of 6${next}</span>`;
  const link = html`<a href="/deliveries?event=${id}&to=${endpoint.id}#detail"><code>${id.slice(0, 14)}…</code></a>`;
  return {
    at: attempts[0]?.delivery.at ?? latest.delivery.at,
    order,
    tone: isGood ? 'good' : 'bad',
    content: [
      html`<b>${type}</b> <span>to ${foreign(endpoint.name)}</span>`,
      [responseBadge(latest), progress, link, isGood ? '' : redeliver(id, '/api', 'small')],
    ],
  };
}

/** Puts polls that follow one another into one line. */
function withPolls(chapters: readonly Chapter[], id: number): readonly Chapter[] {
  const result: Chapter[] = [];
  let polls = 0;
  for (const [index, chapter] of chapters.entries()) {
    if (!chapter.isPoll) result.push(chapter);
    else {
      polls++;
      if (chapters[index + 1]?.isPoll) continue;
      const text = `${count(polls)} ${polls === 1 ? 'poll' : 'polls'}`;
      const link = html`<a href="/requests?q=path:/${id}&method=GET&repeats=all">${text}</a>`;
      const before = result.at(-1);
      // In the line of the status that they have read.
      if (before) result[result.length - 1] = { ...before, content: [before.content, link] };
      else result.push({ ...chapter, content: link });
      polls = 0;
    }
  }
  return result;
}

/** Returns what was between two chapters: who has acted, or the time. */
function gapOf({ at, order, gap }: Chapter, before: Chapter | undefined): Html | '' {
  if (!before || (gap === undefined && at === before.at && order === before.order)) return '';
  const ms = at - before.at;
  const text = gap ?? (ms < 1_000 ? 'same time' : `${durationText(ms)} later`);
  return html`<li class="gap">${text}</li>`;
}

const chapterElement = ({ at, tone, content }: Chapter, now: number): Html =>
  html`<li class="${tone === '' ? '' : `is-${tone}`}"><div><b>${timeElement(at, now)}</b> ${content}</div></li>`;
