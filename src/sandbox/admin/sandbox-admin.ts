import type { Optional } from '../../spec/wire-values.ts';
import type { ClockMode } from '../clock.ts';
import type { ActiveFault, FaultRule } from '../faults.ts';
import type { JobInfo, JobKind, JobOutcome } from '../jobs.ts';
import { grantAuthorization, readAuthorization } from '../oauth/authorization.ts';
import { checkLimits } from '../sandbox-options.ts';
import { readState, restoreState, saveState } from '../saved-state.ts';
import type { Service } from '../service.ts';
import type { SandboxLimits, WindowLimit } from '../service-limits.ts';
import type { AccountRecord, LogEntry, SandboxState } from '../state.ts';
import {
  accountAdmin,
  companyAdmin,
  createAccount,
  createCompany,
  type NewAccount,
  type NewCompany,
  type SandboxAccount,
  type SandboxCompany,
} from './account-admin.ts';
import { reportAs } from './call-source.ts';
import { type SandboxWebhooks, webhookAdmin } from './webhook-admin.ts';

/** Methods to operate the sandbox, for example its clock, jobs, faults and accounts. */
export interface SandboxAdmin {
  /**
   * Moves the clock forward by `ms` milliseconds, in any mode. Runs due tasks in order, and awaits webhook deliveries.
   * A webhook receiver must not await `advance`, because its delivery would time out.
   *
   * @throws if `ms` is not a number of 0 or more, or leads to the year 9000 or later
   */
  advance(ms: number): Promise<void>;
  /** Changes the mode of the clock. `'manual'` pauses the clock; `'real'` continues from its current time. */
  setClock(mode: ClockMode): void;
  /** Returns the time of the sandbox's clock in milliseconds since 1970. */
  now(): number;
  /**
   * Replaces individual limits, also for existing tokens. To change the build budget of an existing organization, call
   * its `setBuildBudget`.
   */
  setLimits(limits: Optional<SandboxLimits>): void;
  /** Organizations. Accounts of an organization share its build budget and webhook endpoints. */
  readonly companies: {
    /** Creates an organization. The `company` of `accounts.create` refers to it by name. */
    create(input: NewCompany): SandboxCompany;
    /** Returns the organization with this name. */
    get(name: string): SandboxCompany;
  };
  /**
   * Returns the state as plain JSON, for `createSandbox({ state })`. The state contains the tokens, passwords and
   * secrets of the sandbox. It does not contain fault rules, options or requests in flight.
   */
  save(): SandboxState;
  /**
   * Replaces the current state with a saved state. The clock moves forward to the time of the saved state, never back.
   * Keeps the fault rules and the limits. Build budgets are part of the state.
   *
   * @throws if the value is not a saved state, is damaged, or has a newer version or another seed
   */
  restore(state: SandboxState): void;
  /** Accounts, with the actions of their owners. */
  readonly accounts: {
    /** All accounts, oldest first. */
    list(): SandboxAccount[];
    /** Returns the account with this email address. */
    get(email: string): SandboxAccount;
    /** Creates an account. Accounts of one organization share its build budget and webhook endpoints. */
    create(input: NewAccount): SandboxAccount;
  };
  /** OAuth consent without a browser. */
  readonly oauth: {
    /**
     * Grants an authorization request on behalf of an account, like the consent page. Returns the redirect URI with the
     * code.
     */
    consent(account: SandboxAccount, authorizationUrl: string | URL): string;
  };
  /** Webhook endpoints and their deliveries. */
  readonly webhooks: SandboxWebhooks;
  /** Worker jobs and their outcomes. */
  readonly jobs: {
    /** Queues an outcome for a future job of a kind. Each new job uses the oldest queued outcome of its kind. */
    next(kind: JobKind, outcome: JobOutcome): void;
    /** Removes all queued outcomes. */
    clearNext(): void;
    /**
     * Ends a running job immediately with a final status id: 104, 107, 4xx, or a final status of the contract; for
     * cohorts, also 4 or 5.
     */
    finish(kind: JobKind, id: number, status: number, reason?: string): void;
    /** Returns why a job ended. The console shows this reason; the API does not. */
    reason(kind: JobKind, id: number): string | undefined;
    /** Running jobs, oldest first. */
    readonly running: readonly JobInfo[];
  };
  /** Rules that inject faults. */
  readonly faults: {
    /** Adds a rule after the existing rules. Returns a function that removes the rule and ends its delays. */
    add(rule: FaultRule): () => void;
    /** The rules that can still apply, in order. */
    list(): ActiveFault[];
    /** Removes one rule. */
    remove(id: number): void;
    /** Removes all rules. Returns the number of rules that could still apply. */
    clear(): number;
  };
  /** The latest requests (10,000 unless `limits.logLength` differs), oldest first. */
  readonly log: readonly LogEntry[];
}

