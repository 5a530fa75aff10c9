import '../support/nothing-left.ts';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { Client } from '@modelcontextprotocol/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { memoryTokenStore } from '../../src/index.ts';
import { connectMcp } from '../../src/mcp/index.ts';
import { signInWithBrowser } from '../../src/node/index.ts';
import { createOAuthClient } from '../../src/oauth/index.ts';
import { consent, ping, REDIRECT, signIn, startOAuthBench } from '../support/oauth.ts';
import { startBench } from '../support/sandbox.ts';
import { failureOf, quick } from '../support/server.ts';

describe('the error of a setting', () => {
  it('a token source without a usable token says what a token is, and works when it returns one', async () => {
    const { account, connect } = await startBench();
    const token = account.token('api');
    let source = `${token}\n`;
    const client = connect({ token: () => source });
    expect(String(await failureOf(client.webhooks.list()))).toContain('A token is visible ASCII without white space.');
    source = token;
    expect(await client.webhooks.list()).toEqual([]);
  });

  it('a missing `mcpToken` is named, and the call succeeds with one', async () => {
    const { account, client, connect } = await startBench();
    const message = { jsonrpc: '2.0', id: 1, method: 'ping' } as const;
    expect(String(await failureOf(client.mcp.send(message)))).toContain('`mcpToken` is missing');
    expect(await connect({ mcpToken: account.token('mcp') }).mcp.send(message)).toMatchObject({ id: 1 });
  });

  it('an override without effect in connectMcp is to be removed, and then it connects', async () => {
    const { url, account } = await startBench();
    const client = new Client({ name: 'test', version: '1' });
    onTestFinished(() => client.close());
    const options = { baseUrl: url, token: account.token('mcp'), client };
    for (const operations of [{ 'audiences.get': 'GET /v9/{id}' }, { 'mcp.send': { method: 'PUT' } }] as const) {
      expect(String(await failureOf(connectMcp({ ...options, operations })))).toMatch(/has no effect .* Remove it\./);
    }
    await connectMcp(options);
    expect(await client.ping()).toEqual({});
  });

  it('a port in use says to take a `redirectUri` without a port, with which the sign-in succeeds', async () => {
    const server = createServer();
    await once(server.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void server.close());
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const { oauth } = await startOAuthBench({}, { redirectUri: `http://127.0.0.1:${port}/callback` });
    const visit = async (to: string): Promise<void> => void (await fetch(await consent(to)));
    const options = { open: false, onUrl: (to: string) => void visit(to) };
    const error = await failureOf(signInWithBrowser(oauth, options));
    const [, redirectUri = ''] = /Use a `redirectUri` without a port, e\.g\. "([^"]+)"/.exec(String(error)) ?? [];
    const other = await startOAuthBench({}, { redirectUri });
    await signInWithBrowser(other.oauth, options);
    expect(await ping(other.oauth, other.url)).toBe(200);
  });

  it('a `baseUrl` that the metadata of the service do not describe is named, and its own address works', async () => {
    const { url } = await startOAuthBench();
    const options = { redirectUri: REDIRECT, store: memoryTokenStore(), ...quick };
    // The earlier address of the service, which a proxy still forwards to it.
    const baseUrl = 'https://earlier.example.com';
    const forwarded: typeof fetch = (input, init) => fetch(String(input).replace(baseUrl, url), init);
    const error = await failureOf(createOAuthClient({ ...options, baseUrl, fetch: forwarded }).authorize());
    expect(String(error)).toContain("Set `baseUrl` to the service's own address.");
    const oauth = createOAuthClient({ ...options, baseUrl: url });
    await signIn(oauth);
    expect(await ping(oauth, url)).toBe(200);
  });
});
