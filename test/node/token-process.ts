// The built package starts four times as fast as its sources.
import { fileTokenStore } from 'audience-activation/node';
import { atSaveSteps } from '../support/save-steps.ts';

/** Uses a token file in the way that the first argument names, once for each message. */
const [, , way = '', path = '', argument = ''] = process.argv;
const store = fileTokenStore(path);

/** Kills this process at a step of a save, as a power cut would. */
async function dieAt(step: string): Promise<void> {
  const reach = async (now: string): Promise<void> => {
    if (now !== step) return;
    process.kill(process.pid, 'SIGKILL');
    await new Promise(() => {});
  };
  await atSaveSteps(step, reach);
}

/** Waits for SIGTERM while it holds the lock, and then ends in order, as an application does. */
async function shutDown(): Promise<void> {
  let arrive = (): void => {};
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  let held: Promise<void> | undefined;
  process.once('SIGTERM', async () => {
    arrive();
    await held;
    await store.withLock(() => store.save({ token: 'saved on SIGTERM' }));
    process.disconnect();
  });
  await new Promise<void>((resolve) => {
    held = store.withLock(() => {
      resolve();
      return arrived;
    });
  });
}

const WAYS: Readonly<Record<string, () => Promise<unknown>>> = {
  'shut-down': async () => {
    await shutDown();
    return 'held';
  },
  save: async () => {
    for (let at = 0; ; at++) await store.save({ token: `token-${at}`, filling: 'x'.repeat(10_000) });
  },
  die: async () => {
    await dieAt(argument);
    await store.save({ token: 'new' });
  },
};

process.on('message', async () => process.send?.((await WAYS[way]?.()) ?? 'done'));
process.send?.('ready');
