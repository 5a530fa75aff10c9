import type { SandboxAccount } from '../admin/account-admin.ts';
import type { SandboxAdmin } from '../admin/sandbox-admin.ts';
import type { ClockMode } from '../clock.ts';
import type { FaultRule } from '../faults.ts';
import type { JsonObject } from '../http/request-body.ts';
import type { JobKind } from '../jobs.ts';
import type { Service } from '../service.ts';
import type { SandboxState, TokenKind } from '../state.ts';
import { dueTasks } from './due-tasks.ts';

/** The objects that an action works with. */
export interface Subject {
  readonly sandbox: SandboxAdmin;
  /** The account of the session, or the one that the field `account` names; by default the first one. */
  readonly account: SandboxAccount;
  /** The state when the recording began. */
  readonly state: SandboxState;
}

/** An action of the console, which is a JSON endpoint and, on a page, a form. */
export interface Action {
  readonly method: 'POST' | 'DELETE';
  /** Path below the prefix of the endpoints. */
  readonly path: string;
  /** Names of the fields it takes; any other is refused. Without them, the method that it calls checks the names. */
  readonly fields?: readonly string[];
  /**
   * Set if it belongs to an account, whose owner may do it, too: to the account alone, or to a webhook endpoint or an event of
   * its organization, which the fields `id` and `event` name.
   */
  readonly subject?: 'account' | 'endpoint' | 'event';
  /**
   * Does the action by one call of the sandbox's own methods, which is its TypeScript, too. `fields` come from the
   * request's body: the methods check what is not checked here.
   */
  run(subject: Subject, fields: JsonObject, service: Service): unknown;
  /** Returns the response's body. @default the fields that were sent */
  respond?(result: unknown, fields: JsonObject, service: Service): object;
}

/** Thrown for a field that an action cannot use. */
export class FieldError extends Error {
  override readonly name = 'FieldError';
}

/** Thrown for an id that does not exist, or not for the account. */
export class NotFoundError extends Error {
  override readonly name = 'NotFoundError';
}

function number(fields: JsonObject, name: string): number {
  const value = fields[name];
  if (typeof value === 'number') return value;
  throw new FieldError(`\`${name}\` must be a number.`);
}

function string(fields: JsonObject, name: string): string {
  const value = fields[name];
  if (typeof value === 'string') return value;
  throw new FieldError(`\`${name}\` must be a string.`);
}

const optional = <T>(read: (fields: JsonObject, name: string) => T, fields: JsonObject, name: string): T | undefined =>
  fields[name] === undefined ? undefined : read(fields, name);

const nowOf = ({ clock }: Service): object => ({ now: new Date(clock.now()).toISOString() });

/** Returns the milliseconds until the next task. */
function untilNext(service: Service): number {
  const [next] = dueTasks(service);
  if (!next) throw new FieldError('Nothing is due: no job runs, no delivery waits for its next attempt.');
  return Math.max(0, Math.ceil(next.time - service.clock.now()));
}

