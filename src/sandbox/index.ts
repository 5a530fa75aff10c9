/** @module audience-activation/sandbox */

import {
  consoleOf,
  consoleOfCompany,
  createCompany,
  type ListedConnection,
  type ListedToken,
  type NewAccount,
  type NewCompany,
  openAccount,
  type SandboxAccount,
  type SandboxCompany,
} from './admin/account-admin.ts';
import { type Endpoints, endpointsOf, type NewEndpoint } from './admin/webhook-admin.ts';
import type { FaultRequest, FaultRule } from './faults.ts';
import { type Forms, formsOf } from './http/adapters.ts';
import type { Listening, ListenOptions } from './http/listen.ts';
import type { JobInfo, JobKind, JobOutcome } from './jobs.ts';
import { consent, readAuthorization } from './oauth/authorization.ts';
import type { SandboxOptions } from './sandbox-options.ts';
import { createService, type Service } from './service.ts';
import type { AccountRecord, LogEntry, TokenKind } from './state.ts';

export type { ClockMode } from './clock.ts';
export type { Devices, JobInfo, JobKind, JobOptions, JobOutcome } from './jobs.ts';
export type { SandboxLimits, WindowLimit } from './service-limits.ts';
export type { Delivery } from './webhook-deliveries.ts';
export type {
  Endpoints,
  FaultRequest,
  FaultRule,
  ListedConnection,
  ListedToken,
  Listening,
  ListenOptions,
  LogEntry,
  NewAccount,
  NewCompany,
  NewEndpoint,
  SandboxAccount,
  SandboxCompany,
  SandboxOptions,
  TokenKind,
};

/** The service on this machine. */
export interface Sandbox extends Forms {
  /**
   * Moves a manual clock forward; everything due runs in order, and webhook deliveries are awaited, so do
   * not await this while one is received. Milliseconds.
   */
  advance(ms: number): Promise<void>;
  /** The sandbox's time in milliseconds since 1970. */
  now(): number;
  readonly companies: {
    /** Creates an organization; accounts belong to it by its name. */
    create(input: NewCompany): SandboxCompany;
  };
  readonly accounts: {
    /** Opens an account; those of one company share its build budget and webhook endpoints. */
    create(input: NewAccount): SandboxAccount;
  };
  readonly oauth: {
    /** Consents to an authorization request as an account, as on its page; returns where the browser is sent. */
    consent(account: SandboxAccount, authorizationUrl: string | URL): string;
  };
  readonly webhooks: Endpoints<SandboxAccount>;
  readonly jobs: {
    /** Decides how the next job of a kind ends; several wait in line. */
    next(kind: JobKind, outcome: JobOutcome): void;
    /** Ends a running job now, at the given status id. */
    finish(kind: JobKind, id: number, status: number, reason?: string): void;
    /** Why a job ended as it did; the API never tells. */
    reason(kind: JobKind, id: number): string | undefined;
    /** Jobs that are running, oldest first. */
    readonly running: readonly JobInfo[];
  };
  readonly faults: {
    /** Adds a rule, behind those before it; returns what removes it, which releases the requests that it holds. */
    add(rule: FaultRule): () => void;
    /** Removes all rules. */
    clear(): void;
  };
  /** The latest requests (10,000 unless `limits.logLength` differs), oldest first. */
  readonly log: readonly LogEntry[];
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Starts the service on this machine, empty.
 *
 * @example
 * const sandbox = createSandbox({ clock: 'manual' });
 * const account = sandbox.accounts.create({ email: 'me@example.com', password: 'secret' });
 * const client = new AudienceClient({ baseUrl: 'http://localhost', token: account.token('api'), fetch: sandbox.fetch });
 */
export function createSandbox(options: SandboxOptions = {}): Sandbox {
  const service = createService(options);
  const forms = formsOf(service, options.origin);
  const { clock, faults, webhooks } = service;
  const records = new WeakMap<SandboxAccount, AccountRecord>();
  const recordOf = (account: SandboxAccount): AccountRecord => {
    const record = records.get(account);
    if (!record) throw new Error('The account is not one of this sandbox.');
    return record;
  };
  return {
    ...forms,
    advance: (ms) => clock.advance(ms, () => webhooks.settled()),
    now: () => clock.now(),
    companies: { create: (input) => consoleOfCompany(createCompany(service, input)) },
    accounts: {
      create(input) {
        const record = openAccount(service, input);
        const account = consoleOf(service, record);
        records.set(account, record);
        return account;
      },
    },
    oauth: {
      consent: (account, url) => consent(service, readAuthorization(service, String(url)), recordOf(account)),
    },
    webhooks: endpointsOf(service, recordOf),
    jobs: jobsOf(service),
    faults: { add: (rule) => faults.add(rule), clear: () => faults.clear() },
    log: service.state.log.entries,
    [Symbol.asyncDispose]: forms.close,
  };
}

/** The worker's side of the console, up to date at every look. */
function jobsOf({ clock, jobs }: Service): Sandbox['jobs'] {
  const upToDate = (): typeof jobs => {
    clock.settle();
    return jobs;
  };
  return {
    next: (kind, outcome) => jobs.next(kind, outcome),
    finish: (kind, id, status, reason) => upToDate().finish(kind, id, status, reason),
    reason: (kind, id) => upToDate().reason(kind, id),
    get running() {
      return upToDate().running;
    },
  };
}
