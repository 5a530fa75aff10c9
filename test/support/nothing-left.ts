import { afterAll, beforeEach, expect } from 'vitest';

/** Resources that keep this process running besides the test runner: timers, sockets, servers. */
const kept = (which = /^(?:TCP|Timeout)/): string[] =>
  process.getActiveResourcesInfo().filter((name) => which.test(name));

/** The runner's own timer of a test or a hook. */
const OWN = 1;

async function expectNone(which: RegExp | undefined, message: string): Promise<void> {
  for (let tries = 0; tries < 500 && kept(which).length > OWN; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(kept(which).slice(OWN), message).toEqual([]);
}

/** Waits until no timer is left, in the midst of a test. */
export const expectNoTimer = (): Promise<void> => expectNone(/^Timeout/, 'timers left');

// A test's own clean-up is over only when the next one begins: what is left fails the next hook.
beforeEach(() => expectNone(undefined, 'left by the test before'));
afterAll(() => expectNone(undefined, 'left by the last test'));
