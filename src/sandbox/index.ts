/** @module audience-activation/sandbox */

import {
  accountAdmin,
  companyAdmin,
  createAccount,
  createCompany,
  type NewAccount,
  type NewCompany,
  type SandboxAccount,
  type SandboxCompany,
} from './admin/account-admin.ts';
import { type SandboxWebhooks, webhookAdmin } from './admin/webhook-admin.ts';
import type { FaultRule } from './faults.ts';
import { createAdapters, type SandboxAdapters } from './http/adapters.ts';
import type { JobInfo, JobKind, JobOutcome } from './jobs.ts';
import { grantAuthorization, readAuthorization } from './oauth/authorization.ts';
import type { SandboxOptions } from './sandbox-options.ts';
import { optionsFor, readState, restoreState, saveState } from './saved-state.ts';
import { createService } from './service.ts';
import type { AccountRecord, LogEntry, SandboxState } from './state.ts';
import { endJob, runTask } from './tasks.ts';

export type {
  ConnectionInfo,
  NewAccount,
  NewCompany,
  SandboxAccount,
  SandboxCompany,
  TokenInfo,
} from './admin/account-admin.ts';
export type { NewEndpoint, SandboxWebhooks } from './admin/webhook-admin.ts';
export type { ClockMode } from './clock.ts';
export type { FaultRequest, FaultRule } from './faults.ts';
export type { SandboxAdapters } from './http/adapters.ts';
export type { ListenOptions, SandboxServer } from './http/listen.ts';
export type { DeviceCounts, JobInfo, JobKind, JobOptions, JobOutcome } from './jobs.ts';
export type { SandboxOptions } from './sandbox-options.ts';
export type { SandboxLimits, WindowLimit } from './service-limits.ts';
export type { LogEntry, SandboxState, TokenKind } from './state.ts';
export type { Delivery } from './webhook-deliveries.ts';

/** The service, emulated on this machine. */
export interface Sandbox extends SandboxAdapters {
  /**
   * Moves the clock forward by milliseconds, whatever its mode. Everything due runs in order, and webhook deliveries are
   * awaited: a webhook receiver that awaits this causes a deadlock.
   *
   * @throws if `ms` is not a number from 0 within the range of `Date`
   */
  advance(ms: number): Promise<void>;
  /** Returns the time of the sandbox's clock in milliseconds since 1970. */
  now(): number;
  readonly companies: {
    /** Creates an organization, to which accounts belong by its name. */
    create(input: NewCompany): SandboxCompany;
  };
  /**
   * Returns the state as plain JSON: `createSandbox({ state })` continues with it. Fault rules and options are not part of
   * it; requests in flight have not happened. It contains tokens, passwords and secrets of the sandbox.
   */
  save(): SandboxState;
  readonly accounts: {
    /** All accounts, oldest first. */
    list(): SandboxAccount[];
    /** Creates an account. Accounts of one organization share its build budget and webhook endpoints. */
    create(input: NewAccount): SandboxAccount;
  };
  readonly oauth: {
    /**
     * Grants an authorization request in the name of an account, as its consent page does. Returns the redirect URI
     * with the code.
     */
    consent(account: SandboxAccount, authorizationUrl: string | URL): string;
  };
  readonly webhooks: SandboxWebhooks;
  readonly jobs: {
    /** Sets the outcome of the next job of a kind. Several calls queue up. */
    next(kind: JobKind, outcome: JobOutcome): void;
    /** Ends a running job immediately with a final status id: 104, 107 or 4xx, for cohorts also 4 or 5. */
    finish(kind: JobKind, id: number, status: number, reason?: string): void;
    /** Returns why a job ended, which the console shows and the API does not. */
    reason(kind: JobKind, id: number): string | undefined;
    /** Running jobs, oldest first. */
    readonly running: readonly JobInfo[];
  };
  readonly faults: {
    /** Adds a rule after the existing ones. Returns a function that removes it and releases the requests it holds. */
    add(rule: FaultRule): () => void;
    /** Removes all rules. */
    clear(): void;
  };
  /** The latest requests (10,000 unless `limits.logLength` differs), oldest first. */
  readonly log: readonly LogEntry[];
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Creates a sandbox: the service without accounts and resources.
 *
 * @example
 * const sandbox = createSandbox({ clock: 'manual' });
 * const account = sandbox.accounts.create({ email: 'me@example.com', password: 'secret' });
 * const client = new AudienceClient({ baseUrl: 'http://localhost', token: account.token('api'), fetch: sandbox.fetch });
 *
 * @throws if an option is invalid
 */
export function createSandbox(options: SandboxOptions = {}): Sandbox {
  const { seed = options.state?.seed ?? 1 } = options;
  const snapshot = options.state === undefined ? undefined : readState(options.state, options.seed);
  const service = createService(snapshot ? optionsFor(options, seed, snapshot) : options, { runTask, endJob });
  if (snapshot) restoreState(service, snapshot);
  const { clock, faults, jobs, webhooks, state } = service;
  const adapters = createAdapters(service, options.origin);
  const admins = new WeakMap<AccountRecord, SandboxAccount>();
  const records = new WeakMap<SandboxAccount, AccountRecord>();
  const adminOf = (record: AccountRecord): SandboxAccount => {
    const admin = admins.get(record) ?? accountAdmin(service, record);
    admins.set(record, admin);
    records.set(admin, record);
    return admin;
  };
  const recordOf = (account: SandboxAccount): AccountRecord => {
    const record = records.get(account);
    if (!record) throw new Error('The account is not one of this sandbox.');
    return record;
  };
  const currentJobs = (): typeof jobs => {
    clock.runDue();
    return jobs;
  };
  return {
    ...adapters,
    advance: (ms) => clock.advance(ms, () => webhooks.idle()),
    now: () => clock.now(),
    companies: { create: (input) => companyAdmin(createCompany(service, input)) },
    save: () => saveState(service, seed),
    accounts: {
      list: () => [...state.accounts.values()].map(adminOf),
      create: (input) => adminOf(createAccount(service, input)),
    },
    oauth: {
      consent: (account, url) =>
        grantAuthorization(service, readAuthorization(service, String(url)), recordOf(account)),
    },
    webhooks: webhookAdmin(service, recordOf),
    jobs: {
      next: (kind, outcome) => jobs.next(kind, outcome),
      finish: (kind, id, status, reason) => currentJobs().finish(kind, id, status, reason),
      reason: (kind, id) => currentJobs().reason(kind, id),
      get running() {
        return currentJobs().running;
      },
    },
    faults: { add: (rule) => faults.add(rule), clear: () => faults.clear() },
    log: state.log,
    [Symbol.asyncDispose]: adapters.close,
  };
}
