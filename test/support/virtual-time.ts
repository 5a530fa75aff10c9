import { setImmediate as realImmediate } from 'node:timers/promises';
import FakeTimers from '@sinonjs/fake-timers';

/** Time of this process that advances only when a test lets it, as fast as the work permits. */
export interface VirtualTime {
  /** Advances time until `work` has settled. */
  until<T>(work: Promise<T>): Promise<T>;
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

/**
 * Replaces the timers and clocks of this process. Time stands still while `isBusy` returns true, such as while a command
 * to a real server is in flight.
 */
export function startVirtualTime(isBusy = (): boolean => false, { realIntervals = false } = {}): VirtualTime {
  /** Lets promises and streams settle, without advancing time. */
  async function settle(): Promise<void> {
    for (let tick = 0; tick < 4 || isBusy(); tick++) await realImmediate();
  }

  const clock = FakeTimers.install({
    toFake: [...CLOCKS, ...(realIntervals ? [] : INTERVALS)],
    // Start at the current date instead of 1970.
    now: Date.now(),
  });
  return {
    async until(work) {
      let settled = false;
      const done = (): void => {
        settled = true;
      };
      work.then(done, done);
      for (await settle(); !settled; await settle()) {
        if (clock.countTimers() === 0) throw new Error('It waits for what never comes.');
        clock.next();
      }
      return work;
    },
    async pass(ms) {
      const end = clock.now + ms;
      const alarm = setTimeout(() => {}, ms);
      for (await settle(); clock.now < end; await settle()) clock.next();
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
