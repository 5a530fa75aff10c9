import { expect, it } from 'vitest';
import { authorizedFetch } from '../../src/oauth/authorized-fetch.ts';
import { startServer } from '../support/server.ts';

it('a Request with a body is sent again after a 401 in a page', async () => {
  const { url, seen } = await startServer([{ status: 401 }, { data: [] }]);
  const tokens = { get: async ({ rejected }: { rejected?: string }) => (rejected === undefined ? 'first' : 'second') };
  const request = new Request(`${url}/a`, { method: 'POST', body: 'x' });
  expect((await authorizedFetch(url, tokens, fetch)(request)).status).toBe(200);
  const bodies = (await seen()).filter(({ method }) => method === 'POST').map(({ body }) => body);
  expect(bodies).toEqual(['x', 'x']);
});
