import { html } from 'hono/html';
import { statusOf } from '../../jobs.ts';
import type { Service } from '../../service.ts';
import { actionForm } from '../forms.ts';
import { badge, type Content, durationText, foreign, jobBadge } from '../html.ts';
import { cell, row, table, twoLines } from '../lists.ts';

/** Returns the outcomes of the next jobs. */
export function queuedOutcomes({ jobs }: Service): Content {
  if (jobs.queued.length === 0) return '';
  return [
    table(
      'Queued outcomes, the next one first',
      [['Kind and reason'], ['Ends as', 'w11'], ['After', 'w6']],
      jobs.queued.map(({ kind, outcome }) => {
        const { status, reason: why = '', duration } = typeof outcome === 'number' ? { status: outcome } : outcome;
        return row([
          twoLines(kind, why === '' ? '' : foreign(why), 'main cut'),
          cell(jobBadge(statusOf(status)), 'side2'),
          cell(duration === undefined ? '' : durationText(duration), '', 'After'),
        ]);
      }),
      '',
    ),
    html`<div class="acts">${actionForm({ action: 'DELETE /api/jobs/next', submit: 'Remove all outcomes', style: 'small' })}</div>`,
  ];
}

const MAX_ENDED = 8;

/** The jobs that have ended with a status that needs a reason, and the latest others. */
export function recentlyEnded({ state, jobs }: Service): Content {
  const ended = [...state.accounts.values()].flatMap((account) =>
    [
      ...[...account.audiences.values()]
        .slice(-MAX_ENDED)
        .map((one) => [one.is_lookalike ? 'lookalike' : 'audience', one] as const),
      ...[...account.estimates.values()].slice(-MAX_ENDED).map((one) => ['estimate', one] as const),
      ...[...account.activations.values()].slice(-MAX_ENDED).map((one) => ['activation', one] as const),
      ...[...account.cohorts.values()].slice(-MAX_ENDED).map((one) => ['cohort', one] as const),
    ].filter(([, { id }]) => !jobs.saved.running.has(id)),
  );
  const latest = ended.sort(
    ([, a], [, b]) => String(b.updated_at ?? '').localeCompare(String(a.updated_at ?? '')) || b.id - a.id,
  );
  return table(
    'Jobs that have ended, the latest first',
    [['Job and reason'], ['Ended as', 'w12'], ['At', 'w7']],
    latest
      .slice(0, MAX_ENDED)
      .map(([kind, { id, status, updated_at }]) =>
        row([
          twoLines(
            html`<a class="row" href="/resources/${id}"><b>${kind}</b> ${id}</a>`,
            jobs.reason(kind, id) === undefined ? '' : foreign(jobs.reason(kind, id) ?? ''),
            'main cut',
          ),
          cell(status ? jobBadge(status) : badge('', 'none'), 'side2'),
          cell(typeof updated_at === 'string' ? html`<time class="num">${updated_at.slice(11)}</time>` : ''),
        ]),
      ),
    html`<p class="soft">None has ended yet.</p>`,
  );
}
