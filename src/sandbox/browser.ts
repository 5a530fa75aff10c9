import { createSandboxWith, type Sandbox } from './create-sandbox.ts';
import type { SandboxOptions } from './sandbox-options.ts';

/** Creates a sandbox in browsers. `listen` rejects, because it needs Node. */
export function createSandbox(options: SandboxOptions = {}): Sandbox {
  return createSandboxWith(refuseToListen, options);
}

async function refuseToListen(): Promise<never> {
  throw new TypeError(
    '`sandbox.listen` needs Node, and this is the build for browsers (condition `browser`). In a page, pass `sandbox.fetch` to the client as its `fetch`.',
  );
}
