import { html } from 'hono/html';
import { type RunningJob, statusOf } from '../../jobs.ts';
import type { Service } from '../../service.ts';
import { actionForm, type Content, input, jobBadge, live, select, table, timeElement } from '../html.ts';
import type { Page } from '../layout.ts';
import type { ConsoleContext } from '../operator-api.ts';

const KINDS = ['audience', 'lookalike', 'estimate', 'activation', 'cohort'].map((kind) => [kind, kind] as const);
const STATUSES = [104, 107, 400, 422].map((id) => [id, `${id} ${statusOf(id).name}`] as const);

/** The running jobs, and the outcome of the next one. */
export function jobsPage({ service }: ConsoleContext): Page {
  const running = [...service.jobs.saved.running.values()];
  return {
    title: 'Jobs',
    content: [
      live(
        'jobs',
        table(
          'Running jobs, the oldest first',
          ['Job', 'Name', 'Account', 'Status', 'Ends', 'Finish as'],
          running.map((job) => row(service, job)),
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

function row({ clock }: Service, { kind, name, account, resource, outcome }: RunningJob): Content[] {
  const { id } = resource;
  const end = clock.tasks.find(({ task }) => task.type === 'job-end' && task.id === id);
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
    end ? html`${timeElement(end.time, clock.now())} at ${outcome.status}` : '',
    html`<div class="actions">${STATUSES.map(([status]) => finish(status))}</div>`,
  ];
}