export function sandboxAdmin(service: Service, seed: number): SandboxAdmin {
  const { clock, faults, jobs, webhooks, state } = service;
  const admins = new Map<string, SandboxAccount>();
  const adminOf = ({ email }: AccountRecord): SandboxAccount => {
    const admin = admins.get(email) ?? accountAdmin(service, email);
    admins.set(email, admin);
    return admin;
  };
  const recordOf = (account: SandboxAccount): AccountRecord => {
    const record = state.accounts.get(account.email);
    if (!record || admins.get(account.email) !== account)
      throw new Error('The account does not belong to this sandbox.');
    return record;
  };
  const currentJobs = (): typeof jobs => {
    clock.runDue();
    return jobs;
  };
  const report = reportAs(service, 'sandbox');
  const reportJobs = reportAs(service, 'sandbox.jobs');
  const reportFaults = reportAs(service, 'sandbox.faults');
  const removeFault = reportFaults('remove', (id: number) => faults.remove(id));
  return {
    advance: report('advance', (ms) => clock.advance(ms, () => webhooks.idle())),
    setClock: report('setClock', (mode) => clock.setMode(mode)),
    now: () => clock.now(),
    setLimits: report('setLimits', (limits) => setLimits(service, limits)),
    companies: {
      create: reportAs(service, 'sandbox.companies')('create', (input) =>
        companyAdmin(service, createCompany(service, input).name),
      ),
      get(name) {
        if (!state.companies.has(name)) throw new Error(`The organization "${name}" does not exist.`);
        return companyAdmin(service, name);
      },
    },
    save: () => saveState(service, seed),
    restore: report('restore', (saved) => {
      restoreState(service, readState(saved, seed));
      // Buckets of the saved tokens have the limits of the time at which they were saved.
      setLimits(service, {});
      service.sessions.endAll();
    }),
    accounts: {
      list: () => [...state.accounts.values()].map(adminOf),
      get(email) {
        const record = state.accounts.get(email);
        if (!record) throw new Error(`The account ${email} does not exist.`);
        return adminOf(record);
      },
      create: reportAs(service, 'sandbox.accounts')('create', (input) => adminOf(createAccount(service, input))),
    },
    oauth: {
      consent: reportAs(service, 'sandbox.oauth')('consent', (account, url) =>
        grantAuthorization(service, readAuthorization(service, String(url)), recordOf(account)),
      ),
    },
    webhooks: webhookAdmin(service, recordOf),
    jobs: {
      next: reportJobs('next', (kind, outcome) => jobs.next(kind, outcome)),
      clearNext: reportJobs('clearNext', () => jobs.clearNext()),
      finish: reportJobs('finish', (kind, id, status, reason) => currentJobs().finish(kind, id, status, reason)),
      reason: (kind, id) => currentJobs().reason(kind, id),
      get running() {
        return currentJobs().running;
      },
    },
    faults: {
      add: reportFaults('add', (rule) => {
        const active = faults.add(rule);
        return () => {
          if (faults.has(active)) removeFault(active.id);
        };
      }),
      list: () => faults.active,
      remove: removeFault,
      clear: reportFaults('clear', () => faults.clear()),
    },
    log: state.log,
  };
}

function setLimits({ state, limits }: Service, changes: Optional<SandboxLimits>): void {
  Object.assign(limits, checkLimits(changes));
  for (const { buckets } of state.tokens.values()) {
    for (const [name, window] of buckets) window.setLimit(limits[name]);
  }
  for (const [key, window] of state.addressBuckets) window.setLimit(addressLimit(limits, key));
}

/** Returns the limit of a bucket that counts per IP address. The key begins with the name of the bucket. */
const addressLimit = ({ login, mint }: SandboxLimits, key: string): WindowLimit =>
  key.startsWith('login ') ? login : mint;
