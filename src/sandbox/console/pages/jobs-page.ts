import { html } from 'hono/html';
import { type RunningJob, statusOf } from '../../jobs.ts';
import { actionForm, type Content, input, jobBadge, live, select, table, timeElement } from '../html.ts';
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
<p>Several outcomes of a kind queue up.</p>
${actionForm({
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
  const finish = (status: number): Content =>
    actionForm({
      action: 'POST /api/jobs/finish',
      submit: String(status),
      values: { kind, id, status },
      label: `Finish ${kind} ${id} as ${status} ${statusOf(status).name}`,
    });
  return [
    `${kind} ${id}`,
    name,
    account.email,
    jobBadge(resource.status),
    end === undefined ? '' : html`${timeElement(end, now)} at ${outcome.status}`,
    html`<div class="actions">${STATUSES.map(([status]) => finish(status))}</div>`,
  ];
}
