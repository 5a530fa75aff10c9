import { createAdapters, type SandboxAdapters } from './adapters.ts';
import { type SandboxAdmin, sandboxAdmin } from './admin/sandbox-admin.ts';
import type { listen } from './http/listen.ts';
import type { SandboxOptions } from './sandbox-options.ts';
import { optionsFor, readState, restoreState } from './saved-state.ts';
import { createService } from './service.ts';
import { endJob, runTask } from './tasks.ts';

/** An emulation of the service on this machine. */
export interface Sandbox extends SandboxAdmin, SandboxAdapters {
  /** Calls `close`, for `await using`. Not available in engines without `Symbol.asyncDispose`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Creates a sandbox. `serve` starts its servers. */
export function createSandboxWith(serve: typeof listen, options: SandboxOptions): Sandbox {
  const { seed = options.state?.seed ?? 1 } = options;
  const snapshot = options.state === undefined ? undefined : readState(options.state, options.seed);
  const service = createService(snapshot ? optionsFor(options, seed, snapshot) : options, { runTask, endJob });
  if (snapshot) restoreState(service, snapshot);
  const admin = sandboxAdmin(service, seed);
  const adapters = createAdapters({ service, admin, options, seed, serve });
  return { ...admin, ...adapters, ...(Symbol.asyncDispose && { [Symbol.asyncDispose]: adapters.close }) };
}
