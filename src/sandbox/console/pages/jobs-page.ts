import { html } from 'hono/html';
import { type JobKind, type RunningJob, statusOf } from '../../jobs.ts';
import type { Service } from '../../service.ts';
import type { AccountRecord } from '../../state.ts';
import type { ConsoleContext } from '../console-context.ts';
import { actionForm, formDialog, input, opener, secondsInput, select } from '../forms.ts';
import { type Content, emptyState, foreign, type Html, head, jobBadge, live, timeElement } from '../html.ts';
import type { Page } from '../layout.ts';
import { listView, search, segments, table, twoLines } from '../lists.ts';
import { isJobKind, NAMESPACES, reasonText, resourcesOf, type ShownResource } from '../objects.ts';
import { chosenAccount, shownAccounts } from '../shown-accounts.ts';
import { count, durationText, relativeText } from '../words.ts';
import { SEND } from './requests-page.ts';

const KINDS: readonly (readonly [kind: JobKind, plural: string])[] = [
  ['audience', 'Audiences'],
  ['lookalike', 'Lookalikes'],
  ['estimate', 'Estimates'],
  ['activation', 'Activations'],
  ['cohort', 'Cohorts'],
];

const named = (id: number): string => `${id} ${statusOf(id).name}`;
const OUTCOMES = [104, 107, 400, 422].map((id) => [id, named(id)] as const);
const PUBLISHING = 103;

/** A running job, and when it began and ends. */
interface TimedJob extends RunningJob {
  readonly id: number;
  readonly end: number;
  /** Status that it ends with. */
  readonly endsAs: number;
}

/** The running jobs, and the outcomes of the next ones. */
export function jobsPage(console: ConsoleContext, query: URLSearchParams): Page {
  const { service } = console;
  const kind = query.get('kind') ?? '';
  const account = chosenAccount(console, query);
  const jobs = timedJobs(service).filter((job) => !account || job.account === account);
  const hits = search(jobs, query, ({ kind: own, id, name, account }) => `${own} ${id} ${name} ${account.email}`);
  const matching = hits.filter((job) => kind === '' || job.kind === kind);
  const kinds = KINDS.map(([value, text]) => [value, text, hits.filter((job) => job.kind === value).length] as const);
  const choices = segments('Kind', '/jobs', query, 'kind', [['', 'All', hits.length], ...kinds]);
  // It ends all jobs of a kind, not those that a filter has found.
  const isWhole = hits.length === service.jobs.saved.running.size;
  const completeAll = isWhole && matching.length > 0 ? completeButton(kind, matching.length) : '';
  return {
    title: 'Jobs',
    content: html`${head('Jobs', live('kinds', choices), live('all', completeAll))}
${jobList(query, matching, jobs.length, service.clock.now())}
<div class="cols half">
<section class="card" aria-labelledby="next-title"><h2 id="next-title">Next outcomes</h2>
<p class="soft">The next job of a kind ends with this status; several queue up. Without one, jobs complete.
A cohort ends as 4 instead of 104, and as 5 otherwise.</p>
${live('queued', queuedOutcomes(service))}<h3>Add an outcome</h3>${outcomeForm()}</section>
<section class="card" aria-labelledby="ended-title"><h2 id="ended-title">Recently ended</h2>
${live('ended', recentlyEnded(console, shownAccounts(console, query)))}</section></div>${endDialogs()}`,
  };
}

const outcomeForm = (): Html =>
  actionForm('POST /api/jobs/next', 'Queue the outcome', {
    layout: 'row',
    fields: [
      select(
        'Kind',
        'kind',
        KINDS.map(([value]) => [value, value] as const),
      ),
      select('Status', 'status', OUTCOMES),
      secondsInput('Duration in seconds', 'duration', { size: 6 }),
      input('Reason', 'reason', { placeholder: 'console only' }),
    ],
  });

function completeButton(kind: string, number: number): Html {
  const things = KINDS.find(([value]) => value === kind)?.[1].toLowerCase() ?? 'jobs';
  return actionForm('POST /api/jobs/finish-several', 'Complete all…', {
    values: { status: 104, ...(kind !== '' && { kind }) },
    confirm: [
      `Complete all ${count(number)} ${things}?`,
      'Each ends now as 104 (cohorts: 4), and its event is delivered. Outcomes that are queued stay queued.',
    ],
  });
}

const jobList = (query: URLSearchParams, matching: readonly TimedJob[], total: number, now: number): readonly Html[] =>
  listView({
    path: '/jobs',
    query,
    id: 'jobs',
    placeholder: 'Kind, id, name or account',
    kept: ['kind'],
    matching,
    total,
    keyOf: ({ id }) => id,
    caption: 'Running jobs, the newest first',
    columns: [
      ['Job', '', ({ kind, id, name }) => twoLines(jobLink(kind, id, name), `${kind} ${id}`), 'two main cut'],
      ['Status', 'w11', (job) => [jobBadge(job.resource.status), progress(job, now)], 'side2'],
      ['Ends', 'w9', ({ end, endsAs }) => endLines(end, endsAs, now), 'two'],
      ['Actions', 'w20', jobActions, 'acts'],
    ],
    empty: emptyState(
      'No job is running',
      'A create starts one: audience, lookalike, estimate, activation, cohort.',
      SEND,
    ),
  });

