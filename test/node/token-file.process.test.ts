import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fileTokenStore } from '../../src/node/index.ts';
import { makeOlder, temporaryDirectory } from '../support/directory.ts';
import { seeded } from '../support/seeded.ts';
import { end, go, startProcess } from '../support/started-process.ts';
import { runs } from '../support/volume.ts';

const MINUTE = 60_000;

const newPath = async (): Promise<string> => join(await temporaryDirectory(), 'token.json');

/** Starts `token-process.ts`. Arguments: what it does, path of the token file, and an argument of that. */
const start = (...args: readonly string[]): Promise<ChildProcess> =>
  startProcess(new URL('./token-process.ts', import.meta.url), ...args);

const partsBeside = async (path: string): Promise<string[]> =>
  (await readdir(dirname(path))).filter((name) => name.endsWith('.tmp')).map((name) => join(dirname(path), name));

/** Kills a process at a step of saving a token; returns the token that it has left, and the number of its parts. */
async function killAt(step: string): Promise<readonly [token: string | undefined, parts: number]> {
  const path = await newPath();
  const store = fileTokenStore(path);
  await store.save({ token: 'old' });
  const child = await start('die', path, step);
  const exited = once(child, 'exit');
  child.send('go');
  expect(await exited).toEqual([null, 'SIGKILL']);
  const left = await store.load();
  const parts = await partsBeside(path);
  // A recent part may belong to a running process.
  await store.save({ token: 'later' });
  expect(await partsBeside(path)).toEqual(parts);
  for (const part of parts) expect((await stat(part)).mode & 0o777).toBe(0o600);
  for (const part of parts) await makeOlder(part, MINUTE);
  await store.save({ token: 'last' });
  expect(await readdir(dirname(path))).toEqual(['token.json']);
  return [left?.token, parts.length];
}

describe('a process that is killed while it saves a token', () => {
  it('leaves a complete file at each step, and nothing that a later save does not remove', async () => {
    const steps = ['write', 'half', 'sync', 'rename', 'renamed'];
    const left = await Promise.all(steps.map(async (step) => [step, ...(await killAt(step))]));
    expect(left).toEqual([
      ['write', 'old', 1],
      ['half', 'old', 1],
      ['sync', 'old', 1],
      ['rename', 'old', 1],
      ['renamed', 'new', 0],
    ]);
  });

  it('leaves a complete one at any time', async () => {
    const random = seeded('killed saves');
    const path = await newPath();
    const store = fileTokenStore(path);
    await store.save({ token: 'token-first' });
    for (let round = 0; round < runs(3, 3, 100); round++) {
      const child = await start('save', path);
      child.send('go');
      const killed = new Promise((resolve) => setTimeout(resolve, random() * 40)).then(() => end(child, 'SIGKILL'));
      for (let gone = false; !gone; ) {
        gone = await Promise.race([killed.then(() => true), store.load().then(() => false)]);
      }
      expect((await store.load())?.token).toMatch(/^token-/);
    }
    for (const part of await partsBeside(path)) await makeOlder(part, MINUTE);
    await store.save({ token: 'last' });
    expect(await readdir(dirname(path))).toEqual(['token.json']);
  });
});

describe('the lock of a token file', () => {
  it('lets a process finish what it does on SIGTERM', async () => {
    const path = await newPath();
    const child = await start('shut-down', path);
    expect(await go(child)).toBe('held');
    expect(await end(child, 'SIGTERM')).toEqual([0, null]);
    expect(await fileTokenStore(path).load()).toEqual({ token: 'saved on SIGTERM' });
    expect(await readdir(dirname(path))).toEqual(['token.json']);
  });
});
