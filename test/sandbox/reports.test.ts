import { describe, expect, it } from 'vitest';
import { createSandbox } from '../../src/sandbox/index.ts';
import { startSandbox } from '../support/sandbox-calls.ts';

describe('usage', () => {
  it.each(['2019-12', '2999-01', '202001', ''])('of %j is rejected', async (yearmonth) => {
    const one = startSandbox();
    expect((await one.call('GET', `/api/v2/usage?yearmonth=${yearmonth}`, { token: one.token })).status).toBe(422);
  });
});

describe('webhook endpoints', () => {
  it('of the company are listed newest first, without secret', async () => {
    const one = startSandbox();
    const endpoint = { account: one.account, name: 'a', url: 'https://x.example', events: ['audience.completed'] };
    const first = one.sandbox.webhooks.create(endpoint);
    const second = one.sandbox.webhooks.create({ ...endpoint, name: 'b' });
    const { data } = (await one.call('GET', '/api/v2/webhooks/index', { token: one.token })).body;
    expect(data.map(({ id }: { id: number }) => id)).toEqual([second.id, first.id]);
    expect(data[1]).toEqual({
      id: first.id,
      name: 'a',
      url: 'https://x.example',
      events: ['audience.completed'],
      schema_version: 1,
      is_active: true,
      last_delivery_at: null,
      created_at: expect.stringMatching(/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/),
      updated_at: expect.any(String),
    });
    expect(() => createSandbox().webhooks.create(endpoint)).toThrow(/not one of this sandbox/);
  });
});
