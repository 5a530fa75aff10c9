import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Credentials } from 'audience-activation';

/** A sandbox in another process. */
export interface SandboxProcess {
  readonly url: string;
  readonly credentials: Credentials;
  stop(): Promise<void>;
}

/** Starts a sandbox on a free loopback port, with a clock that runs `speed` times as fast as this machine's. */
export async function startSandbox({ speed }: { readonly speed: number }): Promise<SandboxProcess> {
  const child = fork(new URL('./sandbox-process.ts', import.meta.url), [String(speed)]);
  const exited = once(child, 'exit');
  const [started] = await Promise.race([
    once(child, 'message'),
    exited.then(([code]) => Promise.reject(new Error(`The sandbox ended with ${code} before it was ready.`))),
  ]);
  return {
    ...started,
    async stop() {
      child.disconnect();
      await exited;
    },
  };
}
