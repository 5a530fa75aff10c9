import { describe, expect, it } from 'vitest';
import { HOUR, startSandbox } from '../support/sandbox-calls.ts';

describe('an idempotency key', () => {
  it.each(['audiences', 'lookalikes', 'estimates', 'activations', 'cohorts', 'projects', 'schedules'])(
    'the create of %s honors a key: one resource, one build',
    async (name) => {
      const api = startSandbox();
      const seed = (await api.create(api.token)).body.data[0].id;
      api.sandbox.jobs.finish('audience', seed, 104);
      const body = { audience_id: seed, source_audience_id: seed, config: { target_size: 5 } };
      const headers = { 'idempotency-key': 'k' };
      const create = () => api.call('POST', `/api/v2/${name}/create`, { token: api.token, body, headers });
      const first = await create();
      expect(first.status).toBe(200);
      expect((await create()).body).toEqual(first.body);
      const { data } = (await api.call('GET', '/api/v2/usage', { token: api.token })).body;
      expect(data.build_budget.hour.used).toBe(name === 'projects' || name === 'schedules' ? 1 : 2);
    },
  );

  it('a key replays the stored response for 24 hours', async () => {
    const api = startSandbox();
    const first = await api.create(api.token, 'k');
    await api.sandbox.advance(23 * HOUR);
    const again = await api.create(api.account.token('api'), 'k');
    expect(again.body).toEqual(first.body);
    expect(api.sandbox.log.at(-1)).toMatchObject({ status: 200, replayed: true });
    await api.sandbox.advance(HOUR);
    expect((await api.create(api.token, 'k')).body.data[0].id).not.toBe(first.body.data[0].id);
  });

  it('a key with a different body is a 409', async () => {
    const api = startSandbox();
    await api.create(api.token, 'k');
    expect((await api.create(api.token, 'k', { name: 'y' })).status).toBe(409);
  });

  it('a key with the same body on another create is a 409', async () => {
    const api = startSandbox();
    const post = (name: string) =>
      api.call('POST', `/api/v2/${name}/create`, { token: api.token, body: {}, headers: { 'idempotency-key': 'k' } });
    expect([(await post('audiences')).status, (await post('projects')).status]).toEqual([200, 409]);
  });

  it('a key belongs to its account, and is free again after a refusal', async () => {
    const api = startSandbox();
    const other = api.sandbox.accounts.create({ email: 'bob@example.com', password: 'x' }).token('api');
    const first = await api.create(api.token, 'k');
    expect((await api.create(other, 'k')).body.data[0].id).not.toBe(first.body.data[0].id);
    expect((await api.create(api.token, 'm', { project_id: 1 })).status).toBe(422);
    expect((await api.create(api.token, 'm')).status).toBe(200);
  });
});
