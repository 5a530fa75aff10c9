import { afterAll, beforeAll, beforeEach, expect } from 'vitest';

/** Returns the resources of this process that keep it alive: TCP sockets and servers, and timers. */
const kept = (which = /^(?:TCP|Timeout)/): string[] =>
  process.getActiveResourcesInfo().filter((name) => which.test(name));

/** Resources before the first test: those of the test runner, and those that earlier test files have left. */
let before: readonly string[] = [];
beforeAll(() => {
  before = kept();
});

async function expectNone(which: RegExp | undefined, message: string): Promise<void> {
  const allowed = before.filter((name) => which?.test(name) ?? true).length;
  for (let tries = 0; tries < 3_000 && kept(which).length > allowed; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(kept(which).slice(allowed), message).toEqual([]);
}

/** Waits until no timer is left, during a test. */
export const expectNoTimer = (): Promise<void> => expectNone(/^Timeout/, 'timers left');

// Callbacks of `onTestFinished` run after `afterEach`, so check for resources that a test has left before the next
// test.
beforeEach(() => expectNone(undefined, 'left by the test before'));
afterAll(() => expectNone(undefined, 'left by the last test'));
