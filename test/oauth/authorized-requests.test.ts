import { describe, expect, it } from 'vitest';
import { authorizedFetch } from '../../src/oauth/authorized-fetch.ts';
import type { Seen, Step } from '../support/script.ts';
import { startServer } from '../support/server.ts';

const FORM = new FormData();
FORM.set('name', 'value');

/** Starts a server with a script, and a `fetch` that sends it the token `first`, and `second` after a 401. */
async function startFetch(...script: Step[]) {
  const server = await startServer(script);
  const tokens = { get: async ({ rejected = '' }) => (rejected === '' ? 'first' : 'second') };
  return { ...server, fetch: authorizedFetch(new URL(server.url).origin, tokens, fetch) };
}

const REJECTED = { status: 401 };

const tokensOf = (requests: Seen[]): unknown[] => requests.map(({ headers }) => headers.authorization);

describe('a `Request` to `oauth.fetch`', () => {
  it.each<[string, BodyInit | null, RegExp]>([
    ['string', 'the body', /^the body$/],
    ['Blob', new Blob(['the body']), /^the body$/],
    ['ArrayBuffer', new TextEncoder().encode('the body').buffer, /^the body$/],
    ['URLSearchParams', new URLSearchParams({ name: 'value' }), /^name=value$/],
    ['FormData', FORM, /name="name"\r\n\r\nvalue\r\n/],
    ['no body', null, /^$/],
  ])('is sent with the token, and again after a 401, with its body: %s', async (_, body, expected) => {
    const { url, fetch, seen } = await startFetch(REJECTED, {});
    const headers = { accept: 'text/own', authorization: 'Bearer other' };
    const response = await fetch(new Request(`${url}/path`, { method: 'POST', headers, body }));
    expect(response.status).toBe(200);
    const requests = await seen();
    expect(tokensOf(requests)).toEqual(['Bearer first', 'Bearer second']);
    for (const request of requests) {
      expect(request).toMatchObject({ method: 'POST', url: '/path', headers: { accept: 'text/own' } });
      expect(request.body).toMatch(expected);
    }
  });

  it('is sent with the headers and the body of `init`, also after a 401', async () => {
    const { url, fetch, seen } = await startFetch(REJECTED, {});
    const request = new Request(url, { method: 'POST', headers: { accept: 'text/own' }, body: 'of the request' });
    const response = await fetch(request, { method: 'PUT', headers: { accept: 'text/other' }, body: 'of init' });
    expect(response.status).toBe(200);
    const requests = await seen();
    expect(tokensOf(requests)).toEqual(['Bearer first', 'Bearer second']);
    for (const { method, headers, body } of requests) {
      expect([method, headers.accept, body]).toEqual(['PUT', 'text/other', 'of init']);
    }
  });

  it.each([
    ['first', ['Bearer first'], [{ fault: 'stall' }]],
    ['second', ['Bearer first', 'Bearer second'], [REJECTED, { fault: 'stall' }]],
  ] as const)('ends when its signal aborts during the %s attempt', async (_, tokens, script) => {
    const { url, fetch, seen } = await startFetch(...script);
    const controller = new AbortController();
    const call = fetch(new Request(url, { method: 'POST', body: 'the body', signal: controller.signal }));
    const ended = expect(call).rejects.toMatchObject({ name: 'AbortError' });
    await expect.poll(async () => tokensOf(await seen())).toEqual(tokens);
    controller.abort();
    await ended;
  });

  it('ends when the signal of `init` aborts', async () => {
    const { url, fetch, seen } = await startFetch({ fault: 'stall' });
    const controller = new AbortController();
    const call = fetch(new Request(url), { signal: controller.signal });
    const ended = expect(call).rejects.toMatchObject({ name: 'AbortError' });
    await expect.poll(seen).toHaveLength(1);
    controller.abort();
    await ended;
  });
});
