import { describe, expect, it } from 'vitest';
import { AUDIENCE_STATUS, COHORT_STATUS, jobState } from '../../src/spec/job-status.ts';

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
  ] as const)('%s at %i (lookalike: %s) is %s', (kind, id, is_lookalike, state) => {
    expect(jobState(kind, { status: { id }, is_lookalike })).toBe(state);
  });

  it('the constants name the statuses that end jobs', () => {
    const { completed, dataStreaming, additionalInfo, cancelled } = AUDIENCE_STATUS;
    const states = [completed, dataStreaming, additionalInfo, cancelled].map((id) =>
      jobState('lookalike', { status: { id }, is_lookalike: true }),
    );
    expect(states).toEqual(['completed', 'running', 'needs-info', 'cancelled']);
    const cohorts = [COHORT_STATUS.completed, COHORT_STATUS.notAvailable].map((id) =>
      jobState('cohort', { status: { id } }),
    );
    expect(cohorts).toEqual(['completed', 'failed']);
  });

  it('jobState refuses a namespace as the kind, and a resource without a status', () => {
    const odd = jobState as (kind: unknown, resource: unknown) => unknown;
    expect(() => odd('cohorts', { status: { id: 4 } })).toThrow(/^`kind` must be one of audience, .*, not cohorts\.$/);
    expect(() => odd('cohort', { id: 4 })).toThrow('`resource` must have a `status`');
  });
});
