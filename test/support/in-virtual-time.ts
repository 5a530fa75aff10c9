import { afterEach, beforeEach } from 'vitest';
import { startVirtualTime, type VirtualTime } from './virtual-time.ts';

/** Runs each test of a file in its own virtual time. */
export function inVirtualTime(): VirtualTime {
  let current = startVirtualTime();
  current.end();
  beforeEach(() => {
    current = startVirtualTime();
  });
  afterEach(() => current.end());
  return {
    until: (work) => current.until(work),
    untilTrue: (check) => current.untilTrue(check),
    pass: (ms) => current.pass(ms),
    sleepThrough: (ms) => current.sleepThrough(ms),
    timersLeft: () => current.timersLeft(),
    end: () => current.end(),
  };
}
