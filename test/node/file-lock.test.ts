import '../support/nothing-left.ts';
import { existsSync, promises } from 'node:fs';
import { mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import { lock } from 'proper-lockfile';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { withFileLock } from '../../src/node/file-lock.ts';
import { sleep } from '../../src/util/abort.ts';
import { makeOlder, temporaryDirectory } from '../support/directory.ts';
import { failureOf } from '../support/server.ts';
import { isWorking, startVirtualTime, type VirtualTime } from '../support/virtual-time.ts';

const HOUR = 3_600_000;

/** Longer than the ten seconds after which a lock that nobody refreshes is taken over. */
const LONG = 15_000;

let time: VirtualTime | undefined;
afterEach(() => {
  time?.end();
  time = undefined;
});

/** Creates a file, and another name of it: calls with different names contend as those of two processes do. */
async function startFile() {
  const path = join(await temporaryDirectory(), 'counter');
  await writeFile(path, '0');
  const otherName = join(await temporaryDirectory(), 'link');
  await symlink(path, otherName);
  time = startVirtualTime(isWorking);
  return { path, otherName, time };
}

const filesBeside = (path: string): Promise<string[]> => readdir(dirname(path));

/** Acquires the lock, calls `onHeld`, and holds the lock for a time. */
type Hold = (path: string, ms: number, onHeld?: () => void) => Promise<void>;

const hold: Hold = (path, ms, onHeld) =>
  withFileLock(path, () => {
    onHeld?.();
    return sleep(ms, undefined);
  });

/** Does the same as versions before 0.3, which used proper-lockfile. */
const holdAsEarlier: Hold = async (path, ms, onHeld) => {
  for (;;) {
    const release = await lock(path, { stale: 10_000, update: 2_000, onCompromised() {} }).catch(() => undefined);
    if (release) {
      onHeld?.();
      await sleep(ms, undefined);
      return release();
    }
    await sleep(50, undefined);
  }
};

describe('the file lock', () => {
  it.each([
    ['this version', 'this version', hold, hold],
    ['this version', 'an earlier one', hold, holdAsEarlier],
    ['an earlier version', 'this version', holdAsEarlier, hold],
  ])(
    'stays with a holder of %s for longer than ten seconds while one of %s waits',
    async (_, __, holder, contender) => {
      const { path, otherName, time } = await startFile();
      const since = performance.now();
      const held = holder(path, LONG);
      await time.untilTrue(() => existsSync(`${path}.lock`));
      let waited = 0;
      const acquired = contender(otherName, 0, () => {
        waited = performance.now() - since;
      });
      await time.until(Promise.all([held, acquired]));
      expect(waited).toBeGreaterThanOrEqual(LONG);
      expect(waited).toBeLessThan(LONG + 1_000);
      expect(await filesBeside(path)).toEqual(['counter']);
    },
  );

  it.each([
    ['this version', hold],
    ['an earlier version', holdAsEarlier],
  ])('is taken over by %s ten seconds after its holder was killed', async (_, contender) => {
    const { path, time } = await startFile();
    await mkdir(`${path}.lock`);
    const since = performance.now();
    await time.until(contender(path, 0));
    expect(performance.now() - since).toBeGreaterThan(9_000);
    expect(performance.now() - since).toBeLessThan(12_000);
  });

  it.each([
    ['after it has begun', ['counter.lock', 'counter.lock.takeover']],
    ['after it has removed the stale lock', ['counter.lock.takeover']],
  ])('is taken over from a process that was killed in its takeover, %s', async (_, left) => {
    const { path, time } = await startFile();
    for (const name of left) await mkdir(join(path, '..', name));
    for (const name of left) await makeOlder(join(path, '..', name), LONG);
    await time.until(hold(path, 0));
    // Without a stale lock, a guard is in nobody's way.
    expect(await filesBeside(path)).toEqual(left.length === 2 ? ['counter'] : ['counter', ...left]);
  });

  it('stays with a holder whose machine has slept, if nobody has taken it over', async () => {
    const { path, otherName, time } = await startFile();
    const order: unknown[] = [];
    const held = withFileLock(path, async (lost) => {
      await sleep(2 * LONG, undefined);
      order.push(lost.aborted);
    });
    await time.untilTrue(() => existsSync(`${path}.lock`));
    const acquired = withFileLock(otherName, async () => order.push('acquired'));
    await time.pass(5_000);
    await time.sleepThrough(20_000);
    await time.until(Promise.all([held, acquired]));
    expect(order).toEqual([false, 'acquired']);
  });
});

/** Lets the first takeover in this process pause at one of its steps, as if its process was suspended. */
function pauseTakeover(step: string) {
  const resumed = Promise.withResolvers<void>();
  const state = { isPaused: false };
  const reach = async (current: string): Promise<void> => {
    if (state.isPaused || current !== step) return;
    state.isPaused = true;
    await resumed.promise;
  };
  const real = { mkdir: promises.mkdir, rmdir: promises.rmdir };
  const replace = (functions: object): void => {
    Object.assign(promises, functions);
    syncBuiltinESMExports();
  };
  onTestFinished(() => replace(real));
  replace({
    async mkdir(folder: string, options?: object) {
      if (folder.endsWith('.takeover')) await reach('before it creates its guard');
      const created = await real.mkdir(folder, options);
      if (folder.endsWith('.takeover')) await reach('before it looks at the lock again');
      return created;
    },
    async rmdir(folder: string) {
      if (folder.endsWith('.lock')) await reach('before it removes the lock');
      await real.rmdir(folder);
      if (folder.endsWith('.lock')) await reach('before it creates its own lock');
    },
  });
  return { isPaused: () => state.isPaused, resume: resumed.resolve };
}

it.each([
  'before it creates its guard',
  'before it looks at the lock again',
  'before it removes the lock',
  'before it creates its own lock',
])('a stale file lock has one holder at a time when a takeover pauses for six seconds %s', async (step) => {
  const { path, otherName, time } = await startFile();
  await mkdir(`${path}.lock`);
  await makeOlder(`${path}.lock`, LONG);
  const holders: number[] = [];
  let current = 0;
  const count = (name: string): Promise<void> =>
    withFileLock(name, async () => {
      holders.push(++current);
      await sleep(300, undefined);
      current--;
    });
  const { isPaused, resume } = pauseTakeover(step);
  const paused = count(path);
  await time.untilTrue(isPaused);
  const other = count(otherName);
  await time.pass(6_000);
  resume();
  await time.until(Promise.all([paused, other]));
  expect(holders).toEqual([1, 1]);
  expect(await filesBeside(path)).toEqual(['counter']);
});

describe('a change of the system clock', () => {
  const moveClock = (ms: number): void => {
    const { now } = Date;
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() + ms);
    onTestFinished(() => clock.mockRestore());
  };

  it('forward does not take the lock from a running process', async () => {
    const { path, otherName, time } = await startFile();
    const order: string[] = [];
    const held = hold(path, LONG).then(() => order.push('released'));
    await time.untilTrue(() => existsSync(`${path}.lock`));
    moveClock(HOUR);
    await time.until(Promise.all([held, withFileLock(otherName, async () => order.push('acquired'))]));
    expect(order).toEqual(['released', 'acquired']);
  });

  it('backward does not keep a lock that nobody refreshes', async () => {
    const { path, time } = await startFile();
    await mkdir(`${path}.lock`);
    moveClock(-HOUR);
    const since = performance.now();
    await time.until(hold(path, 0));
    expect(performance.now() - since).toBeGreaterThan(9_000);
    expect(performance.now() - since).toBeLessThan(12_000);
  });
});

