import '../support/nothing-left.ts';
import type { ChildProcess } from 'node:child_process';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { withFileLock } from '../../src/node/file-lock.ts';
import { makeOlder, temporaryDirectory } from '../support/directory.ts';
import { eventually } from '../support/eventually.ts';
import { seeded } from '../support/seeded.ts';
import { end, go, isStopped, startProcess } from '../support/started-process.ts';
import { runs } from '../support/volume.ts';

/** Starts `lock-process.ts`. Arguments: `own` or `earlier`, what it does, path, argument of that. */
const start = (...args: readonly string[]): Promise<ChildProcess> =>
  startProcess(new URL('./lock-process.ts', import.meta.url), ...args);

/** Resolves with the next message of a process that equals `text`. */
const message = (child: ChildProcess, text: string): Promise<void> =>
  new Promise((resolve) => {
    child.on('message', (sent) => sent === text && resolve());
  });

/** Starts the work of a process; resolves when it is done. */
function run(child: ChildProcess): Promise<void> {
  const done = message(child, 'done');
  child.send('go');
  return done;
}

/** Returns a file with the number 0, which processes count up. */
async function newCounter(): Promise<string> {
  const path = join(await temporaryDirectory(), 'counter');
  await writeFile(path, '0');
  return path;
}

const countOf = async (path: string): Promise<number> => Number(await readFile(path, 'utf8'));
const filesBeside = (path: string): Promise<string[]> => readdir(dirname(path));

/** Creates the lock of a file as a killed process has left it a minute ago. */
async function leaveStaleLock(path: string): Promise<void> {
  await mkdir(`${path}.lock`);
  await makeOlder(`${path}.lock`, 60_000);
}

it('the file lock of processes of this version and of earlier ones loses no addition', async () => {
  const path = await newCounter();
  const kinds = ['own', 'earlier', 'own', 'earlier'];
  const children = await Promise.all(kinds.map((kind) => start(kind, 'count', path, '20,1')));
  await Promise.all(children.map(run));
  expect(await countOf(path)).toBe(80);
  expect(await filesBeside(path)).toEqual(['counter']);
});

describe('a stale file lock', () => {
  it('is taken over by one of 6 processes, then by the next', async () => {
    const path = await newCounter();
    const children = await Promise.all(Array.from({ length: 6 }, () => start('own', 'count', path, '1,10')));
    const rounds = runs(2, 2, 30);
    for (let round = 1; round <= rounds; round++) {
      await leaveStaleLock(path);
      await Promise.all(children.map(run));
      expect(await countOf(path)).toBe(6 * round);
    }
    expect(await filesBeside(path)).toEqual(['counter']);
  });

  it('loses no addition while processes are killed at any time', async () => {
    const random = seeded('killed holders');
    const path = await newCounter();
    let acknowledged = 0;
    const startCounting = async (times: number): Promise<ChildProcess> => {
      const child = await start('own', 'count', path, `${times},2`);
      child.on('message', (sent) => sent === 'added' && acknowledged++);
      return child;
    };
    const rounds = runs(1, 1, 30);
    for (let round = 0; round < rounds; round++) {
      const victims = await Promise.all([1, 2, 3].map(() => startCounting(1_000_000)));
      await Promise.all(
        victims.map(async (victim) => {
          const added = message(victim, 'added');
          victim.send('go');
          await added;
          await new Promise((resolve) => setTimeout(resolve, random() * 100));
          await end(victim, 'SIGKILL');
        }),
      );
    }
    // As long ago, so that the last processes do not wait for ten seconds.
    for (const name of await filesBeside(path)) {
      if (/\.(?:lock|takeover)$/.test(name)) await makeOlder(join(dirname(path), name), 60_000);
    }
    const last = await Promise.all([1, 2, 3].map(() => startCounting(5)));
    await Promise.all(last.map(run));
    const count = await countOf(path);
    expect(count).toBeGreaterThanOrEqual(acknowledged);
    // A killed process may have added without being able to say so.
    expect(count).toBeLessThanOrEqual(acknowledged + 3 * rounds);
    expect((await filesBeside(path)).filter((name) => name.includes('lock'))).toEqual([]);
  });
});

it('a suspended holder of a file lock learns that another process took the lock over, and does not remove the new one', async () => {
  const path = await newCounter();
  const suspended = await start('own', 'hold', path);
  expect(await go(suspended)).toBe('held');
  suspended.kill('SIGSTOP');
  await eventually(async () => expect(await isStopped(suspended)).toBe(true));
  await makeOlder(`${path}.lock`, 60_000);
  const lost = new Promise((resolve) => suspended.once('message', resolve));
  await withFileLock(path, async () => {
    const { mtimeMs } = await stat(`${path}.lock`);
    suspended.kill('SIGCONT');
    expect(String(await lost)).toMatch(/^FileError: .*counter\.lock was lost: .* after ten seconds/);
    suspended.send('release');
    await message(suspended, 'done');
    await eventually(async () => expect((await stat(`${path}.lock`)).mtimeMs).toBeGreaterThan(mtimeMs));
  });
  expect(await filesBeside(path)).toEqual(['counter']);
});
