import { html } from 'hono/html';
import type { Service } from '../../service.ts';
import type { LogEntry } from '../../state.ts';
import type { ConsoleContext } from '../console-context.ts';
import { type DeliveryGroup, groupDeliveries } from '../delivery-groups.ts';
import type { StatusChange } from '../history.ts';
import {
  type Content,
  facts,
  foreign,
  type Happening,
  type Html,
  head,
  httpBadge,
  jobBadge,
  linkButton,
  live,
  note,
  timeElement,
  timeline,
} from '../html.ts';
import type { Page } from '../layout.ts';
import { numberOf } from '../lists.ts';
import { findResource, reasonText, type ShownResource } from '../objects.ts';
import { reasonLine, toneOf } from '../request-reason.ts';
import { createdBy, keptText, requestsAbout } from '../request-search.ts';
import { capital, count, counted, relativeText } from '../words.ts';
import { redeliver, responseBadge, subjectIdOf } from './deliveries-page.ts';
import { endDialogs, jobActions } from './jobs-page.ts';
import { detailsOf } from './resource-pages.ts';

/** Something that happened to a resource, or because of it. */
interface Chapter extends Omit<Happening, 'content'> {
  readonly parts: readonly Content[];
  /** Rank among the chapters of the same time. */
  readonly order: number;
  /** Set for a poll: many are one line. */
  readonly isPoll?: boolean;
}

/** One resource, with its story: the request that created it, its statuses, polls, deliveries, and requests that name it. */
export function objectPage(console: ConsoleContext, id: number, query: URLSearchParams): Page | undefined {
  const resource = findResource(console.service, id);
  if (!resource) return undefined;
  const { kind, namespace } = resource;
  const requests = requestsAbout(console, id);
  const story = storyOf(console, resource, requests);
  const path = html`<a href="/resources?kind=${namespace}">Resources</a> / ${kind} ${id}`;
  return {
    title: `${capital(kind)} ${id}`,
    content: html`<p class="crumb"><span>${path}</span></p>
${live('object', [summaryOf(console.service, resource, requests), storySection(story, id, console.service.clock.now(), query.has('all'))])}
${endDialogs()}`,
  };
}

function summaryOf(service: Service, resource: ShownResource, requests: readonly LogEntry[]): readonly (Html | '')[] {
  const { id, kind, name, status, account } = resource;
  const running = service.jobs.saved.running.get(id);
  return [
    head(name === '' ? `${capital(kind)} ${id}` : foreign(name), status ? jobBadge(status) : '', [
      ...(running ? jobActions({ ...running, id }) : []),
      linkButton(`/requests?q=id:${id}&repeats=all`, 'Show its requests'),
    ]),
    reasonNote(service, resource),
    facts([
      ['Account', foreign(account.email)],
      ['Details', detailsOf(resource, service.clock.now())],
      ['Polled by your client', pollsText(service, requests, id)],
    ]),
  ];
}

/** Most chapters that are shown at first. */
const MAX_CHAPTERS = 60;

function storySection(chapters: readonly Chapter[], id: number, now: number, isAll: boolean): Html {
  const shown = isAll ? chapters : chapters.slice(-MAX_CHAPTERS);
  const earlier = chapters.length - shown.length;
  const more = earlier > 0 ? html`<p><a href="/resources/${id}?all">${count(earlier)} before</a></p>` : '';
  return html`<h2>Its story</h2>${more}${timeline(shown.map((chapter) => ({ ...chapter, content: contentOf(chapter, now) })))}`;
}

function reasonNote(service: Service, resource: ShownResource): Html | '' {
  const reason = reasonText(service, resource);
  if (reason === '' || !resource.status) return '';
  const needsInfo = resource.status.id === 107;
  const gets = html`Your client gets a <code>${needsInfo ? 'JobNeedsInfoError' : 'JobFailedError'}</code>.`;
  return note(needsInfo ? 'warn' : 'bad', html`${needsInfo ? 'Needs information' : 'Ended'}: <bdi>${reason}</bdi>`, {
    details: [html`Only the console shows this reason, as with the service. ${gets}`],
  });
}

const isPollOf = ({ method, path, status }: LogEntry, id: number): boolean =>
  method === 'GET' && status < 400 && path.endsWith(`/${id}`);

function pollsText({ clock, state }: Service, requests: readonly LogEntry[], id: number): string {
  const polls = requests.filter((entry) => isPollOf(entry, id));
  const latest = polls.at(-1);
  const among = keptText(state) && ` among ${keptText(state)}`;
  if (!latest) return `never${among}`;
  const times = polls.length === 1 ? 'once' : `${count(polls.length)} times`;
  return `${times}${among}, the last time ${relativeText(Date.parse(latest.at) - clock.now())}`;
}

