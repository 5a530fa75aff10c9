import { setImmediate as realImmediate } from 'node:timers/promises';
import FakeTimers from '@sinonjs/fake-timers';
import { vi } from 'vitest';

/** Time of this process that advances only when a test lets it, as fast as the work permits. */
export interface VirtualTime {
  /** Advances time until `work` has settled. */
  until<T>(work: PromiseLike<T>): Promise<T>;
  /** Advances time until `check` passes. */
  untilTrue(check: () => boolean): Promise<void>;
  /** Advances time by `ms`. */
  pass(ms: number): Promise<void>;
  /** Simulates sleep of the machine: all clocks advance, and each timer that is due fires once. */
  sleepThrough(ms: number): Promise<void>;
  /** Advances time by a second, then returns the number of timers that remain. */
  timersLeft(): Promise<number>;
  /** Restores the timers and clocks of this process. */
  end(): void;
}

/** Timers and clocks of this process. Intervals may stay real: a lock that is held for virtual hours would write to the disk thousands of times. */
const CLOCKS = ['setTimeout', 'clearTimeout', 'Date', 'performance'] as const;
const INTERVALS = ['setInterval', 'clearInterval'] as const;

/** Resources of Node that exist while a file is read or written, or an address is looked up or connected to. */
const REQUEST = /^(?:FSReq|Close|GetAddrInfo|TCPConnect|PipeConnect|WriteWrap|ShutdownWrap)/;

/**
 * Turns of the event loop without work after which a process can only wait. What it sends to itself over loopback arrives
 * in the next turn, so that this does not depend on the speed of the machine.
 */
const QUIET_TURNS = 6;

/** Returns whether this process reads or writes files, or connects to an address. */
export const isWorking = (): boolean => process.getActiveResourcesInfo().some((name) => REQUEST.test(name));

/**
 * Replaces the timers and clocks of this process. Time stands still while `isBusy` returns true: `isWorking` if the test
 * uses files, imports modules or sends requests over loopback; more if it waits for another process, such as a server.
 */
export function startVirtualTime(isBusy?: () => boolean, { realIntervals = false } = {}): VirtualTime {
  /** Lets promises, streams and requests settle, without advancing time. */
  async function settle(): Promise<void> {
    if (!isBusy) {
      for (let turn = 0; turn < 4; turn++) await realImmediate();
      return;
    }
    // Benchmarks run outside of vitest.
    if (process.env.VITEST) await vi.dynamicImportSettled();
    for (let quiet = 0; quiet < QUIET_TURNS; quiet++) {
      await realImmediate();
      if (isBusy()) quiet = -1;
    }
  }

  const clock = FakeTimers.install({
    toFake: [...CLOCKS, ...(realIntervals ? [] : INTERVALS)],
    // Start at the current date instead of 1970.
    now: Date.now(),
  });

  async function advanceUntil(isDone: () => boolean): Promise<void> {
    for (await settle(); !isDone(); await settle()) {
      if (clock.countTimers() === 0) throw new Error('It waits for what never comes.');
      clock.next();
    }
  }

  return {
    async until(work) {
      let settled = false;
      const done = (): void => {
        settled = true;
      };
      work.then(done, done);
      await advanceUntil(() => settled);
      return work;
    },
    untilTrue: advanceUntil,
    async pass(ms) {
      const end = clock.now + ms;
      const alarm = setTimeout(() => {}, ms);
      await advanceUntil(() => clock.now >= end);
      clearTimeout(alarm);
    },
    async sleepThrough(ms) {
      clock.jump(ms);
      await settle();
    },
    async timersLeft() {
      await this.pass(1_000);
      for (let tick = 0; tick < 100 && clock.countTimers() > 0; tick++) await settle();
      return clock.countTimers();
    },
    end: () => clock.uninstall(),
  };
}
