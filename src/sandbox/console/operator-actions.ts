import type { ClockMode } from '../clock.ts';
import { describeFault, type FaultRule } from '../faults.ts';
import { type JobKind, statusOf } from '../jobs.ts';
import type { Service } from '../service.ts';
import type { SandboxState } from '../state.ts';
import { type Action, FieldError, NotFoundError, number, optional, string } from './action.ts';
import { nextTask } from './due-tasks.ts';
import { capital, durationText, relativeText } from './html.ts';
import { resend, type SentRequest, sendFirst } from './resend.ts';

const nowOf = ({ clock }: Service): object => ({ now: new Date(clock.now()).toISOString() });

/** Returns the milliseconds until the next task. */
function untilNext(service: Service): number {
  const next = nextTask(service);
  if (!next) throw new FieldError('Nothing is due: no job runs, no delivery waits for its next attempt.');
  return Math.max(0, Math.ceil(next.time - service.clock.now()));
}

/** The actions of the operator alone. */
export const OPERATOR_ACTIONS: readonly Action[] = [
  {
    method: 'POST',
    path: '/clock/advance',
    fields: ['ms'],
    run: ({ sandbox }, fields) => sandbox.advance(number(fields, 'ms')),
    respond: (_, __, service) => nowOf(service),
    notice: ({ ms }, service) => `The clock was advanced by ${durationText(Number(ms))}; ${dueText(service)}.`,
  },
  {
    method: 'POST',
    path: '/clock/next',
    fields: [],
    run: ({ sandbox }, _, service) => sandbox.advance(untilNext(service)),
    respond: (_, __, service) => nowOf(service),
    notice: (_, service) => `The clock was advanced to ${timeOf(service)}; ${dueText(service)}.`,
  },
  {
    method: 'POST',
    path: '/clock/mode',
    fields: ['mode', 'speed'],
    run: ({ sandbox }, { mode, speed }) => sandbox.setClock((speed === undefined ? mode : { speed }) as ClockMode),
    notice: (_, { clock: { mode } }) =>
      mode === 'manual'
        ? 'The clock is paused: only an advance moves it.'
        : `The clock runs ${mode === 'real' ? 'in real time' : `${mode.speed} times as fast`}.`,
  },
  {
    method: 'POST',
    path: '/jobs/finish',
    fields: ['kind', 'id', 'status', 'reason'],
    run({ sandbox }, fields) {
      const reason = optional(string, fields, 'reason');
      const more = reason === undefined ? [] : ([reason] as const);
      const kind = string(fields, 'kind') as JobKind;
      const id = number(fields, 'id');
      if (!sandbox.jobs.running.some((job) => job.kind === kind && job.id === id))
        throw new NotFoundError(`No job of ${kind} ${id} is running.`);
      return sandbox.jobs.finish(kind, id, number(fields, 'status'), ...more);
    },
    notice: ({ kind, id, status }, service) =>
      `${capital(String(kind))} ${Number(id)} finished as ${endText(service, kind, status)}.`,
  },
  {
    method: 'POST',
    path: '/jobs/finish-several',
    fields: ['jobs', 'kind', 'status'],
    run({ sandbox }, fields, service) {
      const status = number(fields, 'status');
      const { jobs, kind } = fields;
      if (jobs !== undefined && !Array.isArray(jobs))
        throw new FieldError('`jobs` must be an array, such as ["audience 5"].');
      const chosen = sandbox.jobs.running.filter(
        (job) => (kind === undefined || job.kind === kind) && (jobs?.includes(`${job.kind} ${job.id}`) ?? true),
      );
      if (chosen.length === 0) throw new NotFoundError('None of these jobs is running.');
      for (const job of chosen) sandbox.jobs.finish(job.kind, job.id, service.jobs.endStatus(job.kind, status));
      return chosen.length;
    },
    respond: (finished) => ({ finished }),
    notice: ({ status }, service, finished) =>
      `${Number(finished)} ${finished === 1 ? 'job' : 'jobs'} finished as ${endText(service, '', status)}.`,
  },
  {
    method: 'POST',
    path: '/jobs/next',
    fields: ['kind', 'status', 'reason', 'duration'],
    run({ sandbox }, fields) {
      const [reason, duration] = [optional(string, fields, 'reason'), optional(number, fields, 'duration')];
      return sandbox.jobs.next(string(fields, 'kind') as JobKind, {
        status: number(fields, 'status'),
        ...(reason !== undefined && { reason }),
        ...(duration !== undefined && { duration }),
      });
    },
    notice: ({ kind, status }, service) => `The next ${String(kind)} ends as ${endText(service, kind, status)}.`,
  },
  {
    method: 'DELETE',
    path: '/jobs/next',
    fields: [],
    run: ({ sandbox }) => sandbox.jobs.clearNext(),
    notice: () => 'The queued outcomes are removed: jobs complete.',
  },
  {
    method: 'POST',
    path: '/faults',
    run: ({ sandbox }, fields) => void sandbox.faults.add(fields as FaultRule),
    respond: (_, fields, { faults }) => ({ id: faults.active.at(-1)?.id, ...fields }),
    notice: (fields, { faults }) =>
      `Fault ${faults.active.at(-1)?.id} applies to ${fields.on === undefined ? 'all requests' : String(fields.on)}: ${describeFault(fields)}.`,
  },
  {
    method: 'POST',
    path: '/faults/remove',
    fields: ['id'],
    run: ({ sandbox }, fields) => sandbox.faults.remove(number(fields, 'id')),
    notice: ({ id }) => `Fault ${Number(id)} is removed.`,
  },
  {
    method: 'DELETE',
    path: '/faults',
    fields: [],
    run: ({ sandbox }) => sandbox.faults.clear(),
    respond: (removed) => ({ removed }),
    notice: (_, __, removed) => `${Number(removed)} ${removed === 1 ? 'fault is' : 'faults are'} removed.`,
  },
  {
    method: 'POST',
    path: '/limits',
    run: ({ sandbox }, fields) => sandbox.setLimits(fields),
    notice: (fields) => `The limits of ${Object.keys(fields).join(', ')} are changed, also for tokens that exist.`,
  },
  {
    method: 'POST',
    path: '/accounts',
    fields: ['email', 'password', 'company', 'deliveryCredentials'],
    run({ sandbox }, fields) {
      const { deliveryCredentials } = fields;
      if (deliveryCredentials !== undefined && typeof deliveryCredentials !== 'boolean')
        throw new FieldError('`deliveryCredentials` must be true or false.');
      return sandbox.accounts.create({
        email: string(fields, 'email'),
        password: string(fields, 'password'),
        company: optional(string, fields, 'company'),
        ...(deliveryCredentials !== undefined && { deliveryCredentials }),
      });
    },
    respond: (_, { password, ...fields }) => fields,
    notice: ({ email }) => `The account ${String(email)} is created.`,
  },
  {
    method: 'POST',
    path: '/companies',
    fields: ['name', 'buildsPerHour', 'buildsPerDay'],
    run: ({ sandbox }, fields) =>
      sandbox.companies.create({
        name: string(fields, 'name'),
        buildsPerHour: optional(number, fields, 'buildsPerHour'),
        buildsPerDay: optional(number, fields, 'buildsPerDay'),
      }),
    notice: ({ name }) => `The organization ${String(name)} is created.`,
  },
  {
    method: 'POST',
    path: '/budget',
    fields: ['company', 'buildsPerHour', 'buildsPerDay'],
    run: ({ sandbox }, fields) =>
      sandbox.companies.get(string(fields, 'company')).setBuildBudget({
        buildsPerHour: optional(number, fields, 'buildsPerHour'),
        buildsPerDay: optional(number, fields, 'buildsPerDay'),
      }),
    notice: ({ company }) => `The build budget of ${String(company)} is changed.`,
  },
  {
    method: 'POST',
    path: '/reset',
    fields: [],
    run: ({ sandbox, state }) => sandbox.restore(state),
    notice: () => 'The sandbox is as it was when the recording began.',
  },
  {
    method: 'POST',
    path: '/state',
    run({ sandbox, console }, fields) {
      sandbox.restore(fields as unknown as SandboxState);
      console.recorder.restart();
    },
    respond: () => ({}),
    notice: (_, service) =>
      `The state is replaced: ${service.state.accounts.size} accounts. The clock shows ${timeOf(service)}.`,
  },
  {
    method: 'POST',
    path: '/recording/restart',
    fields: [],
    run: ({ console }) => console.recorder.restart(),
    notice: () => 'The recording begins again, with the present state.',
  },
  {
    method: 'POST',
    path: '/requests/resend',
    fields: ['id', 'key'],
    run: ({ console }, fields) => resend(console, string(fields, 'id'), fields.key !== undefined),
    respond: Object,
    notice: (_, service, sent) => sentText(service, Object(sent)),
  },
  {
    method: 'POST',
    path: '/requests/first',
    fields: [],
    run: ({ console }) => sendFirst(console),
    respond: Object,
    notice: (_, service, sent) => sentText(service, Object(sent)),
  },
];

function sentText({ state }: Service, { id, status }: SentRequest): string {
  const why = state.log.find((entry) => entry.id === id)?.why;
  return `Sent as ${id}: ${status === 0 ? 'no response' : status}${why === undefined ? '' : `, ${why}`}.`;
}

/** Returns the status that a job of a kind ends with, and its name. */
function endText({ jobs }: Service, kind: unknown, status: unknown): string {
  const { id, name } = statusOf(jobs.endStatus(kind as JobKind, Number(status)));
  return `${id} ${name}`;
}

const timeOf = ({ clock }: Service): string => new Date(clock.now()).toISOString().slice(0, 19).replace('T', ' ');

/** Returns what is due next, in words. */
function dueText(service: Service): string {
  const next = nextTask(service);
  return next ? `the next event is ${relativeText(next.time - service.clock.now())}` : 'nothing is due';
}
