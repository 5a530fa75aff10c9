import { describe, expect, it, vi } from 'vitest';
import type { ConflictReading } from '../../../src/client/http/conflict.ts';
import {
  type CallRetryLimits,
  type Failure,
  nextRetry,
  RetryHistory,
  type RetryState,
} from '../../../src/client/http/retry-policy.ts';
import { backoffDelay } from '../../../src/util/retry.ts';
import { MAX_RETRY_AFTER_MS, parseRetryAfter } from '../../../src/util/retry-after.ts';

const limits: CallRetryLimits = {
  retry: 'always',
  maxRetries: 4,
  maxRetryWait: 120_000,
  backoff: { min: 500, max: 30_000 },
  canRenewToken: false,
  onConflict: 'throw',
  timeLeft: Number.POSITIVE_INFINITY,
};
const fresh: RetryState = {
  retries: 0,
  conflicts: 0,
  conflictAge: 0,
  rejectedToken: undefined,
  mayBeOwn: false,
  conflict: undefined,
};
const middle = () => 0.5;
const status = (code: number, retryAfter?: number): Failure => ({
  kind: 'status',
  status: code,
  ...(retryAfter !== undefined && { retryAfter }),
});
const conflict = (reading: ConflictReading, retryAfter?: number): Failure => ({
  kind: 'status',
  status: 409,
  conflict: reading,
  ...(retryAfter !== undefined && { retryAfter }),
});
const MINUTE = 60_000;
const decide = (
  failure: Failure,
  {
    retries,
    conflict,
    conflicts,
    conflictAge,
    rejectedToken,
    mayBeOwn,
    ...changes
  }: Partial<RetryState & CallRetryLimits> = {},
) => {
  const history = { retries, conflict, conflicts, conflictAge, rejectedToken, mayBeOwn };
  const changed = Object.fromEntries(Object.entries(history).filter(([, value]) => value !== undefined));
  return nextRetry(failure, { ...fresh, ...changed }, { ...limits, ...changes }, middle);
};

describe('backoff', () => {
  it('is random between `min` and `min · 2^n`, never above `max`', () => {
    const backoff = { min: 500, max: 3_000 };
    expect([1, 2, 3, 10].map((n) => backoffDelay(n, backoff, () => 0))).toEqual([500, 500, 500, 500]);
    expect([1, 2, 3, 10].map((n) => backoffDelay(n, backoff, () => 1))).toEqual([1_000, 2_000, 3_000, 3_000]);
    expect(backoffDelay(1, { min: 500, max: 100 }, () => 1)).toBe(500);
  });
});

