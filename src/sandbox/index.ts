/**
 * An emulation of the service on your machine, for tests and for programs without an account.
 *
 * @module audience-activation/sandbox
 */

import { createSandboxWith, type Sandbox } from './create-sandbox.ts';
import { listen } from './http/listen.ts';
import type { SandboxOptions } from './sandbox-options.ts';

export type { SandboxAdapters } from './adapters.ts';
export type {
  ConnectionInfo,
  NewAccount,
  NewCompany,
  SandboxAccount,
  SandboxCompany,
  TokenInfo,
} from './admin/account-admin.ts';
export type { SandboxAdmin } from './admin/sandbox-admin.ts';
export type { EndpointChanges, NewEndpoint, SandboxWebhooks } from './admin/webhook-admin.ts';
export type { ClockMode } from './clock.ts';
export type { Sandbox } from './create-sandbox.ts';
export type { ActiveFault, FaultRequest, FaultRule } from './faults.ts';
export type { ListenOptions, SandboxServer } from './http/listen.ts';
export type { DeviceCounts, JobInfo, JobKind, JobOptions, JobOutcome } from './jobs.ts';
export type { SandboxOptions } from './sandbox-options.ts';
export type { SandboxLimits, WindowLimit } from './service-limits.ts';
export type { LimitUse, LogEntry, SandboxState, TokenKind } from './state.ts';
export type { Delivery } from './webhook-deliveries.ts';

/**
 * Creates a sandbox without accounts and resources.
 *
 * @example
 * const sandbox = createSandbox({ clock: 'manual' });
 * const account = sandbox.accounts.create({ email: 'me@example.com', password: 'secret' });
 * const client = new AudienceClient({ baseUrl: 'http://localhost', token: account.token('api'), fetch: sandbox.fetch });
 *
 * @throws if an option is invalid
 */
export function createSandbox(options: SandboxOptions = {}): Sandbox {
  return createSandboxWith(listen, options);
}
