import { html } from 'hono/html';
import { type RunningJob, statusOf } from '../../jobs.ts';
import type { Service } from '../../service.ts';
import type { ConsoleContext } from '../console-context.ts';
import { formDialog, opener, select } from '../forms.ts';
import { type Content, emptyState, type Html, head, jobBadge, linkButton } from '../html.ts';
import type { Page } from '../layout.ts';
import { listView, search } from '../lists.ts';
import { resourceLink, type ShownResource } from '../objects.ts';
import { chosenAccount } from '../shown-accounts.ts';
import { smallTrack } from '../tracks.ts';
import { relativeText, serviceTime } from '../words.ts';
import { SEND } from './requests-page.ts';

const OUTCOMES = [104, 107, 400, 404, 422, 499].map((id) => [id, `${id} ${statusOf(id).name}`] as const);

/** A running job, with its start and end. */
interface TimedJob extends RunningJob {
  readonly id: number;
  readonly end: number;
  /** Status that it ends with. */
  readonly endsAs: number;
}

/** The running jobs, and the outcomes of the next ones. */
export function jobsPage(console: ConsoleContext, query: URLSearchParams): Page {
  const { service } = console;
  const account = chosenAccount(console, query);
  const all = timedJobs(service);
  const jobs = all.filter((job) => !account || job.account === account);
  const matching = search(jobs, query, ({ kind: own, id, name, account }) => `${own} ${id} ${name} ${account.email}`);
  return {
    title: 'Jobs',
    content: html`${head('Jobs')}
${jobList(query, matching, all.length, service.clock.now())}${endDialog()}`,
  };
}

const jobList = (query: URLSearchParams, matching: readonly TimedJob[], total: number, now: number): readonly Html[] =>
  listView({
    path: '/jobs',
    query,
    id: 'jobs',
    placeholder: 'Name, kind, id or account',
    matching,
    total,
    keyOf: ({ id }) => id,
    caption: 'Running jobs, the newest first',
    columns: [
      ['Name', '', (job) => html`${resourceLink(job)} <small>${job.kind} ${job.id}</small>`, 'main'],
      ['Status', 'w4', (job) => jobBadge(job.resource.status), 'state'],
      ['Ends', 'w3', (job) => endText(job, now), 'wrap'],
      ['Progress', 'w3', (job) => progress(job, now), 'full'],
      ['Actions', 'w1', endButton, 'right'],
    ],
    empty: emptyState(
      'No job is running',
      'Creating an audience, lookalike, estimate, activation or cohort starts one.',
      html`<p class="acts">${SEND} ${linkButton('/resources', 'See the ended ones')}</p>`,
    ),
  });

const endText = ({ end, endsAs }: TimedJob, now: number): string =>
  `${relativeText(end - now)}${endsAs === 104 || endsAs === 4 ? '' : `, as ${endsAs}`}`;

function timedJobs({ jobs, clock }: Service): TimedJob[] {
  const ends = new Map(
    clock.tasks.flatMap(({ task, time }) => (task.type === 'job-end' ? [[task.id, time] as const] : [])),
  );
  const running = [...jobs.saved.running.values()].map((job) => {
    const { id } = job.resource;
    return { ...job, id, end: ends.get(id) ?? clock.now(), endsAs: jobs.endStatus(job.kind, job.outcome.status) };
  });
  return running.sort((a, b) => b.id - a.id);
}

/** Returns the elapsed share of a job's duration, if its creation time is known. */
function progress({ resource, end, kind, id }: TimedJob, now: number): Content {
  const created = serviceTime(resource.created_at);
  if (created === undefined || end <= created) return '';
  const share = Math.max(0, Math.min(100, Math.round(((now - created) / (end - created)) * 100)));
  const passed = { from: created, to: Math.min(now, end), tone: 'busy', title: `${share} % has passed` } as const;
  const planned = { from: passed.to, to: end, tone: 'busy', title: 'planned', isPlanned: true } as const;
  return smallTrack(
    { label: `${share} % of ${kind} ${id}`, spans: [passed, planned] },
    { from: created, to: end, now },
  );
}

/** Returns the button that ends a job. */
export function endButton({ kind, id, name }: Pick<ShownResource, 'kind' | 'id' | 'name'>): Html {
  const about = `${kind} ${id}${name && ` “${name}”`}`;
  return opener('end', 'End…', { label: `End ${kind} ${id}`, style: 'small', about, values: { kind, id } });
}

const REASON = html`<label>Reason <textarea name="reason"></textarea><small>The console shows it; the API does not</small></label>`;

/** Returns the dialog in which a job ends. */
export const endDialog = (): Html =>
  formDialog('end', html`End <bdi data-name>the job</bdi>`, 'POST /api/jobs/finish', 'End the job', {
    lead: 'A cohort has other statuses: 4 for 104, and 5 for the others.',
    fields: [
      html`<input type="hidden" name="kind"><input type="hidden" name="id" data-type="number">`,
      select('Status', 'status', OUTCOMES),
      REASON,
    ],
  });
