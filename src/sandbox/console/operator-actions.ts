import { callOf } from '../admin/call-source.ts';
import type { ClockMode } from '../clock.ts';
import { describeFault, type FaultRule } from '../faults.ts';
import type { JsonObject } from '../http/request-body.ts';
import type { JobKind } from '../jobs.ts';
import type { Service } from '../service.ts';
import type { SandboxState } from '../state.ts';
import { type Action, action, FieldError, NotFoundError, number, optional, string } from './action.ts';
import { nextTask } from './due-tasks.ts';
import { happenedText, totalsOf } from './history.ts';
import { findResource } from './objects.ts';
import { resend, type SentRequest } from './resend.ts';
import { capital, counted, relativeText, sentence } from './words.ts';

function untilNext(service: Service): number {
  const next = nextTask(service);
  if (!next)
    throw new FieldError('Nothing is due: no job, delivery attempt, scheduled build or deletion of an upload.');
  return Math.max(0, Math.ceil(next.time - service.clock.now()));
}

const ADVANCED: Pick<Action, 'respond' | 'notice'> = {
  respond: ({ service, happened }) => ({ now: new Date(service.clock.now()).toISOString(), ...totalsOf(happened) }),
  notice: ({ happened, service }) => `Advanced to ${timeOf(service)}: ${happenedText(happened)}; ${dueText(service)}.`,
};

/** Returns the fields whose values have changed, because the form sends all fields. */
const changesOf = (current: JsonObject, fields: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(fields).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(current[name])),
  );

/** Casts the kind of a job, which the methods check. */
const kindOf = (fields: JsonObject): JobKind => string(fields, 'kind') as JobKind;

