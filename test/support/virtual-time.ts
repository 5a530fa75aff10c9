import { setImmediate as realImmediate } from 'node:timers/promises';
import FakeTimers from '@sinonjs/fake-timers';

/** Time of this process, which passes only as fast as its work is done. */
export interface VirtualTime {
  /** Lets time pass until `work` has settled. */
  until<T>(work: Promise<T>): Promise<T>;
  /** Lets so many milliseconds pass. */
  pass(ms: number): Promise<void>;
  /** The process sleeps: all clocks advance, and each timer that is due fires once. */
  sleepThrough(ms: number): Promise<void>;
  /** Timers that are left once what is under way has come to its end. */
  timersLeft(): Promise<number>;
  /** Back to the machine's time. */
  end(): void;
}

/** Lets promises and streams settle, which takes no time. */
async function settle(): Promise<void> {
  for (let tick = 0; tick < 4; tick++) await realImmediate();
}

/** Takes over the timers and clocks of this process. */
export function startVirtualTime(): VirtualTime {
  const clock = FakeTimers.install({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'],
    // From the start, no time is near zero.
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
