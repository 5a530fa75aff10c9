import { html } from 'hono/html';
import { statusOf } from '../../jobs.ts';
import type { Service } from '../../service.ts';
import type { ConsoleContext } from '../console-context.ts';
import { formDialog, opener, select } from '../forms.ts';
import { emptyState, type Html, head, jobBadge, linkButton, timeElement } from '../html.ts';
import type { Page } from '../layout.ts';
import { listView, search } from '../lists.ts';
import { nameText, resourceLink, type ShownResource } from '../objects.ts';
import { chosenAccount } from '../shown-accounts.ts';
import { relativeText } from '../words.ts';
import { SEND } from './requests-page.ts';

type TimedJob = ReturnType<typeof timedJobs>[number];

export function jobsPage(console: ConsoleContext, query: URLSearchParams): Page {
  const { service } = console;
  const account = chosenAccount(console, query);
  const all = timedJobs(service);
  const jobs = all.filter((job) => !account || job.account === account);
  const matching = search(jobs, query, ({ kind: own, id, name, account }) => `${own} ${id} ${name} ${account.email}`);
  const list = listView({
    path: '/jobs',
    query,
    id: 'jobs',
    placeholder: 'Name, kind, id or account',
    matching,
    total: all.length,
    keyOf: ({ id }) => id,
    caption: 'Running jobs, newest first',
    columns: [
      ['Name', '', (job) => html`${resourceLink(job)} <small>${job.name && `${job.kind} ${job.id}`}</small>`, 'main'],
      ['Status', 'w4', (job) => jobBadge(job.resource.status), 'state'],
      ['Ends', 'w5', (job) => endText(job, service.clock.now())],
      ['Actions', 'w1', endButton, 'right'],
    ],
    empty: emptyState(
      'No job is running',
      'Creating an audience, lookalike, estimate, activation or cohort starts a job.',
      html`<p class="acts">${SEND} ${linkButton('/resources', 'Show the resources')}</p>`,
    ),
  });
  return { title: 'Jobs', content: [head('Jobs'), list, END_DIALOGS] };
}

const endText = ({ end, endsAs }: TimedJob, now: number): Html =>
  html`${timeElement(end, now)}, ${relativeText(end - now)}${endsAs === 104 || endsAs === 4 ? '' : `, as ${endsAs}`}`;

function timedJobs({ jobs, clock }: Service) {
  const ends = new Map(
    clock.tasks.flatMap(({ task, time }) => (task.type === 'job-end' ? [[task.id, time] as const] : [])),
  );
  const running = [...jobs.saved.running.values()].map((job) => {
    const { id } = job.resource;
    return { ...job, id, end: ends.get(id) ?? clock.now(), endsAs: jobs.endStatus(job.kind, job.outcome.status) };
  });
  return running.sort((a, b) => b.id - a.id);
}

export function endButton(job: Pick<ShownResource, 'kind' | 'id' | 'name'>): Html {
  const { kind, id } = job;
  const opens = { label: `End ${kind} ${id}`, style: 'small', about: nameText(job), values: { kind, id } };
  return opener(kind === 'cohort' ? 'end-cohort' : 'end', 'End…', opens);
}

function endDialog(id: string, statuses: readonly number[]): Html {
  const choices = statuses.map((status) => [status, `${status} ${statusOf(status).name}`] as const);
  return formDialog(id, html`End <bdi data-name>the job</bdi>`, 'POST /api/jobs/finish', 'End the job', {
    fields: [
      html`<input type="hidden" name="kind"><input type="hidden" name="id" data-type="number">`,
      select('Status', 'status', choices),
      html`<label>Reason <textarea name="reason"></textarea><small>The console shows it; the API does not</small></label>`,
    ],
  });
}

export const END_DIALOGS: readonly Html[] = [
  endDialog('end', [104, 107, 400, 404, 422, 499]),
  endDialog('end-cohort', [4, 5]),
];