/** Returns what happened, in the order of the sandbox's clock; at one time, the request is before what follows from it. */
function storyOf(console: ConsoleContext, { id }: ShownResource, requests: readonly LogEntry[]): readonly Chapter[] {
  const { service, history } = console;
  const now = service.clock.now();
  const isCreate = (entry: LogEntry): boolean => createdBy(console, entry) === id;
  const groups = groupDeliveries(service.webhooks.attempts, now).filter((group) => isAbout(group, id));
  const changes = history.changesOf(id);
  const end = (changes.at(-1)?.requests ?? 0) + 0.7;
  const chapters = [
    ...changes.map((change) => statusChapter(service, change)),
    ...groups.reverse().map((group, index) => ({ ...deliveryChapter(group, now, end), ...(index > 0 && { gap: '' }) })),
    ...requests.map((entry) => requestChapter(console, entry, id, isCreate(entry) ? -1 : numberOf(entry.id))),
  ];
  return withPolls(
    chapters.sort((a, b) => a.at - b.at || a.order - b.order),
    id,
  );
}

const isAbout = ({ event }: DeliveryGroup, id: number): boolean =>
  event.body.includes(`"id":${id},`) && subjectIdOf(event) === id;

const contentOf = ({ at, parts }: Chapter, now: number): Html =>
  html`<div><b>${timeElement(at, now)}</b> ${parts}</div>`;

function requestChapter(console: ConsoleContext, entry: LogEntry, id: number, order: number): Chapter {
  const kept = console.recorder.find(entry);
  // When it began: what it has done is before its end.
  const at = kept?.started.time ?? Date.parse(entry.at);
  const key = kept?.headers.get('idempotency-key');
  const link = html`<a href="/requests/${entry.id}">${entry.method} ${entry.path}</a>`;
  const more = entry.status < 400 && key ? html`<span class="soft">idempotency key <bdi>${key}</bdi></span>` : '';
  const reason = reasonLine(entry);
  const parts = [httpBadge(entry.status), link, more, reason === '' ? '' : html`<span>${reason}</span>`];
  return { at, order, tone: toneOf(entry), parts, isPoll: isPollOf(entry, id) };
}

const OUTCOME_TONES = { completed: 'good', needsInfo: 'warn', failed: 'bad' } as const;

function statusChapter(service: Service, change: StatusChange): Chapter {
  const { at, status, outcome, cause, inConsole, requests } = change;
  const reason = outcome === undefined ? '' : reasonText(service, change);
  const by = inConsole ? 'ended by you, in the console' : 'ended by sandbox.jobs.finish';
  const parts = [jobBadge(status), reason === '' ? '' : html`<span><bdi>${reason}</bdi></span>`];
  return {
    at,
    order: requests + 0.5,
    tone: outcome === undefined ? '' : OUTCOME_TONES[outcome],
    parts,
    ...(cause !== 'job' && { gap: cause === 'cancel' ? 'cancelled' : by }),
  };
}

function deliveryChapter(group: DeliveryGroup, now: number, order: number): Chapter {
  const { event, at, latest, retryAt, state } = group;
  const { id, type, endpoint } = event;
  const isGood = state === 'delivered';
  const next = retryAt === undefined ? '' : html`, next ${timeElement(retryAt, now)}`;
  const progress = isGood ? '' : html`<span>attempt ${latest.delivery.attempt} of 6${next}</span>`;
  const link = html`<a href="/deliveries?event=${id}&to=${endpoint.id}#detail"><code>${id.slice(0, 14)}…</code></a>`;
  const title = html`<b>${type}</b> <span>to ${foreign(endpoint.name)}</span>`;
  const parts = [title, responseBadge(latest), progress, link, isGood ? '' : redeliver(id, 'small')];
  return { at, order, tone: isGood ? 'good' : 'bad', parts };
}

/** Puts polls that follow one another into the line of what they have read. */
function withPolls(chapters: readonly Chapter[], id: number): readonly Chapter[] {
  const result: Chapter[] = [];
  let polls = 0;
  for (const [index, chapter] of chapters.entries()) {
    if (!chapter.isPoll) result.push(chapter);
    else polls++;
    if (polls === 0 || chapters[index + 1]?.isPoll) continue;
    const link = html`<a href="/requests?q=path:/${id}&method=GET&repeats=all">${counted(polls, 'poll')}</a>`;
    const before = result.pop();
    result.push({ ...(before ?? chapter), parts: [...(before?.parts ?? []), link] });
    polls = 0;
  }
  return result;
}