/** The name of a resource is the link to its page. */
const jobLink = (kind: string, id: number, name: string): Html =>
  html`<a class="row" href="/resources/${id}"><b>${foreign(name === '' ? `${kind} ${id}` : name)}</b></a>`;

const endLines = (end: number, endsAs: number, now: number): Html =>
  html`<div>${relativeText(end - now)}</div><div class="soft">${timeElement(end, now)}, as ${endsAs}</div>`;

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

/** Returns how much of a job's time has passed, if it shows when it was created. */
function progress({ resource, end, kind, id }: TimedJob, now: number): Content {
  const created = Date.parse(`${String(resource.created_at).replace(' ', 'T')}Z`);
  if (Number.isNaN(created) || end <= created) return '';
  const share = Math.max(0, Math.min(100, Math.round(((now - created) / (end - created)) * 100)));
  return html`<progress value="${share}" max="100" aria-label="${share} % of ${kind} ${id}"></progress>`;
}

/** Returns the ways in which a job of its kind can end. */
export function jobActions({ kind, id, resource }: Pick<TimedJob, 'kind' | 'id' | 'resource'>): Html[] {
  const about = `${kind} ${id}`;
  const button = (text: string, status: number) =>
    ({ label: `${text} ${about}`, style: 'small', values: { kind, id, status } }) as const;
  const finish = (submit: string, status: number): Html =>
    actionForm('POST /api/jobs/finish', submit, button(submit, status));
  const dialog = (text: string, status: number): Html =>
    opener(kind === 'cohort' ? 'end-cohort' : 'end', `${text}…`, { about, ...button(text, status) });
  if (kind === 'cohort') return [finish('Complete', 4), dialog('Not available', 5)];
  const cancel = kind === 'lookalike' ? [finish('Cancel', resource.status.id === PUBLISHING ? 104 : 400)] : [];
  return [finish('Complete', 104), dialog('Needs info 107', 107), dialog('Fail', 422), ...cancel];
}

/** The statuses that a dialog asks the reason of, of a cohort and of other jobs. */
const ENDS = [
  ['end', [107, 422, 400, 404, 499]],
  ['end-cohort', [5]],
] as const;

/** Returns the dialogs in which a job ends with a reason. */
export const endDialogs = (): Html[] =>
  ENDS.map(([id, statuses]) =>
    formDialog(id, html`End <bdi data-name>the job</bdi>`, 'POST /api/jobs/finish', 'End the job', {
      fields: [
        html`<input type="hidden" name="kind"><input type="hidden" name="id" data-type="number">`,
        select(
          'Status',
          'status',
          statuses.map((status) => [status, named(status)] as const),
        ),
        html`<label>Reason <textarea name="reason" autofocus></textarea><small>Shown in the console only, as by the service</small></label>`,
      ],
    }),
  );

function queuedOutcomes({ jobs }: Service): Content {
  if (jobs.queued.length === 0) return '';
  const entries = jobs.queued.map(({ kind, outcome }) => {
    return { kind, ...(typeof outcome === 'number' ? { status: outcome } : outcome) };
  });
  const remove = actionForm('DELETE /api/jobs/next', 'Remove all outcomes', { style: 'small' });
  return [
    table('Queued outcomes, the next one first', entries, '', [
      ['Kind and reason', '', ({ kind, reason }) => twoLines(kind, reason ? foreign(reason) : ''), 'two main cut'],
      ['Ends as', 'w11', ({ status }) => jobBadge(statusOf(status)), 'side2'],
      ['After', 'w6', ({ duration }) => (duration === undefined ? '' : durationText(duration)), 'named'],
    ]),
    html`<div class="acts">${remove}</div>`,
  ];
}

const MAX_ENDED = 8;

const NONE_ENDED = html`<p class="soft">None has ended yet.</p>`;

function recentlyEnded({ service, history }: ConsoleContext, accounts: readonly AccountRecord[]): Html {
  const { jobs, clock } = service;
  const resources = accounts.flatMap((account) => NAMESPACES.flatMap((namespace) => resourcesOf(account, namespace)));
  const ended = resources.flatMap((one) => {
    if (!isJobKind(one.kind) || jobs.saved.running.has(one.id)) return [];
    // An estimate does not contain it.
    const updated = one.fields.updated_at ? Date.parse(`${String(one.fields.updated_at).replace(' ', 'T')}Z`) : 0;
    return [{ ...one, at: history.changesOf(one.id).at(-1)?.at ?? updated }];
  });
  return table(
    'Jobs that have ended, the latest first',
    ended.sort((a, b) => b.at - a.at || b.id - a.id).slice(0, MAX_ENDED),
    NONE_ENDED,
    [
      ['Job and reason', '', (one) => jobLines(service, one), 'two main cut'],
      ['Ended as', 'w12', ({ status }) => (status ? jobBadge(status) : ''), 'side2'],
      ['At', 'w7', ({ at }) => (at > 0 ? timeElement(at, at) : '')],
    ],
    { days: [clock.now(), ({ at }) => at || clock.now()] },
  );
}

function jobLines(service: Service, { kind, id, name }: ShownResource): Html {
  const reason = reasonText(service, { kind, id });
  return twoLines(jobLink(kind, id, name), [`${kind} ${id}`, reason && html`: ${foreign(reason)}`]);
}
