import { html } from 'hono/html';
import { statusOf } from '../../jobs.ts';
import type { Service } from '../../service.ts';
import { actionForm } from '../forms.ts';
import { type Content, foreign, type Html, jobBadge } from '../html.ts';
import { table, twoLines } from '../lists.ts';
import { isJobKind, NAMESPACES, reasonText, resourcesOf, type ShownResource } from '../objects.ts';
import { durationText } from '../words.ts';

/** Returns the outcomes of the next jobs. */
export function queuedOutcomes({ jobs }: Service): Content {
  if (jobs.queued.length === 0) return '';
  const entries = jobs.queued.map(({ kind, outcome }) => {
    return { kind, ...(typeof outcome === 'number' ? { status: outcome } : outcome) };
  });
  const remove = actionForm({ action: 'DELETE /api/jobs/next', submit: 'Remove all outcomes', style: 'small' });
  return [
    table({
      caption: 'Queued outcomes, the next one first',
      columns: [
        ['Kind and reason', '', ({ kind, reason }) => twoLines(kind, reason ? foreign(reason) : ''), 'two main cut'],
        ['Ends as', 'w11', ({ status }) => jobBadge(statusOf(status)), 'side2'],
        ['After', 'w6', ({ duration }) => (duration === undefined ? '' : durationText(duration)), 'named'],
      ],
      entries,
    }),
    html`<div class="acts">${remove}</div>`,
  ];
}

const MAX_ENDED = 8;

/** Returns the jobs that have ended, the latest first. */
export function recentlyEnded(service: Service): Html {
  const resources = [...service.state.accounts.values()].flatMap((account) =>
    NAMESPACES.flatMap((namespace) => resourcesOf(account, namespace, -MAX_ENDED)),
  );
  const ended = resources.filter(({ kind, id }) => isJobKind(kind) && !service.jobs.saved.running.has(id));
  const timeOf = (one: (typeof ended)[number]): string => String(one.fields.updated_at ?? '');
  return table({
    caption: 'Jobs that have ended, the latest first',
    columns: [
      ['Job and reason', '', (one) => jobLines(service, one), 'two main cut'],
      ['Ended as', 'w12', ({ status }) => (status ? jobBadge(status) : ''), 'side2'],
      ['At', 'w7', (one) => html`<time class="num">${timeOf(one).slice(11)}</time>`],
    ],
    entries: ended.sort((a, b) => timeOf(b).localeCompare(timeOf(a)) || b.id - a.id).slice(0, MAX_ENDED),
    empty: html`<p class="soft">None has ended yet.</p>`,
  });
}

function jobLines(service: Service, { kind, id }: ShownResource): Html {
  const reason = reasonText(service, { kind, id });
  const link = html`<a class="row" href="/resources/${id}"><b>${kind}</b> <span class="num">${id}</span></a>`;
  return twoLines(link, reason && foreign(reason));
}