describe('the decision to retry', () => {
  const failures: [string, Failure, boolean, boolean, boolean][] = [
    // failure, and whether it is retried under `idempotency-key`, `always`, `never`
    ['not sent', { kind: 'not-sent' }, true, true, true],
    ['lost', { kind: 'lost' }, true, true, false],
    ['no envelope', { kind: 'no-envelope' }, true, true, false],
    ['final', { kind: 'final', outcome: 'unknown' }, false, false, false],
    ...[408, 500, 502, 503, 504].map((code): [string, Failure, boolean, boolean, boolean] => [
      String(code),
      status(code),
      true,
      true,
      false,
    ]),
    ['429', status(429), true, true, true],
    ...[400, 403, 404, 406, 422, 501].map((code): [string, Failure, boolean, boolean, boolean] => [
      String(code),
      status(code),
      false,
      false,
      false,
    ]),
  ];
  it.each(failures)('the operation decides whether the client retries after %s', (_, failure, key, safe, never) => {
    const decided = (['idempotency-key', 'always', 'never'] as const).map((retry) => decide(failure, { retry }));
    expect(decided.map((retry) => retry !== undefined)).toEqual([key, safe, never]);
  });

  it('ends with `maxRetries`', () => {
    expect(decide(status(503), { retries: 3 })).toBeDefined();
    expect(decide(status(503), { retries: 4 })).toBeUndefined();
    expect(decide(status(503), { maxRetries: 0 })).toBeUndefined();
  });

  it('honors `Retry-After` within `maxRetryWait` and the deadline', () => {
    expect(decide(status(503, 7_000))).toEqual({ delay: 7_000, reason: 'transient' });
    expect(decide(status(503, 0))).toMatchObject({ delay: 0 });
    expect(decide(status(503, 120_001))).toBeUndefined();
    expect(decide(status(503, 7_000), { timeLeft: 6_000 })).toBeUndefined();
    expect(decide(status(503), { timeLeft: 100 })).toBeUndefined();
  });

  it('retries a 401 once with another token, beyond `maxRetries`', () => {
    const renewed = decide(status(401), { retry: 'never', canRenewToken: true, retries: 4 });
    expect(renewed).toEqual({ delay: 0, reason: 'token' });
    expect(decide(status(401))).toBeUndefined();
    expect(decide(status(401), { canRenewToken: true, rejectedToken: 'old' })).toBeUndefined();
  });

  it('retries a 409 that its own create caused for up to a minute, beyond `maxRetries`', () => {
    const create = { retry: 'idempotency-key', mayBeOwn: true, conflicts: 1, retries: 4 } as const;
    const failure = conflict('in-doubt');
    expect(decide(failure, create)).toMatchObject({ reason: 'conflict' });
    expect(decide(failure, { ...create, conflictAge: MINUTE })).toBeUndefined();
    expect(decide(failure, { ...create, conflictAge: MINUTE - 100 })).toMatchObject({ delay: 100 });
    expect(decide(conflict('in-doubt', 100_000), create)).toBeUndefined();
    expect(decide(failure, { ...create, mayBeOwn: false })).toBeUndefined();
    expect(decide(failure, { ...create, mayBeOwn: false, onConflict: 'wait' })).toBeDefined();
    expect(decide(failure, { ...create, retry: 'always', onConflict: 'wait' })).toBeUndefined();
  });

  it('never waits for the replay of a create with another body', () => {
    const create = { retry: 'idempotency-key', conflict: 'other-body', conflicts: 1, onConflict: 'wait' } as const;
    expect(decide(conflict('other-body'), create)).toBeUndefined();
  });

  it('waits for the build budget beyond `maxRetries`, within `maxRetryWait`, unless retries are off', () => {
    const refused: Failure = { kind: 'budget', wait: 90_000 };
    expect(decide(refused, { retries: 4 })).toEqual({ delay: 90_000, reason: 'budget' });
    expect(decide({ kind: 'budget', wait: 120_001 })).toBeUndefined();
    expect(decide(refused, { timeLeft: 89_000 })).toBeUndefined();
    expect(decide(refused, { maxRetries: 0 })).toBeUndefined();
  });

  it('is never made where the service asks for no retry', () => {
    expect(decide({ kind: 'status', status: 503, final: true })).toBeUndefined();
    expect(
      decide(
        { kind: 'status', status: 409, conflict: 'in-doubt', final: true },
        { retry: 'idempotency-key', mayBeOwn: true },
      ),
    ).toBeUndefined();
  });
});

