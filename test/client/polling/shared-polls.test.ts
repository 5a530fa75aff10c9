import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PollTarget } from '../../../src/client/polling/job.ts';
import { SharedPolls } from '../../../src/client/polling/shared-polls.ts';
import { RATE_LIMITS } from '../../../src/spec/limits.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const { signal } = new AbortController();

/** Creates a target that is due, and whose polls end when the test lets them. */
function createTarget() {
  const reading = Promise.withResolvers<void>();
  const target = new PollTarget<{ wake(): void }>(new Set(), async (_, onPermit) => {
    onPermit();
    await reading.promise;
  });
  return { target: target.plan('single', 0), end: reading.resolve };
}

const createPolls = (): SharedPolls => new SharedPolls(RATE_LIMITS.read, undefined);

describe('the polls of several waits', () => {
  it('take turns by when they are due', async () => {
    const polls = createPolls();
    const [first, second] = [createTarget().target, createTarget().target];
    vi.advanceTimersByTime(1);
    second.dueAt = 1;
    first.dueAt = 0;
    polls.expect(first, 1_000);
    expect(polls.takeTurn(second)).toBeGreaterThan(0);
    expect(polls.takeTurn(first)).toBe(0);
    void polls.poll(first, signal);
    vi.advanceTimersByTime(Math.ceil(polls.takeTurn(second)));
    expect(polls.takeTurn(second)).toBe(0);
  });

  it('a turn that nobody takes passes to the next target', () => {
    const polls = createPolls();
    const [left, waiting] = [createTarget().target, createTarget().target];
    polls.expect(left, 5_000);
    const wait = polls.takeTurn(waiting);
    expect(wait).toBeGreaterThan(0);
    vi.advanceTimersByTime(Math.ceil(wait));
    expect(polls.takeTurn(waiting)).toBe(0);
  });

  it('a poll counts as in flight until it ends, or until a Worker drops it with its request', async () => {
    const polls = createPolls();
    const ended = createTarget();
    const polling = polls.poll(ended.target, signal);
    vi.advanceTimersByTime(60_000);
    expect(polls.takeTurn(ended.target)).toBeGreaterThan(0);
    ended.end();
    await polling;
    vi.advanceTimersByTime(2_000);
    expect(polls.takeTurn(ended.target)).toBe(0);

    const lost = createTarget().target;
    vi.spyOn(globalThis, 'setInterval').mockReturnValueOnce(0 as never);
    void polls.poll(lost, signal);
    vi.advanceTimersByTime(2_900);
    expect(polls.takeTurn(lost)).toBeGreaterThan(0);
    vi.advanceTimersByTime(100);
    expect(polls.takeTurn(lost)).toBe(0);
  });

  it('a target that its last job has left is forgotten', () => {
    const polls = createPolls();
    const { target } = createTarget();
    const period = polls.period;
    for (const more of [target, createTarget().target, createTarget().target]) polls.expect(more, 1_000);
    expect(polls.period).toBeGreaterThan(period);
    polls.remove(target);
    expect(polls.period).toBeLessThan(6_000);
  });
});