export const OPERATOR_ACTIONS: readonly Action[] = [
  action('POST /clock/advance', ['ms'], {
    call: ({ sandbox }, fields) => callOf(sandbox.advance, number(fields, 'ms')),
    ...ADVANCED,
  }),
  action('POST /clock/next', [], {
    call: ({ sandbox }, _, service) => callOf(sandbox.advance, untilNext(service)),
    ...ADVANCED,
  }),
  action('POST /clock/mode', ['mode', 'speed'], {
    call: ({ sandbox }, { mode, speed }) =>
      callOf(sandbox.setClock, (speed === undefined ? mode : { speed }) as ClockMode),
    notice({ service: { clock } }) {
      if (clock.mode === 'manual') return 'The clock is paused. To move it, advance it.';
      return `The clock runs ${clock.mode === 'real' ? 'in real time' : `at ${clock.mode.speed} times real time`}.`;
    },
  }),
  action('POST /jobs/finish', ['kind', 'id', 'status', 'reason'], {
    call({ sandbox }, fields, service) {
      const [kind, id, reason] = [kindOf(fields), number(fields, 'id'), optional(string, fields, 'reason')];
      if (!sandbox.jobs.running.some((job) => job.kind === kind && job.id === id)) {
        const { kind: own = '', status } = findResource(service, id) ?? {};
        const shown = status ? ` ${capital(own)} ${id} has the status ${status.id} ${status.name}.` : '';
        throw new NotFoundError(`No job of ${kind} ${id} is running.${shown}`);
      }
      return callOf(sandbox.jobs.finish, kind, id, number(fields, 'status'), reason);
    },
    respond: ({ fields }) => ({
      ...fields,
      link: [`/resources/${Number(fields.id)}`, `Show the ${String(fields.kind)}`],
    }),
    notice: ({ fields: { kind, id, status }, service }) =>
      `${capital(String(kind))} ${Number(id)} finished as ${endText(service, kind, status)}.`,
  }),
  action('POST /jobs/next', ['kind', 'status', 'reason', 'duration'], {
    call({ sandbox }, fields) {
      const [reason, duration] = [optional(string, fields, 'reason'), optional(number, fields, 'duration')];
      return callOf(sandbox.jobs.next, kindOf(fields), {
        status: number(fields, 'status'),
        ...(reason !== undefined && { reason }),
        ...(duration !== undefined && { duration }),
      });
    },
    notice: ({ fields: { kind, status }, service }) =>
      `${endText(service, kind, status)} is queued as the outcome of a future ${String(kind)} job.`,
  }),
  action('DELETE /jobs/next', [], {
    call: ({ sandbox }) => callOf(sandbox.jobs.clearNext),
    notice: () => 'The queued outcomes are removed: `jobs.outcome` decides about the next jobs (default: 104).',
  }),
  action('POST /faults', undefined, {
    call: ({ sandbox }, fields) => callOf(sandbox.faults.add, fields as FaultRule),
    respond: ({ fields, service: { faults } }) => ({ id: faults.all.at(-1)?.id, ...fields }),
    notice: ({ fields, service: { faults } }) =>
      `Fault rule ${faults.all.at(-1)?.id} was added for ${String(fields.on ?? 'all requests')}: ${describeFault(fields)}.`,
  }),
  action('POST /faults/remove', ['id'], {
    call: ({ sandbox }, fields) => callOf(sandbox.faults.remove, number(fields, 'id')),
    notice: ({ fields }) => `Fault rule ${Number(fields.id)} was removed.`,
  }),
  action('DELETE /faults', [], {
    call: ({ sandbox }) => callOf(sandbox.faults.clear),
    respond: ({ result }) => ({ removed: result }),
    notice: ({ result }) => `${counted(Number(result), 'fault rule is', 'fault rules are')} removed.`,
  }),
  action('POST /limits', undefined, {
    call: ({ sandbox }, fields, { limits }) => callOf(sandbox.setLimits, changesOf({ ...limits }, fields)),
    notice: ({ args: [changes] }) => `Changed limits: ${Object.keys(Object(changes)).join(', ') || 'none'}.`,
  }),
  action('POST /accounts', ['email', 'password', 'company', 'deliveryCredentials'], {
    call({ sandbox }, fields) {
      const { deliveryCredentials } = fields;
      if (deliveryCredentials !== undefined && typeof deliveryCredentials !== 'boolean')
        throw new FieldError('`deliveryCredentials` must be true or false.', 'deliveryCredentials');
      return callOf(sandbox.accounts.create, {
        email: string(fields, 'email'),
        password: string(fields, 'password'),
        company: optional(string, fields, 'company'),
        deliveryCredentials,
      });
    },
    respond: ({ fields: { password, ...fields } }) => fields,
    notice: ({ fields }) => `The account ${String(fields.email)} was created.`,
  }),
  action('POST /budget', ['company', 'buildsPerHour', 'buildsPerDay'], {
    call: ({ sandbox }, fields) =>
      callOf(sandbox.companies.get(string(fields, 'company')).setBuildBudget, {
        buildsPerHour: optional(number, fields, 'buildsPerHour'),
        buildsPerDay: optional(number, fields, 'buildsPerDay'),
      }),
    notice: ({ fields: { company, ...budget } }) =>
      `The build budget of ${String(company)} ${Object.keys(budget).length > 0 ? 'was changed' : 'is unchanged'}.`,
  }),
  action('POST /reset', [], {
    call: ({ sandbox, console }) => callOf(sandbox.restore, console.recorder.recording.state),
    run: ({ console }) => console.history.clear(),
    notice: () =>
      'The sandbox was reset to its state at the start of the recording, without its requests. Its clock was not set back.',
  }),
  action('POST /state', undefined, {
    call: ({ sandbox }, fields) => callOf(sandbox.restore, fields as unknown as SandboxState),
    run({ console }) {
      console.recorder.restart();
      console.history.clear();
    },
    respond: () => ({}),
    notice: ({ service }) =>
      `The state is replaced: ${counted(service.state.accounts.size, 'account')}. The clock shows ${timeOf(service)}.`,
  }),
  action('POST /recording/restart', [], {
    run: ({ console }) => console.recorder.restart(),
    notice: () => 'The recording starts again from the current state.',
  }),
  action('POST /requests/resend', ['id', 'key'], {
    run: ({ console }, fields) => resend(console, string(fields, 'id'), fields.key !== undefined),
    respond: ({ result }) => ({ ...Object(result), link: [`/requests/${Object(result).id}`, 'Show the request'] }),
    notice({ service, result }) {
      const { id, status }: SentRequest = Object(result);
      const why = service.state.log.find((entry) => entry.id === id)?.why;
      return sentence(`Sent as ${id}: ${status === 0 ? 'no response' : status}${why === undefined ? '' : `, ${why}`}`);
    },
  }),
];

function endText({ jobs }: Service, kind: unknown, status: unknown): string {
  const { id, name } = jobs.statusOf(kind as JobKind, jobs.endStatus(kind as JobKind, Number(status)));
  return `${id} ${name}`;
}

const timeOf = ({ clock }: Service): string => new Date(clock.now()).toISOString().slice(0, 19).replace('T', ' ');

function dueText(service: Service): string {
  const next = nextTask(service);
  return next ? `the next event is ${relativeText(next.time - service.clock.now())}` : 'nothing is due';
}
