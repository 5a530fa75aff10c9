import { createApp } from './app.ts';
import { type Endpoints, endpointsOf, type NewEndpoint } from './endpoints.ts';
import type { JobKind } from './jobs.ts';
import { type Listening, type ListenOptions, listen } from './listen.ts';
import {
  createService,
  issueToken,
  type NewAccount,
  openAccount,
  revokeTokens,
  type SandboxOptions,
  type Service,
  tokensOf,
} from './service.ts';
import type { AccountRecord, LogEntry, TokenKind } from './state.ts';
import { createStorage } from './storage.ts';

export type { ClockMode } from './clock.ts';
export type { Devices, JobInfo, JobKind, JobOptions } from './jobs.ts';
export type { SandboxLimits, WindowLimit } from './limits.ts';
export type { Delivery } from './webhooks.ts';
export type { Endpoints, Listening, ListenOptions, LogEntry, NewEndpoint, SandboxOptions, TokenKind };

/** An account, with what its owner can do in the console. */
export interface SandboxAccount {
  readonly email: string;
  readonly password: string;
  /** Issues a token as the credential exchange does, without a request. */
  token(kind: TokenKind): string;
  /** Sets a new password, which ends every token. */
  changePassword(password: string): void;
  /** Ends the login token. */
  logout(): void;
}

/** The service on this machine. */
export interface Sandbox {
  /** Answers one request, in process: to the API, or to the storage that presigned URLs point to. */
  fetch(request: Request): Promise<Response>;
  /** Serves it over HTTP on loopback; storage, where files go in and out, on a port of its own. */
  listen(options?: ListenOptions): Promise<Listening>;
  /**
   * Moves a manual clock forward; everything due runs in order, and webhook deliveries are awaited, so do
   * not await this while one is received. Milliseconds.
   */
  advance(ms: number): Promise<void>;
  /** The sandbox's time in milliseconds since 1970. */
  now(): number;
  readonly accounts: {
    /** Opens an account; those of one company share its build budget and webhook endpoints. */
    create(input: Omit<NewAccount, 'company'> & { readonly company?: string }): SandboxAccount;
  };
  readonly webhooks: Endpoints<SandboxAccount>;
  readonly jobs: {
    /** Ends a running job now, at the given status id. */
    finish(kind: JobKind, id: number, status: number): void;
  };
  /** Every request so far, oldest first. */
  readonly log: readonly LogEntry[];
}

/**
 * Starts the service on this machine, empty.
 *
 * @example
 * const sandbox = createSandbox({ clock: 'manual' });
 * const account = sandbox.accounts.create({ email: 'me@example.com', password: 'secret' });
 * const client = new AudienceClient({ baseUrl: 'http://localhost', token: account.token('api'), fetch: (q, i) => sandbox.fetch(new Request(q, i)) });
 */
export function createSandbox(options: SandboxOptions = {}): Sandbox {
  const service = createService(options);
  const app = createApp(service);
  const storage = createStorage(service);
  const { state } = service;
  const fetch = async (request: Request): Promise<Response> =>
    (new URL(request.url).origin === state.storageUrl ? storage : app).fetch(request);
  const records = new WeakMap<SandboxAccount, AccountRecord>();
  return {
    fetch,
    async listen(where = {}) {
      const listening = await listen(app.fetch, storage.fetch, where);
      state.storageUrl = listening.storageUrl;
      return listening;
    },
    advance: (ms) => service.clock.advance(ms, () => service.webhooks.settled()),
    now: () => service.clock.now(),
    accounts: {
      create({ company = 'Example Company', ...input }) {
        const record = openAccount(service, { ...input, company });
        const account = consoleOf(service, record);
        records.set(account, record);
        return account;
      },
    },
    webhooks: endpointsOf(service, (account) => {
      const record = records.get(account);
      if (!record) throw new Error('The account is not one of this sandbox.');
      return record;
    }),
    jobs: { finish: (kind, id, status) => service.jobs.finish(kind, id, status) },
    log: service.state.log,
  };
}

function consoleOf(service: Service, record: AccountRecord): SandboxAccount {
  return {
    email: record.email,
    get password() {
      return record.password;
    },
    token(kind) {
      const cap = service.limits.activeTokens;
      if (kind !== 'login' && tokensOf(service, record, kind).length >= cap) {
        throw new Error(`The account has ${cap} live ${kind} tokens already, as many as the service allows.`);
      }
      return issueToken(service, record, kind).value;
    },
    changePassword(password) {
      record.password = password;
      revokeTokens(service, record);
    },
    logout() {
      revokeTokens(service, record, 'login');
    },
  };
}
