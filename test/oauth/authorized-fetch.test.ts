import { describe, expect, it } from 'vitest';
import { MCP, ping, signIn, startOAuthBench } from '../support/oauth.ts';
import { startServer } from '../support/server.ts';

describe('`oauth.fetch`', () => {
  it('sends the bearer token to the configured origin only', async () => {
    const { oauth, url } = await startOAuthBench();
    const other = await startServer([{ text: 'hello' }]);
    await signIn(oauth);
    expect(await ping(oauth, url)).toBe(200);
    await (await oauth.fetch(other.url)).text();
    await (await oauth.fetch(new Request(`${other.url}/again`))).text();
    const seen = await other.seen();
    expect(seen.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined]);
  });

  it('does not follow redirects of that origin', async () => {
    const elsewhere = await startServer([{ text: 'hello' }]);
    const { clientWith, store, url } = await startOAuthBench();
    const location = `${elsewhere.url}/stolen`;
    const redirecting = async (): Promise<Response> => new Response(null, { status: 307, headers: { location } });
    const fetched: (RequestInit | undefined)[] = [];
    const oauth = clientWith(store, {
      fetch: (input, init) => {
        if (!String(input).endsWith('/moved')) return fetch(input, init);
        fetched.push(init);
        return redirecting();
      },
    });
    await signIn(oauth);
    expect((await oauth.fetch(`${url}/moved`)).status).toBe(307);
    expect(fetched.map((init) => init?.redirect)).toEqual(['manual']);
    expect(await elsewhere.seen()).toEqual([]);
  });

  it('retries a 401 once, unless the body can be read only once', async () => {
    const { oauth, url, sandbox, exchanges } = await startOAuthBench();
    await signIn(oauth);
    await sandbox.advance(3_600_000);
    const body = new Blob(['{"jsonrpc":"2.0","id":1,"method":"ping"}']).stream();
    const streamed: RequestInit & { duplex: 'half' } = { body, duplex: 'half' };
    expect(await ping(oauth, url, streamed)).toBe(401);
    expect(exchanges()).toEqual([200]);
    expect(await ping(oauth, url)).toBe(200);
    sandbox.faults.add({ on: '/api/v2/mcp', status: 401 });
    expect(await ping(oauth, url)).toBe(401);
    expect(sandbox.log.filter(({ fault }) => fault !== undefined)).toHaveLength(2);
  });

  it('sends a `Request` whose body is a stream again after a 401', async () => {
    const { oauth, url, sandbox, exchanges } = await startOAuthBench();
    await signIn(oauth);
    await sandbox.advance(3_600_000);
    const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
    const body = new Blob(['{"jsonrpc":"2.0","id":1,"method":"ping"}']).stream();
    const streamed: RequestInit & { duplex: 'half' } = { method: 'POST', headers, body, duplex: 'half' };
    const response = await oauth.fetch(new Request(`${url}${MCP}`, streamed));
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('"result":{}');
    expect(exchanges()).toEqual([200, 200]);
  });

  it('rejects with the reason of its signal while it waits for a token', async () => {
    const { oauth, url, sandbox } = await startOAuthBench();
    await signIn(oauth);
    await sandbox.advance(3_600_000);
    sandbox.faults.add({ on: '/oauth/token', delay: 5_000 });
    const controller = new AbortController();
    const reason = new Error('enough');
    const call = ping(oauth, url, { signal: controller.signal });
    await expect.poll(() => sandbox.log.some(({ status }) => status === 401)).toBe(true);
    controller.abort(reason);
    await expect(call).rejects.toBe(reason);
  });
});
