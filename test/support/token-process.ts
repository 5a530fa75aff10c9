import { promises } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { setTimeout as pause } from 'node:timers/promises';
import { apiToken } from '../../src/index.ts';
import { fileTokenStore } from '../../src/node/index.ts';

/** Works with a token file in one of these ways, each time that it is told to. */
const [, , way = '', path = '', argument = ''] = process.argv;
const store = fileTokenStore(path);

/** Adds one, with time for another process to come in between, where it can. Milliseconds. */
async function count(between: number): Promise<void> {
  await store.withLock(async () => {
    const stored = await store.load();
    if (between > 0) await pause(between);
    await store.save({ token: '', count: Number(stored?.count ?? 0) + 1 });
  });
}

/** Ends this process at a step of a save, as by a power cut. */
async function dieAt(step: string): Promise<void> {
  const reach = async (now: string): Promise<void> => {
    if (now !== step) return;
    process.kill(process.pid, 'SIGKILL');
    await new Promise(() => {});
  };
  const { rename } = promises;
  promises.rename = async (from, to) => {
    await reach('rename');
    await rename(from, to);
    await reach('renamed');
  };
  syncBuiltinESMExports();
  const probe = await promises.open(process.execPath);
  const handles: FileHandle = Object.getPrototypeOf(probe);
  await probe.close();
  const { writeFile, sync } = handles;
  handles.writeFile = async function (text) {
    await reach('write');
    if (step === 'half') await writeFile.call(this, String(text).slice(0, String(text).length / 2));
    await reach('half');
    await writeFile.call(this, text);
  };
  handles.sync = async function () {
    await reach('sync');
    await sync.call(this);
  };
}

const WAYS: Readonly<Record<string, () => Promise<unknown>>> = {
  count: async () => {
    for (let turn = 0; turn < Number(argument); turn++) await count(0);
  },
  'count-slowly': () => count(Number(argument)),
  hold: () =>
    store.withLock(async () => {
      process.send?.('held');
      await pause(Number(argument));
    }),
  mint: () => {
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
