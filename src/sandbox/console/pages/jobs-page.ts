import { html } from 'hono/html';
import { type RunningJob, statusOf } from '../../jobs.ts';
import type { Service } from '../../service.ts';
import { actionForm, type Content, durationText, input, jobBadge, live, select, table, timeElement } from '../html.ts';
import type { Page } from '../layout.ts';
import type { ConsoleContext } from '../operator-api.ts';

const MAX_ROWS = 100;

const KINDS = ['audience', 'lookalike', 'estimate', 'activation', 'cohort'].map((kind) => [kind, kind] as const);
const STATUSES = [104, 107, 400, 422].map((id) => [id, `${id} ${statusOf(id).name}`] as const);

/** The running jobs, and the outcome of the next one. */
export function jobsPage({ service }: ConsoleContext): Page {
  const running = [...service.jobs.saved.running.values()].slice(0, MAX_ROWS);
  const ends = new Map(
    service.clock.tasks.flatMap(({ task, time }) => (task.type === 'job-end' ? [[task.id, time]] : [])),
  );
  return {
    title: 'Jobs',
    content: [
      live(
        'jobs',
        table(
          `Running jobs, the oldest first, up to ${MAX_ROWS}`,
          ['Job', 'Name', 'Account', 'Status', 'Ends', 'Finish as'],
          running.map((job) => row(job, ends.get(job.resource.id), service.clock.now())),
          'No job is running. A create request starts one.',
        ),
      ),
      html`<h2>Outcome of the next job</h2>
<p>Several outcomes of a kind queue up.</p>`,
      live('queued', queuedOutcomes(service)),
      html`${actionForm({
        action: 'POST /api/jobs/next',
        submit: 'Queue the outcome',
        fields: [
          select('Kind', 'kind', KINDS),
          select('Status', 'status', STATUSES),
          input('Reason', 'reason', { placeholder: 'shown in the console only' }),
          input('Duration in seconds', 'duration', { type: 'number', min: 0, step: 'any', 'data-factor': 1000 }),
        ],
      })}`,
    ],
  };
}

function row({ kind, name, account, resource, outcome }: RunningJob, end: number | undefined, now: number): Content[] {
  const { id } = resource;
  const buttons = STATUSES.map(
    ([status, text]) =>
      html`<button name="status" value="${status}" data-type="number" aria-label="Finish ${kind} ${id} as ${text}">${status}</button>`,
  );
  return [
    `${kind} ${id}`,
    name,
    account.email,
    jobBadge(resource.status),
    end === undefined ? '' : html`${timeElement(end, now)} at ${outcome.status}`,
    html`<form class="actions" method="post" data-action="POST /api/jobs/finish">
<input type="hidden" name="kind" value="${kind}"><input type="hidden" name="id" value="${id}" data-type="number">
<input name="reason" placeholder="Reason" aria-label="Reason for ${kind} ${id}" size="12">${buttons}</form>`,
  ];
}

function queuedOutcomes({ jobs }: Service): Content {
  if (jobs.queued.length === 0) return '';
  return [
    table(
      'Queued outcomes, the next one first',
      ['Kind', 'Status', 'Reason', 'Duration'],
      jobs.queued.map(({ kind, outcome }) => {
        const { status, reason = '', duration } = typeof outcome === 'number' ? { status: outcome } : outcome;
        return [kind, jobBadge(statusOf(status)), reason, duration === undefined ? '' : durationText(duration)];
      }),
      '',
    ),
    actionForm({ action: 'DELETE /api/jobs/next', submit: 'Remove all outcomes' }),
  ];
}
