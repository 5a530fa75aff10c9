import '../support/nothing-left.ts';
import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { withFileLock } from '../../src/node/file-lock.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { seeded } from '../support/seeded.ts';
import { failureOf } from '../support/server.ts';
import { end, go, isStopped, startProcess } from '../support/started-process.ts';
import { runs } from '../support/volume.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Starts `lock-process.ts`. Arguments: `own` or `earlier`, what it does, path, argument of that, step, signal. */
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

/** Creates the lock of a file as a killed process has left it. */
async function leaveStaleLock(path: string): Promise<void> {
  await mkdir(`${path}.lock`);
  const then = new Date(Date.now() - MINUTE);
  await utimes(`${path}.lock`, then, then);
}

/** Starts a process that holds the lock for a time, or until its next message. */
async function startHolder(kind: string, path: string, ms?: number): Promise<ChildProcess> {
  const holder = await start(kind, 'hold', path, String(ms ?? ''));
  expect(await go(holder)).toBe('held');
  return holder;
}

/** This version, and the ones before it, which used proper-lockfile. */
const PAIRS = [
  ['own', 'earlier'],
  ['earlier', 'own'],
] as const;

describe('the file lock of processes of this version and of earlier ones', () => {
  it('loses no addition', async () => {
    const path = await newCounter();
    const kinds = ['own', 'earlier', 'own', 'earlier', 'own', 'earlier'];
    const children = await Promise.all(kinds.map((kind) => start(kind, 'count', path, '20,1')));
    await Promise.all(children.map(run));
    expect(await countOf(path)).toBe(120);
    expect(await filesBeside(path)).toEqual(['counter']);
  });

  it('stays with a running process, and is free ten seconds after its holder was killed', async () => {
    await Promise.all(
      PAIRS.map(async ([kind, other]) => {
        const [running, killed] = [await newCounter(), await newCounter()];
        const holder = await startHolder(kind, running, 14_000);
        const order: string[] = [];
        const released = message(holder, 'done').then(() => order.push(`${kind} releases`));
        const waiting = await start(other, 'count', running, '1,0');
        const added = message(waiting, 'added').then(() => order.push(`${other} acquires`));
        const done = run(waiting);

        const victim = await startHolder(kind, killed);
        await end(victim, 'SIGKILL');
        const since = performance.now();
        await run(await start(other, 'count', killed, '1,0'));
        // It was refreshed up to two seconds before.
        expect(performance.now() - since).toBeGreaterThan(7_500);
        expect(await countOf(killed)).toBe(1);

        await Promise.all([released, added, done]);
        expect(order).toEqual([`${kind} releases`, `${other} acquires`]);
      }),
    );
  });
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
  }, 300_000);

  it('is taken over by one process when another one stops at any step of its takeover', async () => {
    await Promise.all(
      ['guard', 'guarded', 'remove', 'removed'].map(async (step) => {
        const path = await newCounter();
        await leaveStaleLock(path);
        const stopped = await start('own', 'count', path, '1,300', step, 'SIGSTOP');
        const other = await start('own', 'count', path, '3,300');
        const stoppedDone = run(stopped);
        await vi.waitFor(async () => expect(await isStopped(stopped)).toBe(true), { timeout: 60_000 });
        const added = message(other, 'added');
        const otherDone = run(other);
        // Long enough for the other process to see that the lock is stale, and too short for it to take over the guard.
        await Promise.race([added, new Promise((resolve) => setTimeout(resolve, 6_000))]);
        stopped.kill('SIGCONT');
        await Promise.all([stoppedDone, otherDone]);
        expect([step, await countOf(path), await filesBeside(path)]).toEqual([step, 4, ['counter']]);
      }),
    );
  });

  it('is taken over after a process was killed at any step of its takeover', async () => {
    await Promise.all(
      ['guard', 'guarded', 'remove', 'removed'].map(async (step) => {
        const path = await newCounter();
        await leaveStaleLock(path);
        const killed = await start('own', 'count', path, '1,0', step, 'SIGKILL');
        const exited = new Promise((resolve) => killed.once('exit', resolve));
        killed.send('go');
        await exited;
        const others = await Promise.all([1, 2, 3].map(() => start('own', 'count', path, '1,10')));
        await Promise.all(others.map(run));
        expect([step, await countOf(path)]).toEqual([step, 3]);
      }),
    );
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
    const last = await Promise.all([1, 2, 3].map(() => startCounting(5)));
    await Promise.all(last.map(run));
    const count = await countOf(path);
    expect(count).toBeGreaterThanOrEqual(acknowledged);
    // A killed process may have added without being able to say so.
    expect(count).toBeLessThanOrEqual(acknowledged + 3 * rounds);
    expect((await filesBeside(path)).filter((name) => name.includes('lock'))).toEqual([]);
  }, 600_000);
});

