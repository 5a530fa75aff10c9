import { setTimeout as pause } from 'node:timers/promises';
import { apiToken } from '../../src/index.ts';
import { fileTokenStore } from '../../src/node/index.ts';
import { atSaveSteps } from './save-steps.ts';

/** Uses a token file in the way that the first argument names, once for each message. */
const [, , way = '', path = '', argument = ''] = process.argv;
const store = fileTokenStore(path);

/**
 * Adds one to the stored count. Waits `between` milliseconds before it saves, so that another process could interfere.
 */
async function count(between: number): Promise<void> {
  await store.withLock(async () => {
    const stored = await store.load();
    if (between > 0) await pause(between);
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

const WAYS: Readonly<Record<string, () => Promise<unknown>>> = {
  count: async () => {
    for (let call = 0; call < Number(argument); call++) await count(0);
  },
  'count-slowly': () => count(Number(argument)),
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
