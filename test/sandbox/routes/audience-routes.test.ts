import { describe, expect, it } from 'vitest';
import { DAY, startSandbox } from '../../support/sandbox-calls.ts';

describe('audiences', () => {
  const read = async (one: ReturnType<typeof startSandbox>, id: number) =>
    (await one.call('GET', `/api/v2/audiences/${id}`, { token: one.token })).body.data[0];

  it('run for their time and end as told', async () => {
    const one = startSandbox({ jobs: { duration: 100_000, outcome: ({ name }) => (name === 'bad' ? 107 : 104) } });
    const good = (await one.create(one.token)).body.data[0];
    const bad = (await one.create(one.token, undefined, { name: 'bad' })).body.data[0];
    expect(good).toMatchObject({ status: { id: 100, name: 'Queued' }, is_activation_allowed: false, results_count: 0 });
    await one.sandbox.advance(50_000);
    expect(await read(one, good.id)).toMatchObject({ status: { id: 102 } });
    await one.sandbox.advance(50_000);
    const built = await read(one, good.id);
    expect(built).toMatchObject({ status: { id: 104, name: 'Completed' }, is_activation_allowed: 1 });
    expect(built.results_count).toBeGreaterThan(2_000);
    expect(await read(one, bad.id)).toMatchObject({ status: { id: 107, name: 'Additional Info' } });
  });

  it('can be ended at once', async () => {
    const one = startSandbox();
    const { id } = (await one.create(one.token)).body.data[0];
    one.sandbox.jobs.finish('audience', id, 422);
    expect((await read(one, id)).status.id).toBe(422);
    expect(() => one.sandbox.jobs.finish('audience', id, 104)).toThrow(/No job/);
    await one.sandbox.advance(DAY);
    expect((await read(one, id)).status.id).toBe(422);
  });

  it('belong to their account, and are gone when deleted', async () => {
    const one = startSandbox();
    const { id } = (await one.create(one.token)).body.data[0];
    const stranger = one.sandbox.accounts
      .create({ email: 'eve@example.com', password: 'x', company: 'Other' })
      .token('api');
    expect((await one.call('GET', `/api/v2/audiences/${id}`, { token: stranger })).status).toBe(404);
    expect((await one.call('POST', `/api/v2/audiences/${id}/delete`, { token: stranger })).status).toBe(404);
    expect((await one.call('POST', `/api/v2/audiences/${id}/delete`, { token: one.token })).body.data).toEqual([]);
    expect((await one.call('GET', `/api/v2/audiences/${id}`, { token: one.token })).status).toBe(404);
  });

  it('are listed newest first, 25 a page unless asked, 100 at most', async () => {
    const one = startSandbox({ limits: { write: { limit: 999, interval: 1 }, buildsPerHour: 999 } });
    for (let at = 0; at < 130; at++) await one.create(one.token, undefined, { name: `n${at}` });
    const names = async (query: string): Promise<string[]> =>
      (await one.call('GET', `/api/v2/audiences/index${query}`, { token: one.token })).body.data.map(
        (row: { name: string }) => row.name,
      );
    expect(await names('')).toHaveLength(25);
    expect((await names(''))[0]).toBe('n129');
    expect(await names('?per_page=500')).toHaveLength(100);
    expect(await names('?per_page=100&page=2')).toHaveLength(30);
    expect(await names('?per_page=no&page=no')).toHaveLength(25);
  });

  it.each(['4e0', '04', '%204', '4.0', '0x4', '-4', '4%2F', '__proto__'])('are not found by the id %s', async (id) => {
    const one = startSandbox();
    expect((await one.create(one.token)).body.data[0].id).toBe(4);
    expect((await one.call('GET', `/api/v2/audiences/${id}`, { token: one.token })).status).toBe(404);
  });

  it.each([{ toString: 1 }, [4], true, '4 ', 4.5])('of the project %j are a 422', async (project_id) => {
    const one = startSandbox();
    await one.call('POST', '/api/v2/projects/create', { token: one.token, body: {} });
    const { status, body } = await one.create(one.token, undefined, { project_id });
    expect([status, Object.keys(body.errors)]).toEqual([422, ['project_id']]);
  });

  it.each([
    ['no object', 'text'],
    ['a dataset that is no list', { dataset: {} }],
    [
      'a dataset of days that are none',
      { dataset: [{ analysis_type: 'WebDomain', start_date: '9999-99-99', end_date: '2026-02-30' }] },
    ],
    ['a dataset without dates', { dataset: [{ analysis_type: 'WebDomain' }] }],
    [
      'WebDomain data before the 45-day window',
      { dataset: [{ analysis_type: 'WebDomain', start_date: '2020-01-01', end_date: '2020-02-01' }] },
    ],
  ])('of %s are a 422', async (_, body) => {
    const one = startSandbox();
    expect((await one.create(one.token, undefined, body)).status).toBe(422);
  });
});
