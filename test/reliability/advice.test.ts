import '../support/nothing-left.ts';
import { describe, expect, it } from 'vitest';
import { type AudienceClient, AudienceError, apiToken, mcpToken, memoryTokenStore } from '../../src/index.ts';
import { quickly } from '../support/quickly.ts';
import { credentials, startBench } from '../support/sandbox.ts';
import { clientOf, failureOf, startServer } from '../support/server.ts';

const ping = (client: AudienceClient) => client.mcp.send({ jsonrpc: '2.0', id: 1, method: 'ping' });

describe('the error of a response', () => {
  it('the error of a response that is too large names `per_page` and `maxResponseBytes`, and each of them helps', async () => {
    const { client, connect, account } = await startBench();
    for (let at = 0; at < 20; at++) await client.projects.create({ name: `Project ${at}` });
    const token = account.token('api');
    const small = connect({ token, maxResponseBytes: 1_000 });
    expect(String(await failureOf(small.projects.list()))).toContain('with `per_page`, or raise the option');
    expect((await small.projects.list({ per_page: 2 })).items).toHaveLength(2);
    expect((await connect({ token, maxResponseBytes: 100_000 }).projects.list()).items).toHaveLength(20);
  });

  it('the error of a response that is too large for a create tells to repeat it with its key, which a larger `maxResponseBytes` lets succeed', async () => {
    const { connect, account, client } = await startBench();
    const token = account.token('api');
    const error = await failureOf(connect({ token, maxResponseBytes: 10 }).projects.create({ name: 'One' }));
    if (!AudienceError.isInstance(error) || !error.idempotencyKey) throw error;
    expect(error.outcome).toBe('unknown');
    const options = { idempotencyKey: error.idempotencyKey };
    const { id } = await connect({ token, maxResponseBytes: 100_000 }).projects.create({ name: 'One' }, options);
    expect(await client.projects.list().toArray()).toMatchObject([{ id }]);
  });

  it('the error of a redirect says to set `baseUrl` to the address of the service, which helps', async () => {
    const { url, connect, account } = await startBench();
    const moved = await startServer([{ status: 301, headers: { location: url } }]);
    const token = account.token('api');
    const error = await failureOf(connect({ baseUrl: moved.url, token }).webhooks.list());
    expect(String(error)).toContain("Set `baseUrl` to the service's own address.");
    expect(await connect({ baseUrl: url, token }).webhooks.list()).toEqual([]);
  });

  it('406 says that a proxy may have removed `Accept`, without which the service refuses', async () => {
    const { connect, account } = await startBench();
    const token = account.token('api');
    const withoutAccept: typeof fetch = (input, init) => {
      const headers = new Headers(init?.headers);
      headers.set('accept', 'text/html');
      return fetch(input, { ...init, headers });
    };
    const error = await failureOf(connect({ token, fetch: withoutAccept }).webhooks.list());
    expect(String(error)).toContain(
      'A proxy may have removed the `Accept: application/json` header: configure the proxy to keep it.',
    );
    expect(await connect({ token }).webhooks.list()).toEqual([]);
  });

  it('429 says when to try again, and a call at that moment succeeds', () =>
    quickly(async () => {
      const server = await startServer([{ status: 429, headers: { 'retry-after': '1' } }, { data: [] }]);
      const client = clientOf(server, { maxRetries: 0 });
      const error = await failureOf(client.webhooks.list());
      const [, at = ''] = /Try again at (\S+)\.$/.exec(String(error)) ?? [];
      expect(error).toMatchObject({ name: 'RateLimitError', retryAt: new Date(at) });
      // The client itself waits for the moment.
      expect(await client.webhooks.list()).toEqual([]);
      expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(at) - 50);
    }));
});

describe('the error of a token', () => {
  it('the error of a token that another login has ended names `apiToken`, with which two clients work', async () => {
    const { client, connect } = await startBench();
    const { token } = await client.auth.login(credentials);
    await client.auth.login(credentials);
    const error = await failureOf(connect({ token }).webhooks.list());
    expect(String(error)).toContain('If several processes share an account, use `apiToken`.');
    const clients = [1, 2].map(() => connect({ token: apiToken(credentials, { store: memoryTokenStore() }) }));
    for (let round = 0; round < 2; round++) {
      for (const one of clients) expect(await one.webhooks.list()).toEqual([]);
    }
  });

  it.each([
    ['of the wrong kind', (token: string) => ({ mcpToken: token }), 'Only tokens of scope `mcp` are accepted here'],
    ['that has ended', () => ({ mcpToken: 'ended' }), 'renew their token; a string cannot be renewed'],
  ])('the error of a token for MCP %s names `mcpToken`, with which the call succeeds', async (_, options, advice) => {
    const { connect, account } = await startBench();
    const error = await failureOf(ping(connect({ token: 'unused', ...options(account.token('api')) })));
    expect(String(error)).toContain(advice);
    expect(String(error)).toContain('mcpToken(credentials, { store })');
    const store = memoryTokenStore();
    const client = connect({ token: 'unused', mcpToken: mcpToken(credentials, { store }) });
    expect(await ping(client)).toMatchObject({ id: 1 });
    // Its token is renewed after the end of all tokens.
    account.revokeTokens('mcp');
    expect(await ping(client)).toMatchObject({ id: 1 });
  });

  it.each([
    ['api', 'revokeApiTokens', apiToken],
    ['mcp', 'revokeMcpTokens', mcpToken],
  ] as const)(
    'the error of a token that cannot be issued beside ten others of kind %s names %s, after which it is issued',
    async (kind, revoke, source) => {
      const { account, connect, client } = await startBench();
      for (let at = account.tokens().filter((token) => token.kind === kind).length; at < 10; at++) account.token(kind);
      const store = memoryTokenStore();
      const token = source(credentials, { store });
      const late = connect({ token: 'unused', ...(kind === 'mcp' ? { mcpToken: token } : { token }) });
      const call = (): PromiseLike<unknown> => (kind === 'mcp' ? ping(late) : late.webhooks.list());
      expect(String(await failureOf(call()))).toContain(`\`client.auth.${revoke}(credentials)\` revokes all of them`);
      expect(await client.auth[revoke](credentials)).toEqual({ revoked: 10 });
      await call();
      // The store outlives the process: the next one issues no other token.
      const issued = account.tokens().length;
      const next = source(credentials, { store });
      const restarted = connect({ token: 'unused', ...(kind === 'mcp' ? { mcpToken: next } : { token: next }) });
      await (kind === 'mcp' ? ping(restarted) : restarted.webhooks.list());
      expect(account.tokens()).toHaveLength(issued);
    },
  );
});

it('the error of a closed client says to create a new one, which works', async () => {
  const { client, connect, account } = await startBench();
  await client.close();
  expect(String(await failureOf(client.webhooks.list()))).toContain('Create a new one');
  expect(await connect({ token: account.token('api') }).webhooks.list()).toEqual([]);
});

it('the error of a `fetch` that throws says to correct its code, and the corrected one succeeds', async () => {
  const { connect, account, sandbox } = await startBench();
  const token = account.token('api');
  const wrong = connect({ token, fetch: () => JSON.parse('{}').missing.call() });
  expect(String(await failureOf(wrong.webhooks.list()))).toContain('Correct its code: a retry would not help.');
  expect(sandbox.log).toEqual([]);
  expect(await connect({ token, fetch }).webhooks.list()).toEqual([]);
});
