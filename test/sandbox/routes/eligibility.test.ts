import { describe, expect, it } from 'vitest';
import { DAY, startSandbox } from '../support/sandbox-calls.ts';

const START = Date.UTC(2026, 5, 15, 12);
const date = (ago: number): string => new Date(START - ago * DAY).toISOString().slice(0, 10);

/** Starts a sandbox at a fixed time, whose audiences have `eids` and `scids` devices. */
function start(eids = 5_000, scids = 100) {
  const api = startSandbox({ start: START, jobs: { devices: { eids, scids } } });
  const post = (path: string, body: object) => api.call('POST', `/api/v2/${path}/create`, { token: api.token, body });
  const audience = async (body: object = {}): Promise<number> => {
    const { id } = (await post('audiences', body)).body.data[0];
    api.sandbox.jobs.finish('audience', id, 104);
    return id;
  };
  const read = async (id: number) =>
    (await api.call('GET', `/api/v2/audiences/${id}`, { token: api.token })).body.data[0];
  return { ...api, post, audience, read };
}

describe('a WebDomain dataset', () => {
  it('a WebDomain dataset starts at most 45 days ago; other datasets may start earlier', async () => {
    const { post } = start();
    const create = (analysis_type: string, ago: number) =>
      post('audiences', { dataset: [{ analysis_type, start_date: date(ago), end_date: date(1) }] });
    expect((await create('WebDomain', 45)).status).toBe(200);
    const refused = await create('WebDomain', 46);
    expect([refused.status, Object.keys(refused.body.errors)]).toEqual([422, ['dataset.0.start_date']]);
    expect((await create('AffinityTransactions', 400)).status).toBe(200);
  });
});

describe('an activation', () => {
  it.each([
    [499, 422, false],
    [500, 200, true],
  ])('an activation of %i unique devices returns %i', async (devices, status, allowed) => {
    const { post, audience, read } = start(devices);
    const audience_id = await audience();
    expect((await post('activations', { audience_id })).status).toBe(status);
    expect((await read(audience_id)).is_activation_allowed).toBe(allowed ? 1 : false);
  });

  it.each([
    [999, 422],
    [1_000, 200],
  ])('an activation of a lookalike with %i devices returns %i', async (target_size, status) => {
    const { post, audience, sandbox } = start();
    const body = { source_audience_id: await audience(), config: { target_size } };
    const { id } = (await post('lookalikes', body)).body.data[0];
    sandbox.jobs.finish('lookalike', id, 104);
    expect((await post('activations', { audience_id: id })).status).toBe(status);
  });

  it.each(['partner_id', 'partner_name', 'pricing_model'])('an activation with %s is a 422', async (field) => {
    const { post, audience } = start();
    const { status, body } = await post('activations', { audience_id: await audience(), [field]: 1 });
    expect([status, Object.keys(body.errors)]).toEqual([422, [field]]);
  });

  it.each(['maid', ['MAID'], 'É', 7, { toString: 1 }])(
    'an activation with the identifier %j is a 422',
    async (identifier) => {
      const { post, audience } = start();
      const { status, body } = await post('activations', { audience_id: await audience(), identifier });
      expect([status, Object.keys(body.errors)]).toEqual([422, ['identifier']]);
    },
  );

  it('an activation without credentials, supplied or stored, is a 422', async () => {
    const { sandbox, call } = start();
    const token = sandbox.accounts
      .create({ email: 'b@example.com', password: 'x', deliveryCredentials: false })
      .token('api');
    const post = (path: string, body: object) => call('POST', `/api/v2/${path}/create`, { token, body });
    const { id } = (await post('audiences', {})).body.data[0];
    sandbox.jobs.finish('audience', id, 104);
    expect(Object.keys((await post('activations', { audience_id: id })).body.errors)).toEqual(['credentials']);
    expect((await post('activations', { audience_id: id, credentials: { key: 'k' } })).status).toBe(200);
  });

  it('MAID and IP are delivered for 90 days after the end of the latest dataset, the others indefinitely', async () => {
    const { post, audience, read, sandbox } = start();
    const dataset = [30, 1].map((ago) => ({
      analysis_type: 'WebDomain',
      start_date: date(40),
      end_date: date(ago),
    }));
    const audience_id = await audience({ dataset });
    const statuses = async () => {
      const identifiers = ['MAID', 'IP', 'EID', 'SCID', 'HEM'];
      const responses = identifiers.map((identifier) => post('activations', { audience_id, identifier }));
      return (await Promise.all(responses)).map(({ status }) => status);
    };
    // The dataset ended yesterday, so that the last of its 90 days is the 89th from now.
    await sandbox.advance(89 * DAY + DAY / 2 - 1);
    expect(await statuses()).toEqual([200, 200, 200, 200, 200]);
    expect((await read(audience_id)).eligibility.notices).toEqual([]);
    await sandbox.advance(1);
    expect(await statuses()).toEqual([422, 422, 200, 200, 200]);
    expect((await read(audience_id)).eligibility).toMatchObject({
      allowed: true,
      notices: [{ code: 'audience_expired', blocks_identifiers: ['MAID', 'IP'] }],
    });
  });

  it.each([
    [2_500, false],
    [2_499, true],
  ])('affinity data of 5,000 EIDs and %i SCIDs: allowed %s', async (scids, allowed) => {
    const { audience, read } = start(5_000, scids);
    const dataset = [{ analysis_type: 'AffinityTransactions', start_date: date(9), end_date: date(1) }];
    expect((await read(await audience({ dataset }))).eligibility).toMatchObject({
      allowed,
      reasons: allowed ? [] : [{ code: 'affinity_device_coverage' }],
    });
  });
});

describe('a lookalike', () => {
  it.each([
    [0, 422],
    [1, 200],
    [4_000_000, 200],
    [4_000_001, 422],
    [1.5, 422],
    ['9', 422],
  ])('a lookalike with the target size %j returns %i', async (target_size, status) => {
    const { post, audience } = start();
    expect((await post('lookalikes', { source_audience_id: await audience(), config: { target_size } })).status).toBe(
      status,
    );
  });

  it.each([
    [999, 422],
    [1_000, 200],
  ])('a lookalike with a seed of %i devices returns %i', async (devices, status) => {
    const { post, audience } = start(devices);
    const body = { source_audience_id: await audience(), config: { target_size: 9 } };
    expect((await post('lookalikes', body)).status).toBe(status);
  });

  it('a lookalike with a seed that is not completed, or does not exist, is a 422', async () => {
    const { post, create, token } = start();
    const running = (await create(token)).body.data[0].id;
    for (const source_audience_id of [running, running + 1, undefined]) {
      const { body } = await post('lookalikes', { source_audience_id, config: { target_size: 9 } });
      expect(Object.keys(body.errors)).toEqual(['source_audience_id']);
    }
  });
});

describe('an audience', () => {
  it('an audience with an unknown project or filter value is a 422', async () => {
    const { post } = start();
    const project = (await post('projects', { name: 'Spring' })).body.data[0];
    const filters = { countries: [1, 'Country 2'], domains: ['site-3.example'] };
    expect((await post('audiences', { project_id: project.id, filters })).status).toBe(200);
    const wrong = await post('audiences', { project_id: 99, filters: { countries: [241], towns: [1] } });
    expect(Object.keys(wrong.body.errors)).toEqual(['project_id', 'filters.countries', 'filters.towns']);
    expect(Object.keys((await post('audiences', { filters: [] })).body.errors)).toEqual(['filters']);
  });
});
