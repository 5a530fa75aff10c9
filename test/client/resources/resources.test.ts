import { describe, expect, it } from 'vitest';
import { JobFailedError } from '../../../src/index.ts';
import { recentDataset, startBench, type TestBench } from '../../support/sandbox.ts';
import { failureOf } from '../../support/server.ts';

const HOUR = 3_600_000;
const odd = (value: unknown) => value as never;

/** An audience of so many devices that has been built. */
async function builtAudience({ client, sandbox }: TestBench, name = 'Seed') {
  const { id } = await client.audiences.create({ name, dataset: recentDataset() });
  await sandbox.advance(HOUR);
  return client.audiences.get(id);
}

const bench = (devices = 5_000) => startBench({ jobs: { devices }, limits: { buildsPerHour: 999, buildsPerDay: 999 } });

describe('lookalikes', () => {
  it('grow from a completed seed and are audiences', async () => {
    const one = await bench();
    const seed = await builtAudience(one);
    const body = { name: 'Twins', source_audience_id: seed.id, config: { target_size: 20_000 } };
    const created = await one.client.lookalikes.create(body);
    expect(created).toMatchObject({ is_lookalike: true, source_audience: { id: seed.id }, status: { id: 100 } });
    await one.sandbox.advance(HOUR);
    const grown = await one.client.lookalikes.wait(created);
    expect(grown).toMatchObject({ status: { id: 104 }, results_count: 20_000 });
    expect(await one.client.audiences.get(created.id)).toEqual(grown);
  });

  it('lookalikes that are deleted leave no job', async () => {
    const one = await bench();
    const seed = await builtAudience(one);
    const { id } = await one.client.lookalikes.create({ source_audience_id: seed.id, config: { target_size: 9_000 } });
    await one.client.audiences.delete(id);
    expect(() => one.sandbox.jobs.finish('lookalike', id, 104)).toThrow(/No job/);
  });

  it.each([0, 4_000_001, 1.5, '9'])(
    'lookalikes of the target size %s are refused before sending',
    async (target_size) => {
      const { client, sandbox } = await bench();
      const error = await failureOf(
        client.lookalikes.create({ source_audience_id: 1, config: { target_size: odd(target_size) } }),
      );
      expect(error).toMatchObject({ local: true, errors: { 'config.target_size': [expect.any(String)] } });
      expect(sandbox.log).toEqual([]);
    },
  );
});

describe('activations', () => {
  it('run through 105 to 104 and then list their results', async () => {
    const one = await bench();
    const audience = await builtAudience(one);
    const created = await one.client.activations.create({ audience_id: audience.id, description: 'To the partner' });
    expect(created).toMatchObject({
      description: 'To the partner',
      audience: { id: audience.id },
      status: { id: 100 },
    });
    await one.sandbox.advance(6 * 60_000);
    expect(await one.client.activations.get(created.id)).toMatchObject({ status: { id: 105, name: 'DataStreaming' } });
    await one.sandbox.advance(HOUR);
    const done = await one.client.activations.wait(created);
    expect(done.datastreams).toEqual([
      { name: 'devices', status: 'Delivered', results: { uri: expect.stringMatching(/^http:.*devices\.csv/) } },
    ]);
    expect((await one.client.activations.list()).items).toEqual([done]);
    await one.client.activations.delete(created.id);
    expect(await failureOf(one.client.activations.get(created.id))).toMatchObject({ status: 404 });
  });

  it.each(['partner_id', 'partner_name', 'pricing_model'])(
    'activations with %s are refused before sending',
    async (field) => {
      const { client, sandbox } = await bench();
      const error = await failureOf(client.activations.create({ audience_id: 1, [field]: odd(7) }));
      expect(error).toMatchObject({ local: true, errors: { [field]: [expect.any(String)] } });
      expect(sandbox.log).toEqual([]);
    },
  );
});

describe('cohorts', () => {
  it('run on their own scale', async () => {
    const one = await bench();
    const created = await one.client.cohorts.create({ name: 'Customers', project_id: null });
    expect(created).toMatchObject({ status: { id: 1 }, total_eids: 0 });
    await one.sandbox.advance(5 * 60_000);
    expect(await one.client.cohorts.get(created.id)).toMatchObject({ status: { id: 2 } });
    await one.sandbox.advance(HOUR);
    const done = await one.client.cohorts.wait(created);
    expect(done.status).toEqual({ id: 4, name: 'Completed' });
    expect(done.total_eids).toBeGreaterThan(0);
    const failing = await one.client.cohorts.create({ name: 'C' });
    one.sandbox.jobs.finish('cohort', failing.id, 5);
    expect(await failureOf(one.client.cohorts.wait(failing))).toBeInstanceOf(JobFailedError);
    expect((await one.client.cohorts.list()).items).toHaveLength(2);
  });
});

