import { expect, it } from 'vitest';
import { startSandbox } from '../support/sandbox-calls.ts';

it('a JSON body of more than 8 MiB is a 413, and nothing is created', async () => {
  const { sandbox, token, call } = startSandbox();
  const create = (length: number) => {
    const headers = {
      accept: 'application/json',
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
    };
    const body = JSON.stringify({ name: '' }).replace('""', () => `"${'x'.repeat(length)}"`);
    return sandbox.fetch('http://sandbox/api/v2/projects/create', { method: 'POST', headers, body });
  };
  const rows = async () => (await call('GET', '/api/v2/projects/index', { token })).body.data;
  const before = await rows();
  const empty = JSON.stringify({ name: '' }).length;
  const response = await create(8 * 2 ** 20 - empty + 1);
  expect(await response.json()).toMatchObject({
    status: 'error',
    code: 413,
    message: expect.stringContaining('8388608'),
  });
  expect(await rows()).toEqual(before);
  expect((await create(8 * 2 ** 20 - empty)).status).toBe(200);
});
