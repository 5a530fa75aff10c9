import { describe, expect, it } from 'vitest';
import { HOUR, startSandbox } from '../../support/sandbox-calls.ts';

describe('scheduled replays', () => {
  it('scheduled replays do not count in the build budget', async () => {
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
