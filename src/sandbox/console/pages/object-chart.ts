import { html } from 'hono/html';
import type { LogEntry } from '../../state.ts';
import type { ConsoleContext } from '../console-context.ts';
import { deliveryLane } from '../delivery-groups.ts';
import { type Html, jobTone } from '../html.ts';
import { isJobKind, resourceLink, type ShownResource } from '../objects.ts';
import { chartCard, type Lane, type Mark, rangeOf, type Span } from '../tracks.ts';
import { counted, durationText, serviceTime } from '../words.ts';
import { isPollOf, type Story } from './object-story.ts';

const MAX_LANES = 8;

export function timeChart(story: Story, children: readonly ShownResource[]): Html | '' {
  const { console, resource, requests, groups, query } = story;
  if (!isJobKind(resource.kind)) return '';
  const now = console.service.clock.now();
  const own = jobLane(console, resource, 'Build');
  const later = children.filter(({ kind }) => isJobKind(kind));
  const lanes: readonly Lane[] = [
    own,
    ...pollLane(requests, resource.id),
    ...groups.toReversed().map(deliveryLane),
    ...later.slice(-MAX_LANES).map((one) => jobLane(console, one, resourceLink(one))),
  ];
  const [{ from } = { from: now }] = own.spans ?? [];
  const all = ['', 'All', rangeOf(lanes, now)] as const;
  const build = ['build', 'Build', { ...rangeOf([own], from), now }] as const;
  const hidden = later.length - MAX_LANES;
  const more = hidden > 0 ? html`<p class="soft">The chart omits ${counted(hidden, 'older job')}.</p>` : '';
  return html`${chartCard('Timeline', lanes, [all, build], `/resources/${resource.id}`, query)}${more}`;
}

function jobLane({ service, history }: ConsoleContext, resource: ShownResource, name: Lane['name']): Lane {
  const { id, fields, status } = resource;
  const { clock, jobs } = service;
  const now = clock.now();
  const isRunning = jobs.saved.running.has(id);
  const changes = history.changesOf(id);
  // Without an open console, nothing recorded the statuses.
  const from = changes[0]?.at ?? serviceTime(fields.created_at) ?? now;
  const to = isRunning ? now : (changes.at(-1)?.at ?? serviceTime(fields.updated_at) ?? from);
  const isEnded = !isRunning && status !== undefined;
  const end = clock.tasks.find(({ task }) => task.type === 'job-end' && task.id === id)?.time ?? now;
  const phases = changes.length > 0 ? changes : [{ at: from, status: status ?? { id: 0, name: '' } }];
  const spans = phases.flatMap(({ at, status: own }, index): Span[] => {
    const until = phases[index + 1]?.at ?? to;
    if (isEnded && index === phases.length - 1 && phases.length > 1) return [];
    const title = `${own.id} ${own.name}, ${durationText(until - at)}`;
    return [{ from: at, to: until, tone: isEnded ? jobTone(status.id) : 'busy', title }];
  });
  const planned: Span[] = isRunning ? [{ from: now, to: end, tone: 'busy', title: 'planned', isPlanned: true }] : [];
  const ended = isEnded ? `${status.id} ${status.name} after ${durationText(to - from)}` : '';
  return { name, label: isRunning ? `ends in ${durationText(end - now)}` : ended, spans: [...spans, ...planned] };
}

function pollLane(requests: readonly LogEntry[], id: number): readonly Lane[] {
  const polls = requests.filter((entry) => isPollOf(entry, id));
  if (polls.length === 0) return [];
  const marks = polls.map(({ at, status }): Mark => {
    return { at: Date.parse(at), tone: 'good', result: 'succeeded', title: `${at.slice(11, 19)}: ${status}` };
  });
  const name = html`<a href="/requests?q=path:/${id}+GET&repeats=all">${counted(polls.length, 'poll')}</a>`;
  return [{ name, label: counted(polls.length, 'successful poll'), marks }];
}
