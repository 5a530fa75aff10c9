import { describe, expect, it } from 'vitest';
import { startSandbox } from '../support/sandbox-calls.ts';

async function startActivations() {
  const api = startSandbox({ jobs: { duration: 0, devices: 5_000 } });
  const { call, create, token, sandbox } = api;
  const audience_id = (await create(token)).body.data[0].id;
  const activate = async (body: object) => {
    const sent = await call('POST', '/api/v2/activations/create', { token, body: { audience_id, ...body } });
    return { status: sent.status, errors: sent.body.errors, activation: sent.body.data[0] };
  };
  const read = async (id: number) => {
    await sandbox.advance(0);
    return (await call('GET', `/api/v2/activations/${id}`, { token })).body.data[0];
  };
  return { ...api, activate, read };
}

describe('activations', () => {
  it('activations deliver a file to each of their datastreams', async () => {
    const { activate, read, sandbox } = await startActivations();
    const { activation } = await activate({ datastreams: ['households', 'devices'] });
    expect(activation.datastreams.map(({ status }: { readonly status: string }) => status)).toEqual([
      'Pending',
      'Pending',
    ]);
    const { datastreams } = await read(activation.id);
    expect(datastreams).toMatchObject([
      { name: 'households', status: 'Delivered', results: { uri: expect.stringContaining('/households.csv?') } },
      { name: 'devices', status: 'Delivered', results: { uri: expect.stringContaining('/devices.csv?') } },
    ]);
    const [{ results }] = datastreams;
    const text = await (await sandbox.fetch(results.uri)).text();
    expect(text.split('\n')).toHaveLength(5_002);
    const other = results.uri.replace('households.csv', 'locations.csv');
    expect((await sandbox.fetch(other)).status).toBe(404);
  });

  it.each([
    [{ datastreams: ['other'] }, 'datastreams'],
    [{ datastreams: [] }, 'datastreams'],
    [{ datastreams: ['devices', 'devices'] }, 'datastreams'],
  ])('%j is refused', async (body, field) => {
    const { activate } = await startActivations();
    expect(await activate(body)).toMatchObject({ status: 422, errors: { [field]: [expect.any(String)] } });
  });

  it('equal filters have equal hashes', async () => {
    const { activate } = await startActivations();
    const hashes = [];
    for (const filters of [{ freq_min: 1 }, { freq_min: 1 }, { freq_min: 2 }, undefined])
      hashes.push((await activate({ filters })).activation.filter_hash);
    expect(hashes[0]).toBe(hashes[1]);
    expect(new Set(hashes).size).toBe(3);
    expect(hashes[3]).toBeNull();
  });
});

describe('audiences and cohorts', () => {
  it('a cohort is made from an audience, and an audience from a cohort', async () => {
    const { call, token, sandbox, create } = await startActivations();
    const source = (await create(token, undefined, { name: 'Source', operator: 'AND' })).body.data[0];
    expect(source.operator).toEqual({ name: 'AND' });
    await sandbox.advance(0);
    const body = { name: 'C', source_audience_id: source.id };
    const { id } = (await call('POST', '/api/v2/cohorts/create', { token, body })).body.data[0];
    await sandbox.advance(0);
    const [cohort] = (await call('GET', `/api/v2/cohorts/${id}`, { token })).body.data;
    expect(cohort).toMatchObject({
      total_eids: 5_000,
      source: 'audience',
      source_audience: { id: source.id, name: 'Source' },
    });
    const made = (await create(token, undefined, { name: 'A', cohort_id: id })).body.data[0];
    await sandbox.advance(0);
    const [audience] = (await call('GET', `/api/v2/audiences/${made.id}`, { token })).body.data;
    expect(audience).toMatchObject({ is_cohort: true, results_count: 5_000, is_activation_allowed: 1 });
  });

  it.each([
    ['audiences', { cohort_id: 99 }, 'cohort_id'],
    ['audiences', { operator: 5 }, 'operator'],
    ['cohorts', { source_audience_id: 99 }, 'source_audience_id'],
  ])('%s with %j are refused', async (path, body, field) => {
    const { call, token } = startSandbox();
    const response = await call('POST', `/api/v2/${path}/create`, { token, body });
    expect(response.body.errors).toHaveProperty(field);
  });

  it('a cohort and an audience that are not completed cannot be used', async () => {
    const { call, token, create } = startSandbox();
    const audience = (await create(token)).body.data[0];
    const cohort = (await call('POST', '/api/v2/cohorts/create', { token, body: {} })).body.data[0];
    const body = { source_audience_id: audience.id };
    expect((await call('POST', '/api/v2/cohorts/create', { token, body })).status).toBe(422);
    expect((await create(token, undefined, { cohort_id: cohort.id })).status).toBe(422);
  });
});
