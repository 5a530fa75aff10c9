import { describe, expect, it } from 'vitest';
import { type Audience, explainActivation } from '../../../src/index.ts';

const now = Date.parse('2026-11-20T12:00:00Z');

function audience(more: Partial<Audience> = {}): Audience {
  return {
    id: 1,
    name: 'Visitors',
    status: { id: 104, name: 'Completed' },
    is_cohort: false,
    is_lookalike: false,
    results_count: 5_000,
    is_activation_allowed: true,
    eligibility: {
      allowed: true,
      reasons: [],
      notices: [],
      metrics: { unique_eids: 5_000, unique_scids: null, eid_scid_ratio: null, is_affinity: false },
    },
    source_audience: null,
    created_by: { name: 'Ada', email: 'ada@example.com' },
    project: null,
    operator: null,
    dataset: [{ analysis_type: 'WebDomain', start_date: '2026-10-20', end_date: '2026-11-10' }],
    created_at: '2026-11-20 10:00:00',
    updated_at: '2026-11-20 10:00:00',
    ...more,
  };
}

const sized = (unique_eids: number, more: Partial<Audience> = {}): Audience =>
  audience({
    ...more,
    results_count: unique_eids,
    eligibility: { ...audience().eligibility, metrics: { ...audience().eligibility.metrics, unique_eids } },
  });

const codes = (input: Audience, identifier?: string) => {
  const { allowed, blockers, notices } = explainActivation(input, { identifier, now });
  return { allowed, blockers: blockers.map(({ code }) => code), notices: notices.map(({ code }) => code) };
};
const fine = { allowed: true, blockers: [], notices: [] };
const blocked = (...blockers: string[]) => ({ allowed: false, blockers, notices: [] });

describe('explainActivation', () => {
  it('allows an activation without obstacles', () => expect(codes(audience(), 'MAID')).toEqual(fine));

  it.each([
    [500, false, fine],
    [499, false, blocked('too_few_devices')],
    [1_000, true, fine],
    [999, true, blocked('too_few_devices')],
  ])('asks for enough devices: %i (lookalike: %s)', (devices, is_lookalike, verdict) => {
    expect(codes(sized(devices, { is_lookalike }))).toEqual(verdict);
  });

  it('asks for a completed build', () => {
    expect(codes(audience({ status: { id: 107, name: 'Additional Info' } }))).toEqual(blocked('not_completed'));
  });

  it('returns the service’s reasons, including unknown ones', () => {
    const eligibility = {
      ...audience().eligibility,
      allowed: false,
      reasons: [{ code: 'affinity_device_coverage' }, { code: 'new_rule' }],
    };
    expect(codes(audience({ eligibility, is_activation_allowed: false }))).toEqual(
      blocked('affinity_device_coverage', 'new_rule'),
    );
  });

  it('applies the affinity rule without the service, and accepts identifiers in any case', () => {
    const metrics = { unique_eids: 1_000, unique_scids: 500, eid_scid_ratio: 2, is_affinity: true };
    const covered = (unique_scids: number) =>
      audience({ eligibility: { ...audience().eligibility, metrics: { ...metrics, unique_scids } } });
    expect(codes(covered(500))).toEqual(blocked('affinity_device_coverage'));
    expect(codes(covered(499))).toEqual(fine);
    const old = audience({
      dataset: [{ analysis_type: 'WebDomain', start_date: '2020-01-01', end_date: '2020-02-01' }],
    });
    expect(codes(old, 'maid')).toEqual(blocked('audience_expired'));
  });

  it('reports that the service refuses without a reason', () => {
    expect(codes(audience({ is_activation_allowed: false }))).toEqual(blocked('not_allowed'));
  });

  it('blocks MAID and IP of an expired audience, and warns others', () => {
    const notices = [{ code: 'audience_expired', blocks_identifiers: ['MAID', 'IP'] }];
    const expired = audience({ eligibility: { ...audience().eligibility, notices } });
    expect(codes(expired, 'MAID')).toEqual(blocked('audience_expired'));
    for (const identifier of ['HEM', undefined]) {
      expect(codes(expired, identifier)).toEqual({ allowed: true, blockers: [], notices: ['audience_expired'] });
    }
  });

  it('finds the 90 days past before the service says so, and says that days are assumed', () => {
    const old = (end_date: string) =>
      audience({ dataset: [{ analysis_type: 'WebDomain', start_date: '2026-01-01', end_date }] });
    expect(codes(old('2026-08-21'), 'IP')).toEqual(blocked('audience_expired'));
    expect(codes(old('2026-08-22'), 'IP')).toEqual(fine);
    expect(codes({ ...old('2026-01-02'), is_lookalike: true }, 'IP')).toEqual(fine);
    expect(explainActivation(old('2026-01-02'), { now }).notices[0]?.message).toContain('assumed');
  });

  it('keeps notices it does not know', () => {
    const notices = [{ code: 'slow_partner', blocks_identifiers: ['SCID'] }];
    const noticed = audience({ eligibility: { ...audience().eligibility, notices } });
    expect(codes(noticed, 'SCID')).toEqual(blocked('slow_partner'));
    expect(codes(noticed, 'EID').notices).toEqual(['slow_partner']);
  });

  it('reads audiences that are not as documented', () => {
    const bare: Audience = JSON.parse('{"id":1,"status":{"id":104,"name":"Completed"},"results_count":9000}');
    expect(codes(bare)).toEqual(fine);
  });
});
