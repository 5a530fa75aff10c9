import { describe, expect, it } from 'vitest';
import { progressOf } from '../../src/spec/job-status.ts';

describe('what a status means', () => {
  it.each([
    ['audience', 104, false, 'completed'],
    ['audience', 107, false, 'needs-info'],
    ['audience', 105, false, 'running'],
    ['audience', 400, false, 'failed'],
    ['audience', 400, true, 'cancelled'],
    ['audience', 404, true, 'failed'],
    ['audience', 499, false, 'failed'],
    ['audience', 500, false, 'running'],
    ['audience', 4, false, 'running'],
    ['audience', -1, false, 'running'],
    ['activation', 105, false, 'running'],
    ['activation', 104, false, 'completed'],
    ['estimate', 104, false, 'completed'],
    ['lookalike', 400, true, 'cancelled'],
    ['cohort', 3, false, 'running'],
    ['cohort', 4, false, 'completed'],
    ['cohort', 5, false, 'failed'],
    ['cohort', 104, false, 'running'],
    ['cohort', 404, false, 'running'],
  ] as const)('%s at %i (lookalike: %s) is %s', (kind, id, is_lookalike, progress) => {
    expect(progressOf(kind, { id: 1, status: { id, name: 'x' }, is_lookalike })).toBe(progress);
  });
});
