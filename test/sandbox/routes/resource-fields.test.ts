import { describe, expect, it } from 'vitest';
import { credentials, startSandbox } from '../support/sandbox-calls.ts';

const time = expect.stringMatching(/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/);
const status = { id: expect.any(Number), name: expect.any(String) };
const created_by = { name: 'ada', email: credentials.email };

/** Starts a sandbox with one completed audience. */
async function start() {
  const api = startSandbox({ start: Date.UTC(2026, 1, 3) });
  const created = await api.create(api.token, undefined, {
    name: 'Visitors',
    dataset: [{ analysis_type: 'AffinityTransactions', start_date: '2026-01-01', end_date: '2026-02-01' }],
  });
  const { id } = created.body.data[0];
  api.sandbox.jobs.finish('audience', id, 104);
  const read = async (path: string) => (await api.call('GET', `/api/v2/${path}`, { token: api.token })).body.data;
  return { ...api, id, read };
}

describe('a resource has exactly the documented fields:', () => {
  it('an audience', async () => {
    const { id, read } = await start();
    expect(await read(`audiences/${id}`)).toEqual([
      {
        id,
        name: 'Visitors',
        status: { id: 104, name: 'Completed' },
        is_cohort: false,
        is_lookalike: false,
        results_count: expect.any(Number),
        is_activation_allowed: 1,
        eligibility: {
          allowed: true,
          reasons: [],
          notices: [],
          metrics: {
            unique_eids: expect.any(Number),
            unique_scids: expect.any(Number),
            eid_scid_ratio: expect.any(Number),
            is_affinity: true,
          },
        },
        source_audience: null,
        created_by,
        project: null,
        operator: null,
        dataset: [{ analysis_type: 'AffinityTransactions', start_date: '2026-01-01', end_date: '2026-02-01' }],
        created_at: time,
        updated_at: time,
      },
    ]);
  });

  it('an activation', async () => {
    const { id: audience_id, call, token, read } = await start();
    const body = { audience_id, description: 'To the partner', filters: { freq_min: 2 } };
    const { id } = (await call('POST', '/api/v2/activations/create', { token, body })).body.data[0];
    expect(await read(`activations/${id}`)).toEqual([
      {
        id,
        description: 'To the partner',
        status,
        audience: { id: audience_id, name: 'Visitors' },
        created_by,
        project: null,
        partner: { name: expect.any(String), description: expect.any(String) },
        pricing_model: expect.any(Object),
        datastreams: [{ name: expect.any(String), status: expect.any(String), results: { uri: '' } }],
        filters: { freq_limit: true, freq_min: 2, freq_max: null },
        filter_hash: expect.stringMatching(/^[0-9a-f]{16}$/),
        created_at: time,
        updated_at: time,
      },
    ]);
  });

  it('a cohort', async () => {
    const { call, token, read } = await start();
    const { id } = (await call('POST', '/api/v2/cohorts/create', { token, body: { name: 'Customers' } })).body.data[0];
    expect(await read(`cohorts/${id}`)).toEqual([
      {
        id,
        name: 'Customers',
        status,
        total_eids: 0,
        project: null,
        source: expect.any(String),
        source_audience: null,
        created_at: time,
        updated_at: time,
      },
    ]);
  });
});

describe('a dataset with missing or invalid fields is refused, each by its name:', () => {
  const day = '2026-01-01';
  it.each([
    [{}, ['dataset.0.analysis_type', 'dataset.0.start_date', 'dataset.0.end_date']],
    [{ analysis_type: 'AffinityTransactions', start_date: day }, ['dataset.0.end_date']],
    [
      { analysis_type: 7, start_date: '2026-02-30', end_date: day },
      ['dataset.0.analysis_type', 'dataset.0.start_date'],
    ],
    ['text', ['dataset.0.analysis_type', 'dataset.0.start_date', 'dataset.0.end_date']],
  ])('%j', async (dataset, fields) => {
    const api = startSandbox({ start: Date.UTC(2026, 1, 3) });
    const { status, body } = await api.create(api.token, undefined, { dataset: [dataset] });
    expect([status, Object.keys(body.errors)]).toEqual([422, fields]);
  });
});
