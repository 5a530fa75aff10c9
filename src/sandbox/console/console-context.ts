import type { SandboxAdmin } from '../admin/sandbox-admin.ts';
import type { Service } from '../service.ts';
import type { History } from './history.ts';
import type { Operators } from './operators.ts';
import type { Recorder } from './recorder.ts';

export interface ConsoleContext {
  readonly service: Service;
  readonly sandbox: SandboxAdmin;
  readonly recorder: Recorder;
  readonly history: History;
  readonly operators: Operators;
  /** Addresses of the server that was started last. */
  readonly addresses: () => { readonly api: string; readonly storage: string };
  /** Sends a request in this process, as `sandbox.fetch` does. */
  readonly send: (request: Request) => Promise<Response>;
}