describe('the holder of a file lock', () => {
  it('learns that the folder was removed, and does not remove the folder of the next holder', async () => {
    const { path, time } = await startFile();
    const held = withFileLock(path, async (lost) => {
      await rm(`${path}.lock`, { recursive: true });
      const aborted = new Promise((resolve) => lost.addEventListener('abort', resolve));
      await mkdir(`${path}.lock`);
      await aborted;
      expect(lost.reason).toMatchObject({ name: 'FileError', code: 'file-unwritable', path: `${path}.lock` });
      expect(lost.reason.advice).toBe('Read the file again before you write it.');
    });
    await time.until(held);
    expect(await filesBeside(path)).toEqual(['counter', 'counter.lock']);
  });

  it('does not remove the folder of the next holder, even before it notices the loss of the lock', async () => {
    const { path } = await startFile();
    await withFileLock(path, async () => {
      await rm(`${path}.lock`, { recursive: true });
      await mkdir(`${path}.lock`);
    });
    expect(await filesBeside(path)).toEqual(['counter', 'counter.lock']);
  });

  it('adds no listener to the process', async () => {
    const { path } = await startFile();
    const listeners = (): unknown => process.eventNames().map((name) => [name, process.listenerCount(name)]);
    const before = listeners();
    expect(await withFileLock(path, async () => listeners())).toEqual(before);
    expect(listeners()).toEqual(before);
  });
});

describe('the wait for a file lock', () => {
  it('ends with the reason of its signal, also behind another call of this process', async () => {
    const { path } = await startFile();
    await mkdir(`${path}.lock`);
    const controller = new AbortController();
    const { signal } = controller;
    const work = vi.fn(async () => {});
    const first = failureOf(withFileLock(path, work, signal));
    const second = failureOf(withFileLock(path, work, signal));
    const reason = new Error('stop');
    controller.abort(reason);
    expect(await first).toBe(reason);
    expect(await second).toBe(reason);
    expect(await failureOf(withFileLock(path, work, signal))).toBe(reason);
    expect(work).not.toHaveBeenCalled();
  });

  it('leaves no lock when its signal aborts while it acquires it, and does not stop work that runs', async () => {
    const { path } = await startFile();
    const work = vi.fn(async () => {});
    const aborted = new AbortController();
    const call = failureOf(withFileLock(path, work, aborted.signal));
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
      running.signal,
    );
    expect(await result).toBe(true);
  });

  it('ends after its maximum with an error, whose advice works', async () => {
    const { path, otherName, time } = await startFile();
    const held = hold(otherName, 130_000);
    await time.untilTrue(() => existsSync(`${path}.lock`));
    const error = await time.until(failureOf(withFileLock(path, async () => {})));
    expect(error).toMatchObject({ name: 'FileError', code: 'file-unwritable', path: expect.stringMatching(/\.lock$/) });
    expect(String(error)).toMatch(
      /not released within 120 seconds\. If none of your processes uses .*, delete .*\.lock and try again/,
    );
    await rm(`${path}.lock`, { recursive: true });
    expect(await withFileLock(path, async () => 7)).toBe(7);
    await time.until(held);
  });
});
