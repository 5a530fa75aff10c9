import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Renewals } from '../../src/transport/renewals.ts';

const MINUTE = 60_000;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a token that was renewed and refused, too', () => {
  it('is not renewed again for a minute, by whatever is refused', () => {
    const renewals = new Renewals();
    expect(renewals.mayHelp('one', 'audiences.list')).toBe(true);
    renewals.failed('one', 'audiences.list');
    expect(renewals.mayHelp('one', 'audiences.list')).toBe(false);
    expect(renewals.mayHelp('one', 'usage.get')).toBe(false);
    expect(renewals.mayHelp('two', 'audiences.list')).toBe(true);
    vi.advanceTimersByTime(MINUTE);
    expect(renewals.mayHelp('one', 'audiences.list')).toBe(true);
  });

  it('is renewed for others when the service has taken it from them', () => {
    const renewals = new Renewals();
    renewals.failed('one', 'audiences.list');
    renewals.taken('one', false);
    expect(renewals.mayHelp('one', 'audiences.list')).toBe(false);
    expect(renewals.mayHelp('one', 'usage.get')).toBe(true);
  });

  it('waits twice as long each time, an hour at most, until a renewal helps', () => {
    const renewals = new Renewals();
    const heldFor = (): number => {
      // Calls that fail together count once.
      renewals.failed('one', 'audiences.list');
      renewals.failed('one', 'audiences.list');
      let minutes = 0;
      for (; !renewals.mayHelp('one', 'audiences.list'); minutes++) vi.advanceTimersByTime(MINUTE);
      return minutes;
    };
    expect([1, 2, 3, 4, 5, 6, 7, 8].map(heldFor)).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
    renewals.taken('two', true);
    expect(heldFor()).toBe(1);
  });
});
