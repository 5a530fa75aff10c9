import { setTimeout as pause } from 'node:timers/promises';
import { apiToken } from '../../src/index.ts';
import { fileTokenStore } from '../../src/node/index.ts';
import { atSaveSteps } from '../support/save-steps.ts';

/** Uses a token file in the way that the first argument names, once for each message. */
const [, , way = '', path = '', argument = ''] = process.argv;
const store = fileTokenStore(path);

/** Adds one to the stored count. */
async function count(): Promise<void> {
  await store.withLock(async () => {
    const stored = await store.load();
    await store.save({ token: '', count: Number(stored?.count ?? 0) + 1 });
  });
}

/** Kills this process at a step of a save, as a power cut would. */
async function dieAt(step: string): Promise<void> {
  const reach = async (now: string): Promise<void> => {
    if (now !== step) return;
    process.kill(process.pid, 'SIGKILL');
    await new Promise(() => {});
  };
  await atSaveSteps(step, reach);
}

/** Waits for SIGTERM and then ends in order, as an application does. The lock is `held` then, or was `used` before. */
async function shutDown(state: string): Promise<void> {
  let arrive = (): void => {};
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  let held: Promise<void> | undefined;
  process.once('SIGTERM', async () => {
    arrive();
    await held;
    await pause(100);
    await store.withLock(() => store.save({ token: 'saved on SIGTERM' }));
    process.disconnect();
  });
  if (state === 'used') return store.withLock(async () => {});
  await new Promise<void>((resolve) => {
    held = store.withLock(() => {
      resolve();
      return arrived;
    });
  });
}

const WAYS: Readonly<Record<string, () => Promise<unknown>>> = {
  count: async () => {
    for (let call = 0; call < Number(argument); call++) await count();
  },
  hold: () =>
    store.withLock(async () => {
      process.send?.('held');
      await pause(Number(argument));
      await store.save({ token: '', held: argument });
    }),
  issueToken: () => {
    const { baseUrl, credentials } = JSON.parse(argument);
    return apiToken(credentials, { store, baseUrl }).get({});
  },
  'shut-down': async () => {
    await shutDown(argument);
    return argument;
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
