import { describe, expect, it } from 'vitest';
import { HOUR, startSandbox } from '../support/sandbox-calls.ts';

describe('scheduled replays', () => {
  it('scheduled replays do not count against the build budget', async () => {
    const { sandbox, call, create, token } = startSandbox({ limits: { buildsPerHour: 2, buildsPerDay: 2 } });
    const audience_id = (await create(token)).body.data[0].id;
    const body = { audience_id, interval_hours: 0.25 };
    const { id } = (await call('POST', '/api/v2/schedules/create', { token, body })).body.data[0];
    await sandbox.advance(2 * HOUR);
    const rows = async () => (await call('GET', '/api/v2/audiences/index', { token })).body.data;
    expect(await rows()).toHaveLength(9);
    expect((await call('GET', `/api/v2/schedules/${id}`, { token })).body.data[0].replays).toBe(8);
    expect((await create(token)).status).toBe(200);
    expect((await create(token)).status).toBe(429);
    await call('POST', `/api/v2/schedules/${id}/delete`, { token, body: {} });
    await sandbox.advance(HOUR);
    expect(await rows()).toHaveLength(10);
  });
});

describe('a schedule', () => {
  it('builds any kind of resource again, also lookalikes, and counts its builds', async () => {
    const { sandbox, call, create, token } = startSandbox({ jobs: { duration: 0, devices: 5_000 } });
    const add = async (path: string, body: object) =>
      (await call('POST', `/api/v2/${path}/create`, { token, body })).body;
    const first = async (path: string, body: object): Promise<number> => (await add(path, body)).data[0].id;
    const audience_id = (await create(token)).body.data[0].id;
    const config = { target_size: 2_000 };
    const ids = {
      audience_id: await first('lookalikes', { source_audience_id: audience_id, config }),
      estimate_id: await first('estimates', { name: 'Size' }),
      activation_id: await first('activations', { audience_id, description: 'Nightly' }),
      cohort_id: await first('cohorts', { source_audience_id: audience_id, name: 'Copy' }),
    };
    const schedules = [];
    for (const [field, id] of Object.entries(ids)) {
      schedules.push(await first('schedules', { [field]: id, interval_hours: 1 }));
    }
    await sandbox.advance(2 * HOUR);
    for (const id of schedules)
      expect((await call('GET', `/api/v2/schedules/${id}`, { token })).body.data[0].replays).toBe(2);
    const rows = async (path: string) => (await call('GET', `/api/v2/${path}/index`, { token })).body.data;
    expect(await rows('audiences')).toMatchObject([
      { is_lookalike: true, results_count: 2_000 },
      { is_lookalike: true, results_count: 2_000 },
      { is_lookalike: true },
      { is_lookalike: false },
    ]);
    expect(await rows('activations')).toMatchObject(Array(3).fill({ description: 'Nightly', status: { id: 104 } }));
    expect(await rows('cohorts')).toMatchObject(Array(3).fill({ name: 'Copy', total_eids: 5_000 }));
  });

  it('builds a cohort again with the rows of its file, which is claimed once', async () => {
    const { sandbox, call, token } = startSandbox({ jobs: { duration: 0 } });
    const body = { kind: 'cohort' };
    const { reference, url } = (await call('POST', '/api/v2/uploads/create', { token, body })).body.data;
    await sandbox.fetch(url, { method: 'PUT', body: 'email\na\nb\n' });
    const cohort = { name: 'C', upload_reference: reference };
    const { id } = (await call('POST', '/api/v2/cohorts/create', { token, body: cohort })).body.data[0];
    await call('POST', '/api/v2/schedules/create', { token, body: { cohort_id: id, interval_hours: 1 } });
    await sandbox.advance(HOUR);
    const rows = (await call('GET', '/api/v2/cohorts/index', { token })).body.data;
    expect(rows).toMatchObject([{ total_eids: 2 }, { total_eids: 2 }]);
  });

  it.each([
    [{ cohort_id: 99 }, { cohort_id: ['The account has no cohort 99.'] }],
    [{ audience_id: 99 }, { audience_id: ['The account has no audience 99.'] }],
    [{ interval_hours: 1e300 }, { interval_hours: [expect.stringContaining('from 0.1 to 878400')] }],
    [{ audience_id: 99, cohort_id: 98 }, { cohort_id: ['A schedule builds only one resource.'] }],
  ])('a schedule of %j is refused', async (body, errors) => {
    const { call, token } = startSandbox();
    const response = await call('POST', '/api/v2/schedules/create', { token, body });
    expect([response.status, response.body.errors]).toMatchObject([422, errors]);
  });
});
