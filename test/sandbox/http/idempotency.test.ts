import { describe, expect, it } from 'vitest';
import { HOUR, startSandbox } from '../../support/sandbox-calls.ts';

const soon = { timeout: 1_000 };

describe('an idempotency key', () => {
  it.each(['audiences', 'lookalikes', 'estimates', 'activations', 'cohorts', 'projects', 'schedules'])(
    'is honoured by the create of %s: one resource, one build',
    async (name) => {
      const one = startSandbox();
      const seed = (await one.create(one.token)).body.data[0].id;
      one.sandbox.jobs.finish('audience', seed, 104);
      const body = { audience_id: seed, source_audience_id: seed, config: { target_size: 5 } };
      const headers = { 'idempotency-key': 'k' };
      const create = () => one.call('POST', `/api/v2/${name}/create`, { token: one.token, body, headers });
      const first = await create();
      expect(first.status).toBe(200);
      expect((await create()).body).toEqual(first.body);
      const { data } = (await one.call('GET', '/api/v2/usage', { token: one.token })).body;
      expect(data.build_budget.hour.used).toBe(name === 'projects' || name === 'schedules' ? 1 : 2);
    },
  );

  it('replays the stored response for 24 hours', soon, async () => {
    const one = startSandbox();
    const first = await one.create(one.token, 'k');
    await one.sandbox.advance(23 * HOUR);
    const again = await one.create(one.account.token('api'), 'k');
    expect(again.body).toEqual(first.body);
    expect(one.sandbox.log.at(-1)).toMatchObject({ status: 200, replayed: true });
    await one.sandbox.advance(HOUR);
    expect((await one.create(one.token, 'k')).body.data[0].id).not.toBe(first.body.data[0].id);
  });

  it('with another body is a 409', async () => {
    const one = startSandbox();
    await one.create(one.token, 'k');
    expect((await one.create(one.token, 'k', { name: 'y' })).status).toBe(409);
  });

  it('with the same body on another create is a 409', async () => {
    const one = startSandbox();
    const post = (name: string) =>
      one.call('POST', `/api/v2/${name}/create`, { token: one.token, body: {}, headers: { 'idempotency-key': 'k' } });
    expect([(await post('audiences')).status, (await post('projects')).status]).toEqual([200, 409]);
  });

  it('of a create still in flight is a 409', async () => {
    const one = startSandbox();
    let finish = () => {};
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('{"name":'));
        finish = () => {
          controller.enqueue(new TextEncoder().encode('"x"}'));
          controller.close();
        };
      },
    });
    const json = 'application/json';
    const headers = {
      accept: json,
      'content-type': json,
      authorization: `Bearer ${one.token}`,
      'idempotency-key': 'k',
    };
    const init = { method: 'POST', headers, body, duplex: 'half' } as const;
    const first = one.sandbox.fetch(new Request('http://sandbox/api/v2/audiences/create', init));
    await expect.poll(async () => (await one.create(one.token, 'k')).status).toBe(409);
    finish();
    const { data } = await (await first).json();
    expect(data[0].name).toBe('x');
    expect((await one.create(one.token, 'k', { name: 'x' })).body.data).toEqual(data);
  });

  it('belongs to its account, and is free again after a refusal', async () => {
    const one = startSandbox();
    const other = one.sandbox.accounts.create({ email: 'bob@example.com', password: 'x' }).token('api');
    const first = await one.create(one.token, 'k');
    expect((await one.create(other, 'k')).body.data[0].id).not.toBe(first.body.data[0].id);
    expect((await one.create(one.token, 'm', { project_id: 1 })).status).toBe(422);
    expect((await one.create(one.token, 'm')).status).toBe(200);
  });
});
