import { afterAll, beforeAll, beforeEach, expect } from 'vitest';

/** Resources that keep this process running besides the test runner: timers, sockets, servers. */
const kept = (which = /^(?:TCP|Timeout)/): string[] =>
  process.getActiveResourcesInfo().filter((name) => which.test(name));

/** Resources before the first test: the runner's own timer, and those that earlier files in this process have left. */
let before: readonly string[] = [];
beforeAll(() => {
  before = kept();
});

async function expectNone(which: RegExp | undefined, message: string): Promise<void> {
  const allowed = before.filter((name) => which?.test(name) ?? true).length;
  for (let tries = 0; tries < 500 && kept(which).length > allowed; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(kept(which).slice(allowed), message).toEqual([]);
}

/** Waits until no timer is left, in the midst of a test. */
export const expectNoTimer = (): Promise<void> => expectNone(/^Timeout/, 'timers left');

// A test's own clean-up is over only when the next one begins: what is left fails the next hook.
beforeEach(() => expectNone(undefined, 'left by the test before'));
afterAll(() => expectNone(undefined, 'left by the last test'));
