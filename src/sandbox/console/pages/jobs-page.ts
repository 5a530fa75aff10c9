import { html } from 'hono/html';
import { statusOf } from '../../jobs.ts';
import type { Service } from '../../service.ts';
import type { ConsoleContext } from '../console-context.ts';
import { formDialog, opener, select } from '../forms.ts';
import { emptyState, type Html, head, jobBadge, linkButton } from '../html.ts';
import type { Page } from '../layout.ts';
import { listView, search } from '../lists.ts';
import { resourceLink, type ShownResource } from '../objects.ts';
import { chosenAccount } from '../shown-accounts.ts';
import { relativeText } from '../words.ts';
import { SEND } from './requests-page.ts';

const OUTCOMES = [104, 107, 400, 404, 422, 499].map((id) => [id, `${id} ${statusOf(id).name}`] as const);

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
    caption: 'Running jobs, the newest first',
    columns: [
      ['Name', '', (job) => html`${resourceLink(job)} <small>${job.kind} ${job.id}</small>`, 'main'],
      ['Status', 'w4', (job) => jobBadge(job.resource.status), 'state'],
      ['Ends', 'w3', (job) => endText(job, service.clock.now()), 'wrap'],
      ['Actions', 'w1', endButton, 'right'],
    ],
    empty: emptyState(
      'No job is running',
      'Creating an audience, lookalike, estimate, activation or cohort starts one.',
      html`<p class="acts">${SEND} ${linkButton('/resources', 'Show the resources')}</p>`,
    ),
  });
  return { title: 'Jobs', content: [head('Jobs'), list, endDialog()] };
}

const endText = ({ end, endsAs }: TimedJob, now: number): string =>
  `${relativeText(end - now)}${endsAs === 104 || endsAs === 4 ? '' : `, as ${endsAs}`}`;

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

export function endButton({ kind, id, name }: Pick<ShownResource, 'kind' | 'id' | 'name'>): Html {
  const about = `${kind} ${id}${name && ` “${name}”`}`;
  return opener('end', 'End…', { label: `End ${kind} ${id}`, style: 'small', about, values: { kind, id } });
}

const REASON = html`<label>Reason <textarea name="reason"></textarea><small>The console shows it; the API does not</small></label>`;

export const endDialog = (): Html =>
  formDialog('end', html`End <bdi data-name>the job</bdi>`, 'POST /api/jobs/finish', 'End the job', {
    lead: 'A cohort ends with status 4 in place of 104, and with status 5 in place of the others.',
    fields: [
      html`<input type="hidden" name="kind"><input type="hidden" name="id" data-type="number">`,
      select('Status', 'status', OUTCOMES),
      REASON,
    ],
  });
