import { setImmediate as realImmediate } from 'node:timers/promises';
import FakeTimers from '@sinonjs/fake-timers';

/** Time of this process, which passes only as fast as its work is done. */
export interface VirtualTime {
  /** Milliseconds since it began. */
  now(): number;
  /** Lets time pass until `work` has settled. */
  until<T>(work: Promise<T>): Promise<T>;
  /** Back to the machine's time. */
  end(): void;
}

/** Takes over the timers and clocks of this process. */
export function startVirtualTime(): VirtualTime {
  const clock = FakeTimers.install({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'],
  });
  return {
    now: () => performance.now(),
    async until(work) {
      let settled = false;
      const done = (): void => {
        settled = true;
      };
      work.then(done, done);
      while (!settled) {
        // What runs on promises and streams alone takes no time.
        await realImmediate();
        if (!settled) await clock.nextAsync();
      }
      return work;
    },
    end: () => clock.uninstall(),
  };
}
