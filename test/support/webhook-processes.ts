import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import type { ClientKind } from './redis-clients.ts';

/** What a process of test/support/webhook-process.ts is told by its argument. */
export interface WebhookProcessOptions {
  readonly kind: ClientKind;
  readonly redisUrl: string;
  /** 0: a free one. */
  readonly port: number;
  readonly leaseMs: number;
  /** The key of the work done: a hash of the events' ids, and the `sum`. */
  readonly sum: string;
  /** The key of how often each event's handler has begun. */
  readonly runs: string;
}

/** A receiver in a process of its own. */
export interface ReceiverProcess {
  readonly url: string;
  /** Kills it, and starts it again at the same address. */
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

/** Starts a receiver for the running test. */
export async function startReceiver(options: WebhookProcessOptions): Promise<ReceiverProcess> {
  let { child, port } = await launch(options);
  return {
    url: `http://127.0.0.1:${port}/webhooks`,
    async replace() {
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
      ({ child, port } = await launch({ ...options, port }));
    },
  };
}

/** Sends as the service does, sooner: until it is answered 2xx, by whichever receiver. Returns how many tries had no answer. */
export async function sendUntilTaken(
  pick: () => ReceiverProcess,
  sign: () => Promise<{ readonly body: string; readonly headers: Record<string, string> }>,
): Promise<number> {
  let lost = 0;
  for (;;) {
    try {
      const answer = await fetch(pick().url, { method: 'POST', ...(await sign()) });
      await answer.arrayBuffer();
      if (answer.ok) return lost;
    } catch {
      lost++;
    }
    await new Promise((resolve) => setTimeout(resolve, 100 + Math.random() * 200));
  }
}