const OPERATOR_ACTIONS: readonly Action[] = [
  {
    method: 'POST',
    path: '/clock/advance',
    fields: ['ms'],
    run: ({ sandbox }, fields) => sandbox.advance(number(fields, 'ms')),
    respond: (_, __, service) => nowOf(service),
  },
  {
    method: 'POST',
    path: '/clock/next',
    fields: [],
    run: ({ sandbox }, _, service) => sandbox.advance(untilNext(service)),
    respond: (_, __, service) => nowOf(service),
  },
  {
    method: 'POST',
    path: '/clock/mode',
    fields: ['mode', 'speed'],
    run: ({ sandbox }, { mode, speed }) => sandbox.setClock((speed === undefined ? mode : { speed }) as ClockMode),
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
  },
  {
    method: 'POST',
    path: '/jobs/next',
    fields: ['kind', 'status', 'reason', 'duration'],
    run({ sandbox }, fields) {
      const outcome = { status: number(fields, 'status'), reason: optional(string, fields, 'reason') };
      return sandbox.jobs.next(string(fields, 'kind') as JobKind, {
        ...outcome,
        duration: optional(number, fields, 'duration'),
      });
    },
  },
  { method: 'DELETE', path: '/jobs/next', fields: [], run: ({ sandbox }) => sandbox.jobs.clearNext() },
  {
    method: 'POST',
    path: '/faults',
    run: ({ sandbox }, fields) => void sandbox.faults.add(fields as FaultRule),
    respond: (_, fields, { faults }) => ({ id: faults.active.at(-1)?.id, ...fields }),
  },
  {
    method: 'POST',
    path: '/faults/remove',
    fields: ['id'],
    run: ({ sandbox }, fields) => sandbox.faults.remove(number(fields, 'id')),
  },
  {
    method: 'DELETE',
    path: '/faults',
    fields: [],
    run: ({ sandbox }) => sandbox.faults.clear(),
    respond: (removed) => ({ removed }),
  },
  { method: 'POST', path: '/limits', run: ({ sandbox }, fields) => sandbox.setLimits(fields) },
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
  },
  { method: 'POST', path: '/reset', fields: [], run: ({ sandbox, state }) => sandbox.restore(state) },
];

const ACCOUNT_ACTIONS: readonly Action[] = [
  {
    method: 'POST',
    path: '/tokens',
    fields: ['kind'],
    subject: 'account',
    run: ({ account }, fields) => account.token(string(fields, 'kind') as TokenKind),
    respond: (token) => ({ token }),
  },
  {
    method: 'POST',
    path: '/tokens/revoke',
    fields: ['id'],
    subject: 'account',
    run: ({ account }, fields) => account.revokeToken(number(fields, 'id')),
  },
  {
    method: 'POST',
    path: '/tokens/revoke-all',
    fields: ['kind'],
    subject: 'account',
    run: ({ account }, fields) => account.revokeTokens(string(fields, 'kind') as TokenKind),
    respond: (revoked) => ({ revoked }),
  },
  {
    method: 'POST',
    path: '/connections/revoke',
    fields: ['id'],
    subject: 'account',
    run: ({ account }, fields) => account.revokeConnection(number(fields, 'id')),
  },
  {
    method: 'POST',
    path: '/password',
    fields: ['password', 'current'],
    subject: 'account',
    run: ({ account }, fields) => account.changePassword(string(fields, 'password')),
    respond: () => ({ changed: true }),
  },
  {
    method: 'POST',
    path: '/webhooks',
    fields: ['name', 'url', 'events'],
    subject: 'account',
    run({ sandbox, account }, fields) {
      const { events } = fields;
      if (events !== undefined && !Array.isArray(events)) throw new FieldError('`events` must be an array.');
      return sandbox.webhooks.create({
        account,
        name: optional(string, fields, 'name'),
        url: string(fields, 'url'),
        ...(events && { events: events.map(String) }),
      });
    },
    respond: Object,
  },
  {
    method: 'POST',
    path: '/webhooks/rotate',
    fields: ['id'],
    subject: 'endpoint',
    run: ({ sandbox }, fields) => sandbox.webhooks.rotate(number(fields, 'id')),
    respond: Object,
  },
  ...(['pause', 'resume', 'test', 'delete'] as const).map(
    (verb): Action => ({
      method: 'POST',
      path: `/webhooks/${verb}`,
      fields: ['id'],
      subject: 'endpoint',
      run: ({ sandbox }, fields) => sandbox.webhooks[verb](number(fields, 'id')),
    }),
  ),
  {
    method: 'POST',
    path: '/webhooks/redeliver',
    fields: ['event'],
    subject: 'event',
    run: ({ sandbox }, fields) => sandbox.webhooks.redeliver(string(fields, 'event')),
  },
];

/** All actions. */
export const ACTIONS: readonly Action[] = [...OPERATOR_ACTIONS, ...ACCOUNT_ACTIONS];
