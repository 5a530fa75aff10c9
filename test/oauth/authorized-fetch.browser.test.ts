import { expect, it } from 'vitest';
import { authorizedFetch } from '../../src/oauth/authorized-fetch.ts';
import { startServer } from '../support/server.ts';

it('a Request with a body, which can be sent only once, resolves with its 401 in a page', async () => {
  const { url, seen } = await startServer([{ status: 401 }, { data: [] }]);
  const tokens = { get: async ({ rejected }: { rejected?: string }) => (rejected === undefined ? 'first' : 'second') };
  const fetchWithToken = authorizedFetch(url, tokens, fetch);
  const withBody = new Request(`${url}/a`, { method: 'POST', body: 'x' });
  expect((await fetchWithToken(withBody)).status).toBe(401);
  expect((await fetchWithToken(new Request(`${url}/b`))).status).toBe(200);
  expect((await seen()).filter(({ method }) => method === 'POST')).toHaveLength(1);
});
