import { describe, expect, it } from 'vitest';
import { DAY, startSandbox } from '../support/sandbox-calls.ts';

describe('audiences', () => {
  const read = async (api: ReturnType<typeof startSandbox>, id: number) =>
    (await api.call('GET', `/api/v2/audiences/${id}`, { token: api.token })).body.data[0];

  it('a job takes its duration and ends with its outcome', async () => {
    const api = startSandbox({ jobs: { duration: 100_000, outcome: ({ name }) => (name === 'bad' ? 107 : 104) } });
    const good = (await api.create(api.token)).body.data[0];
    const bad = (await api.create(api.token, undefined, { name: 'bad' })).body.data[0];
    expect(good).toMatchObject({ status: { id: 100, name: 'Queued' }, is_activation_allowed: false, results_count: 0 });
    await api.sandbox.advance(50_000);
    expect(await read(api, good.id)).toMatchObject({ status: { id: 102 } });
    await api.sandbox.advance(50_000);
    const built = await read(api, good.id);
    expect(built).toMatchObject({ status: { id: 104, name: 'Completed' }, is_activation_allowed: 1 });
    expect(built.results_count).toBeGreaterThan(2_000);
    expect(await read(api, bad.id)).toMatchObject({ status: { id: 107, name: 'Additional Info' } });
  });

  it('`jobs.finish` ends a job immediately', async () => {
    const api = startSandbox();
    const { id } = (await api.create(api.token)).body.data[0];
    api.sandbox.jobs.finish('audience', id, 422);
    expect((await read(api, id)).status.id).toBe(422);
    expect(() => api.sandbox.jobs.finish('audience', id, 104)).toThrow(/No job/);
    await api.sandbox.advance(DAY);
    expect((await read(api, id)).status.id).toBe(422);
  });

  it('the list is newest first, and ignores a page that is no number', async () => {
    const api = startSandbox();
    for (const name of ['first', 'second']) await api.create(api.token, undefined, { name });
    const names = async (query: string): Promise<string[]> =>
      (await api.call('GET', `/api/v2/audiences/index${query}`, { token: api.token })).body.data.map(
        (row: { name: string }) => row.name,
      );
    expect(await names('?per_page=no&page=no')).toEqual(['second', 'first']);
  });

  it.each(['4e0', '04', '%204', '4.0', '0x4', '-4', '4%2F', '__proto__'])('the id %s is not found', async (id) => {
    const api = startSandbox();
    expect((await api.create(api.token)).body.data[0].id).toBe(4);
    expect((await api.call('GET', `/api/v2/audiences/${id}`, { token: api.token })).status).toBe(404);
  });

  it.each([{ toString: 1 }, [4], true, '4 ', 4.5])('the project id %j is a 422', async (project_id) => {
    const api = startSandbox();
    await api.call('POST', '/api/v2/projects/create', { token: api.token, body: {} });
    const { status, body } = await api.create(api.token, undefined, { project_id });
    expect([status, Object.keys(body.errors)]).toEqual([422, ['project_id']]);
  });

  it.each([
    ['a string as its body', 'text'],
    ['a dataset that is not an array', { dataset: {} }],
    [
      'a dataset of days that do not exist',
      { dataset: [{ analysis_type: 'WebDomain', start_date: '9999-99-99', end_date: '2026-02-30' }] },
    ],
  ])('an audience with %s is a 422', async (_, body) => {
    const api = startSandbox();
    expect((await api.create(api.token, undefined, body)).status).toBe(422);
  });
});
