/**
 * The service on your machine, for tests and programs without an account.
 *
 * @module audience-activation/sandbox
 */

import { type SandboxAdmin, sandboxAdmin } from './admin/sandbox-admin.ts';
import { createAdapters, type SandboxAdapters } from './http/adapters.ts';
import type { SandboxOptions } from './sandbox-options.ts';
import { optionsFor, readState, restoreState } from './saved-state.ts';
import { createService } from './service.ts';
import { endJob, runTask } from './tasks.ts';

export type {
  ConnectionInfo,
  NewAccount,
  NewCompany,
  SandboxAccount,
  SandboxCompany,
  TokenInfo,
} from './admin/account-admin.ts';
export type { SandboxAdmin } from './admin/sandbox-admin.ts';
export type { NewEndpoint, SandboxWebhooks } from './admin/webhook-admin.ts';
export type { ClockMode } from './clock.ts';
export type { ActiveFault, FaultRequest, FaultRule } from './faults.ts';
export type { SandboxAdapters } from './http/adapters.ts';
export type { ListenOptions, SandboxServer } from './http/listen.ts';
export type { DeviceCounts, JobInfo, JobKind, JobOptions, JobOutcome } from './jobs.ts';
export type { SandboxOptions } from './sandbox-options.ts';
export type { SandboxLimits, WindowLimit } from './service-limits.ts';
export type { LimitUse, LogEntry, SandboxState, TokenKind } from './state.ts';
export type { Delivery } from './webhook-deliveries.ts';

/** The service, emulated on this machine. */
export interface Sandbox extends SandboxAdmin, SandboxAdapters {
  /** The same as `close`, for `await using`. */
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
  const admin = sandboxAdmin(service, seed);
  const adapters = createAdapters(service, admin, options, seed);
  return { ...admin, ...adapters, [Symbol.asyncDispose]: adapters.close };
}