describe('the history of a call', () => {
  const historyOf = (...failures: Failure[]): RetryHistory => record(new RetryHistory(), failures);
  const record = (history: RetryHistory, failures: readonly Failure[]): RetryHistory => {
    for (const failure of failures) history.onFailure(failure);
    return history;
  };

  it.each<[Failure[], string]>([
    [[], 'not-sent'],
    [[{ kind: 'not-sent' }], 'not-sent'],
    [[status(429), { kind: 'not-sent' }], 'refused'],
    [[{ kind: 'budget', wait: 1 }], 'refused'],
    [[{ kind: 'lost' }, { kind: 'not-sent' }], 'unknown'],
    [[{ kind: 'lost' }], 'unknown'],
    [[status(422)], 'refused'],
    [[{ kind: 'lost' }, status(422)], 'unknown'],
    [[status(429), status(503)], 'unknown'],
    [[{ kind: 'lost' }, { kind: 'final', outcome: 'done' }], 'done'],
  ])('a call history with %j says that the create is %s', (failures, outcome) => {
    expect(historyOf(...failures).outcome).toBe(outcome);
  });

  it.each<[Failure[], string]>([
    [[conflict('in-doubt')], 'unknown'],
    [[conflict('other-body')], 'refused'],
    [[conflict('in-doubt'), conflict('other-body')], 'refused'],
    [[{ kind: 'lost' }, conflict('other-body')], 'unknown'],
    [[conflict('in-doubt'), { kind: 'not-sent' }], 'unknown'],
  ])('a call history with %j to the key of the caller says that the create is %s', (failures, outcome) => {
    expect(record(new RetryHistory(true), failures).outcome).toBe(outcome);
  });

  it.each<[Failure[], string]>([
    [[conflict('in-doubt')], 'unknown'],
    [[conflict('other-body')], 'unknown'],
    [[{ kind: 'lost' }, conflict('in-doubt')], 'unknown'],
    [[{ kind: 'lost' }, conflict('other-body')], 'unknown'],
  ])('a call history with %j to a generated key says that the create is %s', (failures, outcome) => {
    expect(historyOf(...failures).outcome).toBe(outcome);
  });

  it('takes a create in flight for an attempt of this call only after one that may have arrived', () => {
    expect(record(new RetryHistory(true), [conflict('in-doubt'), status(429)]).mayBeOwn).toBe(false);
    expect(record(new RetryHistory(true), [{ kind: 'lost' }]).mayBeOwn).toBe(true);
  });

  it('counts transient retries only, and remembers the token that a 401 rejected', () => {
    const history = historyOf(status(401), status(503), conflict('in-doubt'), { kind: 'budget', wait: 1 });
    for (const reason of ['token', 'transient', 'conflict', 'budget'] as const) history.onRetry(reason, 'old');
    expect(history).toMatchObject({ retries: 1, rejectedToken: 'old', conflicts: 1 });
  });

  it('measures the time since the first 409', () => {
    vi.useFakeTimers();
    try {
      expect(historyOf(status(503)).conflictAge).toBe(0);
      const history = historyOf(conflict('in-doubt'));
      vi.advanceTimersByTime(700);
      history.onFailure(conflict('in-doubt'));
      vi.advanceTimersByTime(300);
      expect(history).toMatchObject({ conflicts: 2, conflictAge: 1_000 });
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('Retry-After', () => {
  const now = Date.parse('2026-11-20T10:00:00Z');
  it.each([
    ['0', 0],
    ['120', 120_000],
    ['1.5', 1_500],
    [' 3 ', 3_000],
    ['-5', undefined],
    ['soon', undefined],
    ['', undefined],
    ['99999999999999999999', MAX_RETRY_AFTER_MS],
    ['1e3', undefined],
    ['Fri, 20 Nov 2026 10:01:00 GMT', 60_000],
    ['Fri, 20 Nov 2026 09:00:00 GMT', 0],
    ['Fri, 99 Nov 2026 09:00:00 GMT', undefined],
    ['Friday, 20-Nov-26 10:01:00 GMT', 60_000],
    ['Fri Nov 20 10:01:00 2026', 60_000],
    ['2026-11-20T10:01:00Z', undefined],
  ])('%j is %s ms', (value, ms) => {
    expect(parseRetryAfter(new Headers({ 'retry-after': value }), now)).toBe(ms);
  });

  it('the client compares a `Retry-After` that is a date with the clock of the service', () => {
    const headers = new Headers({
      'retry-after': 'Fri, 20 Nov 2026 12:01:00 GMT',
      date: 'Fri, 20 Nov 2026 12:00:30 GMT',
    });
    expect(parseRetryAfter(headers, now)).toBe(30_000);
  });

  it('without a `Retry-After` header, there is no wait to honor', () =>
    expect(parseRetryAfter(new Headers(), now)).toBeUndefined());
});
