/** Returns an audience as the service sends it. */
export function wireAudience(id = 42, status = { id: 104, name: 'Completed' }): Record<string, unknown> {
  return {
    id,
    name: 'Visitors',
    status,
    is_cohort: false,
    is_lookalike: false,
    results_count: 1200,
    is_activation_allowed: 1,
    eligibility: {
      allowed: true,
      reasons: [],
      notices: [],
      metrics: { unique_eids: 1200, unique_scids: null, eid_scid_ratio: null, is_affinity: false },
    },
    source_audience: null,
    created_by: { name: 'Ada', email: 'ada@example.com' },
    project: null,
    operator: null,
    dataset: [{ analysis_type: 'WebDomain', start_date: '2026-11-01', end_date: '2026-11-10' }],
    created_at: '2026-11-20 10:00:00',
    updated_at: '2026-11-20 10:10:00',
  };
}
