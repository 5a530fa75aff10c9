import { AsyncResource } from 'node:async_hooks';
import { setImmediate as realImmediate } from 'node:timers/promises';
import FakeTimers from '@sinonjs/fake-timers';
import { vi } from 'vitest';
import { watchCrypto } from './crypto-work.ts';

/** Time of this process that advances only when a test lets it, as fast as the work permits. */
export interface VirtualTime {
  /** Advances time until `work` has settled. */
  until<T>(work: PromiseLike<T>): Promise<T>;
  /** Advances time until `check` returns true, for an hour at most. */
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

// Vitest takes `Date` as the real one when its fake timers are first used: that must not be in virtual time.
if ('__vitest_worker__' in globalThis) vi.isFakeTimers();

/** Timers and clocks of this process. Intervals may stay real: a lock that is held for virtual hours would write to the disk thousands of times. */
const CLOCKS = ['setTimeout', 'clearTimeout', 'Date', 'performance'] as const;
const INTERVALS = ['setInterval', 'clearInterval'] as const;

/** Resources of Node that exist while a file is read or written, an address is connected to, or a child process runs. */
const WORK = /^(?:FSReq|Close|GetAddrInfo|TCPConnect|PipeConnect|WriteWrap|ShutdownWrap|Process|Immediate)/;

/**
 * Turns of the event loop without work after which a process can only wait. What it sends to itself over loopback arrives
 * in the next turn, so that this does not depend on the speed of the machine.
 */
const QUIET_TURNS = 6;

/** Node numbers each asynchronous operation. In a turn without work, there are two: the turn itself, and this call. */
const IDS_OF_A_TURN = 2;
const newAsyncId = (): number => new AsyncResource('turn').asyncId();

const MAX_WAIT_MS = 3_600_000;

/** A closed connection, for example, needs no timer to come to its end, but some turns. */
const MAX_STEPS_WITHOUT_TIMER = 1_000;

/** Returns whether this process reads or writes files, connects to an address, or waits for a child process. */
export const isWorking = (): boolean => process.getActiveResourcesInfo().some((name) => WORK.test(name));

/**
 * Replaces the timers and clocks of this process. Time stands still while `isBusy` returns true: `isWorking` if the test
 * uses files, imports modules or sends requests over loopback; more if it waits for another process, such as a server.
 */
export function startVirtualTime(isBusy?: () => boolean, { realIntervals = false } = {}): VirtualTime {
  const crypto = watchCrypto();
  let quietTurns = 0;
  let settling: Promise<void> | undefined;

  /** Lets promises, streams and requests settle, without advancing time. */
  function settle(): Promise<void> {
    quietTurns = 0;
    settling ??= (isBusy ? untilQuiet(isBusy) : fewTurns()).finally(() => {
      settling = undefined;
    });
    return settling;
  }

  async function fewTurns(): Promise<void> {
    while (quietTurns++ < 4) {
      await realImmediate();
      if (crypto.isRunning()) quietTurns = 0;
    }
  }

  let lastId = newAsyncId();
  /** Returns how many asynchronous operations began since the last call, this call included. */
  function begun(): number {
    const before = lastId;
    lastId = newAsyncId();
    return lastId - before;
  }

  async function untilQuiet(isBusy: () => boolean): Promise<void> {
    let mayImport = begun() > 1;
    for (;;) {
      while (quietTurns++ < QUIET_TURNS) {
        await realImmediate();
        if (begun() <= IDS_OF_A_TURN && !isBusy() && !crypto.isRunning()) continue;
        quietTurns = 0;
        mayImport = true;
      }
      // Benchmarks run outside of vitest.
      if (!mayImport || !process.env.VITEST) return;
      // Vitest loads modules in another process, and asking for them takes a millisecond.
      await vi.dynamicImportSettled();
      begun();
      quietTurns = 0;
      mayImport = false;
    }
  }

  const clock = FakeTimers.install({
    toFake: [...CLOCKS, ...(realIntervals ? [] : INTERVALS)],
    // Start at the current date instead of 1970.
    now: Date.now(),
    // Connections of `fetch` outlive a test, with their timers.
    shouldClearNativeTimers: true,
  });

  let step: Promise<void> | undefined;
  let stepsWithoutTimer = 0;

  async function advance(): Promise<void> {
    if (clock.countTimers() > 0) {
      stepsWithoutTimer = 0;
      clock.next();
    } else if (++stepsWithoutTimer > MAX_STEPS_WITHOUT_TIMER) throw new Error('It waits for what never comes.');
    await settle();
  }

  /** Advances time until `isDone`; those that wait at the same time advance it together. */
  async function advanceUntil(isDone: () => boolean): Promise<void> {
    for (await settle(); !isDone(); await step) {
      step ??= advance().finally(() => {
        step = undefined;
      });
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
    async untilTrue(check) {
      const end = clock.now + MAX_WAIT_MS;
      await advanceUntil(() => {
        if (clock.now > end) throw new Error(`It did not come true within ${MAX_WAIT_MS} ms.`);
        return check();
      });
    },
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
    end: () => {
      clock.uninstall();
      crypto.end();
    },
  };
}