describe('estimates', () => {
  it('have the lifecycle of audiences', async () => {
    const one = await bench();
    const created = await one.client.estimates.create({ name: 'A', dataset: recentDataset() });
    await one.sandbox.advance(HOUR);
    expect(await one.client.estimates.wait(created)).toMatchObject({ status: { id: 104 }, unique_eids: 5_000 });
    const old = [{ analysis_type: 'WebDomain', start_date: '2020-01-01', end_date: '2020-01-02' }];
    expect(await failureOf(one.client.estimates.create({ name: 'A', dataset: old }))).toMatchObject({ local: true });
  });
});

describe('projects', () => {
  it('organize audiences; an unknown project is a 422', async () => {
    const { client } = await bench();
    const project = await client.projects.create({ name: 'Spring' });
    expect(await client.projects.get(project.id)).toEqual(project);
    expect(await client.audiences.create({ name: 'A', project_id: project.id })).toMatchObject({
      project: { name: 'Spring' },
    });
    await client.projects.delete(project.id);
    expect(await failureOf(client.audiences.create({ name: 'A', project_id: project.id }))).toMatchObject({
      status: 422,
    });
    expect((await client.projects.list()).items).toEqual([]);
  });
});

describe('schedules', () => {
  it('replay an audience until they are deleted', async () => {
    const one = await bench();
    const { id } = await builtAudience(one);
    const schedule = await one.client.schedules.create({ audience_id: id, interval_hours: 24 });
    await one.sandbox.advance(49 * HOUR);
    expect((await one.client.audiences.list()).items).toHaveLength(3);
    expect(await one.client.schedules.get(schedule.id)).toMatchObject({ replays: 2 });
    await one.client.schedules.delete(schedule.id);
    await one.sandbox.advance(49 * HOUR);
    expect((await one.client.audiences.list()).items).toHaveLength(3);
    const [replayed] = (await one.client.audiences.list()).items;
    expect(replayed?.dataset).toEqual(recentDataset());
    expect(await failureOf(one.client.schedules.create({ audience_id: 9_999 }))).toMatchObject({ status: 422 });
    const often = one.client.schedules.create({ audience_id: id, interval_hours: 1e-12 });
    expect(await failureOf(often)).toMatchObject({ errors: { interval_hours: [expect.any(String)] } });
  });
});

describe('reference', () => {
  it('is walked in pages of 500, of apps in pages of 250 unless more is asked for', async () => {
    const { client, sandbox } = await bench();
    const walk = async (list: AsyncIterable<unknown>): Promise<number> => {
      let rows = 0;
      for await (const _ of list) rows++;
      return rows;
    };
    expect(await walk(client.reference.list('web', 'domains'))).toBe(620);
    expect(await walk(client.reference.list('apps', 'apps'))).toBe(700);
    expect((await client.reference.list('apps', 'apps', { per_page: 700 })).items).toHaveLength(700);
    expect(sandbox.log.map(({ path }) => path.split('/').at(-2))).toEqual([
      'web',
      'web',
      'apps',
      'apps',
      'apps',
      'apps',
    ]);
    expect(await failureOf(client.reference.list('web', 'domains', { per_page: 501 }))).toMatchObject({ local: true });
    for (const name of ['nothing', 'constructor']) {
      expect(await failureOf(client.reference.list('ctv', name))).toMatchObject({ status: 404 });
    }
  });
});

describe('usage', () => {
  it('is read for a month, by default the current one', async () => {
    const { client } = await startBench();
    const month = new Date().toISOString().slice(0, 7);
    expect(await client.usage.get()).toMatchObject({ yearmonth: month });
    expect(await client.usage.get({ yearmonth: '2020-01' })).toMatchObject({ yearmonth: '2020-01' });
  });

  it.each(['2019-12', '1999-01', '2999-01'])('the client refuses the usage of %s before sending', async (yearmonth) => {
    const { client, sandbox } = await startBench();
    expect(await failureOf(client.usage.get({ yearmonth }))).toMatchObject({ local: true });
    expect(sandbox.log).toEqual([]);
  });

  it('the client leaves a usage month in another form than assumed to the service', async () => {
    const { client } = await startBench();
    expect(await failureOf(client.usage.get({ yearmonth: '201912' }))).toMatchObject({ status: 422, local: false });
  });

  it('returns the build budget', async () => {
    const { client } = await startBench();
    await client.audiences.create({ name: 'x' });
    const { data, requestId } = await client.usage.buildBudget().withResponse();
    expect(data).toEqual({ hour: { limit: 60, used: 1 }, day: { limit: 300, used: 1 }, retry_after_seconds: null });
    expect(requestId).toMatch(/^req_/);
  });
});