describe('the holder of a file lock', () => {
  it('learns that another process took the lock over while it was suspended, and does not remove the new one', async () => {
    const path = await newCounter();
    const suspended = await startHolder('own', path);
    suspended.kill('SIGSTOP');
    const lost = new Promise((resolve) => suspended.once('message', resolve));
    await withFileLock(path, async () => {
      const { mtimeMs } = await stat(`${path}.lock`);
      suspended.kill('SIGCONT');
      expect(String(await lost)).toMatch(/^FileError: .*counter\.lock was lost: .* more than ten seconds/);
      suspended.send('release');
      await message(suspended, 'done');
      expect(existsSync(`${path}.lock`)).toBe(true);
      await vi.waitFor(async () => expect((await stat(`${path}.lock`)).mtimeMs).toBeGreaterThan(mtimeMs), 10_000);
    });
    expect(await filesBeside(path)).toEqual(['counter']);
  });

  it('keeps the lock if nobody took it over while it was suspended', async () => {
    const path = await newCounter();
    const suspended = await startHolder('own', path);
    const received: unknown[] = [];
    suspended.on('message', (sent) => received.push(sent));
    suspended.kill('SIGSTOP');
    await vi.waitFor(
      async () => expect(Date.now() - (await stat(`${path}.lock`)).mtimeMs).toBeGreaterThan(11_000),
      20_000,
    );
    const { mtimeMs } = await stat(`${path}.lock`);
    suspended.kill('SIGCONT');
    await vi.waitFor(async () => expect((await stat(`${path}.lock`)).mtimeMs).toBeGreaterThan(mtimeMs), 10_000);
    suspended.send('release');
    await message(suspended, 'done');
    expect(received).toEqual(['done']);
    expect(await filesBeside(path)).toEqual(['counter']);
  });

  it('learns that the folder was removed, and does not remove the folder of the next holder', async () => {
    const path = await newCounter();
    await withFileLock(path, async (lost) => {
      await rm(`${path}.lock`, { recursive: true });
      const aborted = new Promise((resolve) => lost.addEventListener('abort', resolve));
      await mkdir(`${path}.lock`);
      await aborted;
      expect(lost.reason).toMatchObject({ name: 'FileError', code: 'file-unwritable', path: `${path}.lock` });
      expect(lost.reason.message).toContain(`read it again before you write it`);
    });
    expect(await filesBeside(path)).toEqual(['counter', 'counter.lock']);
  });

  it('does not remove the folder of the next holder before it has learned of it', async () => {
    const path = await newCounter();
    await withFileLock(path, async () => {
      await rm(`${path}.lock`, { recursive: true });
      await mkdir(`${path}.lock`);
    });
    expect(await filesBeside(path)).toEqual(['counter', 'counter.lock']);
  });

  it('adds no listener to the process', async () => {
    const listeners = (): unknown => process.eventNames().map((name) => [name, process.listenerCount(name)]);
    const before = listeners();
    const path = await newCounter();
    expect(await withFileLock(path, async () => listeners())).toEqual(before);
    expect(listeners()).toEqual(before);
  });
});

describe('a change of the system clock', () => {
  const moveClock = (ms: number): void => {
    const { now } = Date;
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() + ms);
    onTestFinished(() => clock.mockRestore());
  };

  it('forward does not take the lock from a running process', async () => {
    const path = await newCounter();
    const holder = await startHolder('own', path, 5_000);
    const done = message(holder, 'done').then(() => 'holder');
    moveClock(HOUR);
    const own = withFileLock(path, async () => 'waiting');
    expect(await Promise.race([done, own])).toBe('holder');
    expect(await own).toBe('waiting');
  });

  it('backward does not keep the lock of a killed process', async () => {
    const path = await newCounter();
    await end(await startHolder('own', path), 'SIGKILL');
    moveClock(-HOUR);
    const since = performance.now();
    await withFileLock(path, async () => {});
    expect(performance.now() - since).toBeGreaterThan(9_000);
  });
});

describe('the wait for a file lock', () => {
  it('ends with the reason of its signal, also behind another call of this process', async () => {
    const path = await newCounter();
    await startHolder('own', path);
    const controller = new AbortController();
    const work = vi.fn(async () => {});
    const first = failureOf(withFileLock(path, work, { signal: controller.signal }));
    const second = failureOf(withFileLock(path, work, { signal: controller.signal }));
    const reason = new Error('stop');
    controller.abort(reason);
    expect(await first).toBe(reason);
    expect(await second).toBe(reason);
    expect(await failureOf(withFileLock(path, work, { signal: controller.signal }))).toBe(reason);
    expect(work).not.toHaveBeenCalled();
  });

  it('leaves no lock when its signal aborts while it acquires it, and does not stop work that runs', async () => {
    const path = await newCounter();
    const work = vi.fn(async () => {});
    const aborted = new AbortController();
    const call = failureOf(withFileLock(path, work, { signal: aborted.signal }));
    while (!existsSync(`${path}.lock`)) await new Promise(setImmediate);
    aborted.abort();
    expect(await call).toMatchObject({ name: 'AbortError' });
    await withFileLock(path, async () => {});
    expect(work).not.toHaveBeenCalled();
    expect(await filesBeside(path)).toEqual(['counter']);

    const running = new AbortController();
    const result = withFileLock(
      path,
      async () => {
        running.abort();
        return existsSync(`${path}.lock`);
      },
      { signal: running.signal },
    );
    expect(await result).toBe(true);
  });

  it('ends after its maximum with an error, whose advice works', async () => {
    const path = await newCounter();
    const holder = await startHolder('own', path);
    const error = await failureOf(withFileLock(path, async () => {}, { maxWaitMs: 300 }));
    expect(error).toMatchObject({ name: 'FileError', code: 'file-unwritable', path: `${path}.lock` });
    expect(String(error)).toMatch(
      /held for 0\.3 seconds\. If none of your processes uses .*, delete .*\.lock and try again/,
    );
    await end(holder, 'SIGKILL');
    await rm(`${path}.lock`, { recursive: true });
    expect(await withFileLock(path, async () => 7, { maxWaitMs: 300 })).toBe(7);
  });
});
