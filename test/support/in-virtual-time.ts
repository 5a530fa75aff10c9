import { afterEach, beforeEach } from 'vitest';
import { startVirtualTime, type VirtualTime } from './virtual-time.ts';

/** Runs every test of a file in virtual time, each in its own. */
export function inVirtualTime(): VirtualTime {
  let current = startVirtualTime();
  current.end();
  beforeEach(() => {
    current = startVirtualTime();
  });
  afterEach(() => current.end());
  return {
    until: (work) => current.until(work),
    pass: (ms) => current.pass(ms),
    sleepThrough: (ms) => current.sleepThrough(ms),
    timersLeft: () => current.timersLeft(),
    end: () => current.end(),
  };
}
