import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import type { ClientKind } from '../support/redis-clients.ts';

/** Argument of `webhook-process.ts`. */
export interface WebhookProcessOptions {
  readonly kind: ClientKind;
  readonly redisUrl: string;
  /** Port of the receiver; 0 for a free port. */
  readonly port: number;
  readonly leaseMs: number;
  /** Key of a hash with the ids of handled events, and their number as `sum`. */
  readonly sum: string;
  /** Key of a hash with the number of runs per event. */
  readonly runs: string;
}

/** A receiver in its own process. */
export interface ReceiverProcess {
  readonly url: string;
  /** Kills the process and starts another one on the same port. */
  replace(): Promise<void>;
}

async function launch(
  options: WebhookProcessOptions,
): Promise<{ readonly child: ChildProcess; readonly port: number }> {
  const child = fork(new URL('./webhook-process.ts', import.meta.url), [JSON.stringify(options)]);
  onTestFinished(() => void child.kill('SIGKILL'));
  const [{ port }] = await once(child, 'message');
  return { child, port };
}

/** Starts a receiver process for the running test. */
export async function startReceiver(options: WebhookProcessOptions): Promise<ReceiverProcess> {
  let { child, port } = await launch(options);
  return {
    url: `http://127.0.0.1:${port}/webhooks`,
    async replace() {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
      ({ child, port } = await launch({ ...options, port }));
    },
  };
}

/** Sends a delivery until a receiver responds with 2xx. Returns the number of attempts without a response. */
export async function sendUntilTaken(
  pick: () => ReceiverProcess,
  sign: () => Promise<{ readonly body: string; readonly headers: Record<string, string> }>,
): Promise<number> {
  let lost = 0;
  for (;;) {
    try {
      const response = await fetch(pick().url, { method: 'POST', ...(await sign()) });
      await response.arrayBuffer();
      if (response.ok) return lost;
    } catch {
      lost++;
    }
    await new Promise((resolve) => setTimeout(resolve, 100 + Math.random() * 200));
  }
}
