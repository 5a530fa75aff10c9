import { Client } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { type AudienceError, apiToken, mcpToken, memoryTokenStore, RateLimitError } from '../../src/index.ts';
import { connectMcp } from '../../src/mcp/index.ts';
import { quickly } from '../support/quickly.ts';
import { credentials, startBench } from '../support/sandbox.ts';
import { failureOf } from '../support/server.ts';
import { CLIENTS, connectFor } from './support/mcp.ts';

const PATH = '/api/v2/mcp';

describe.each(CLIENTS)('connectMcp with %s', (_, create) => {
  it('returns the client, which lists tools and calls one', async () => {
    const { url, account, client: api } = await startBench();
    const client = create();
    const connected = await connectFor(client, { baseUrl: url, token: account.token('mcp') });
    expect(connected).toBe(client);
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('audiences_create');
    await client.callTool({ name: 'audiences_create', arguments: { name: 'By an agent' } });
    expect((await api.audiences.list()).items).toMatchObject([{ name: 'By an agent' }]);
  });

  it('ends its waits when the client is closed', async () => {
    const { url, account, sandbox } = await startBench();
    const backoff = { min: 60_000, max: 60_000 };
    const retried = Promise.withResolvers<void>();
    const client = await connectFor(create(), {
      baseUrl: url,
      token: account.token('mcp'),
      backoff,
      onRetry: () => retried.resolve(),
    });
    sandbox.faults.add({ on: 'mcp.send', status: 503 });
    const listing = failureOf(client.listTools());
    await retried.promise;
    await client.close();
    expect(await listing).toBeInstanceOf(Error);
  });

  it('can be aborted while connecting, in a back-off, with the reason of the signal', async () => {
    const { url, account, sandbox } = await startBench({ faults: [{ on: 'mcp.send', status: 503 }] });
    const controller = new AbortController();
    const reason = new Error('enough');
    const client = create();
    const closed = new Promise<void>((resolve) => {
      client.onclose = resolve;
    });
    const connecting = connectFor(client, {
      baseUrl: url,
      token: account.token('mcp'),
      backoff: { min: 60_000, max: 60_000 },
      signal: controller.signal,
      onRetry: () => controller.abort(reason),
    });
    expect(await failureOf(connecting)).toBe(reason);
    await closed;
    expect(sandbox.log).toHaveLength(1);
  });
});

describe('connectMcp', () => {
  const create = () => new Client({ name: 'test', version: '1' });

  it('issues a token with its own source, and another when the first is revoked during the session', async () => {
    const { url, account, sandbox } = await startBench();
    const token = mcpToken(credentials, { store: memoryTokenStore() });
    const client = await connectFor(create(), { baseUrl: url, token });
    const issued = () => account.tokens().filter(({ kind }) => kind === 'mcp');
    const [first] = issued();
    account.revokeToken(first?.id ?? 0);
    const before = sandbox.log.length;
    await client.callTool({ name: 'audiences_create', arguments: { name: 'x' } });
    expect(issued().map(({ id }) => id === first?.id)).toEqual([false]);
    const statuses = sandbox.log.slice(before).filter(({ path, method }) => path === PATH && method === 'POST');
    expect(statuses.map(({ status }) => status)).toEqual([401, 200]);
  });

  it('asks a function again after a 401, once', async () => {
    const { url, account } = await startBench();
    const tokens = [account.token('mcp')];
    const client = await connectFor(create(), { baseUrl: url, token: () => tokens.at(-1) ?? '' });
    account.changePassword();
    tokens.push(account.token('mcp'));
    expect((await client.listTools()).tools.length).toBeGreaterThan(5);
    account.changePassword();
    expect(await failureOf(client.listTools())).toMatchObject({ name: 'AuthenticationError', attempts: 2 });
  });

  it('reports a refused static token immediately, while connecting and later', async () => {
    const { url, account, sandbox } = await startBench();
    const refused = await failureOf(connectFor(create(), { baseUrl: url, token: 'dead-and-gone' }));
    expect(refused).toMatchObject({ name: 'AuthenticationError', status: 401, attempts: 1, operation: 'mcp.send' });
    expect(sandbox.log.map(({ status }) => status)).toEqual([401]);
    const client = await connectFor(create(), { baseUrl: url, token: account.token('mcp') });
    account.changePassword();
    expect(await failureOf(client.listTools())).toMatchObject({ name: 'AuthenticationError', attempts: 1 });
  });

  it('names the token to use instead of one without permission, and does not show the latter', async () => {
    const { url, account } = await startBench();
    const token = account.token('api');
    const error = await failureOf(connectFor(create(), { baseUrl: url, token }));
    expect(error).toMatchObject({
      name: 'PermissionError',
      status: 403,
      advice: expect.stringContaining('mcpToken('),
    });
    expect(JSON.stringify([error, String(error), error instanceof Error && error.stack])).not.toContain(token);
    const source = apiToken(credentials, { store: memoryTokenStore() });
    expect(await failureOf(connectFor(create(), { baseUrl: url, token: source }))).toMatchObject({ status: 403 });
  });

  it.each([
    ['keeps to the limits of the service', 200, { mcp: { limit: 4, interval: 1_500 } }, 0],
    ['is held up by 429 where it knows of no limits, and loses nothing', 2_000, false, 1],
  ] as const)('%s', (_name, interval, rateLimits, refusals) =>
    quickly(async () => {
      const limits = { mcp: { limit: 4, interval } };
      const { url, account, sandbox, client: api } = await startBench({ clock: 'real', limits });
      const client = await connectFor(create(), { baseUrl: url, token: account.token('mcp'), rateLimits });
      const names = Array.from({ length: 6 }, (_element, at) => `n${at}`);
      const calls = names.map((name) => client.callTool({ name: 'audiences_create', arguments: { name } }));
      for (const { isError } of await Promise.all(calls)) expect(isError).not.toBe(true);
      const answers = sandbox.log.filter(({ path }) => path === PATH).map(({ status }) => status);
      expect(answers.filter((status) => status === 429).length >= refusals).toBe(true);
      if (refusals === 0) expect(answers).not.toContain(429);
      expect((await api.audiences.list()).items.map(({ name }) => name).sort()).toEqual(names);
    }),
  );

  it('does not wait longer than maxRetryWait: the error says when to retry', async () => {
    const { url, account, sandbox } = await startBench();
    const client = await connectFor(create(), { baseUrl: url, token: account.token('mcp'), maxRetryWait: 5_000 });
    sandbox.faults.add({ on: 'mcp.send', status: 429, retryAfter: 60, times: 1 });
    const error = await failureOf(client.listTools());
    expect(error).toMatchObject({ name: 'RateLimitError', bucket: 'mcp', retryAfter: 60, attempts: 1 });
    expect(RateLimitError.isInstance(error) && error.retryAt && error.retryAt.getTime() > Date.now()).toBe(true);
    expect(await failureOf(client.listTools())).toMatchObject({ name: 'RateLimitError', attempts: 0 });
  });

  it('asks a custom limiter for a permit of the bucket, by token', async () => {
    const { url, account } = await startBench();
    const asked: string[] = [];
    const limiter = {
      acquire: (bucket: string, { scope }: { scope: string }) => {
        asked.push(`${bucket} ${scope}`);
        return Promise.resolve();
      },
      pause() {},
    };
    const tokens = [account.token('mcp'), account.token('mcp')];
    for (const token of tokens) {
      const client = await connectFor(create(), { baseUrl: url, token, limiter });
      await client.listTools();
    }
    expect(new Set(asked).size).toBe(2);
    expect(asked.every((one) => one.startsWith('mcp '))).toBe(true);
  });

  it('sends the headers that an `around` hook adds', async () => {
    const { url, account } = await startBench();
    const sent: (string | null)[] = [];
    const client = await connectFor(create(), {
      baseUrl: url,
      token: account.token('mcp'),
      around: (_call, next) => next({ headers: { traceparent: 'of-the-span' } }),
      fetch: (input, init) => {
        sent.push(new Request(input, init).headers.get('traceparent'));
        return fetch(input, init);
      },
    });
    await client.listTools();
    expect(new Set(sent)).toEqual(new Set(['of-the-span']));
  });

  it('retries no call of a tool that the service may have carried out', async () => {
    const { url, account, sandbox } = await startBench();
    const client = await connectFor(create(), { baseUrl: url, token: account.token('mcp') });
    const call = () => client.callTool({ name: 'audiences_create', arguments: { name: 'once' } });
    sandbox.faults.add({ on: 'mcp.send', status: 503, times: 1 });
    expect(await failureOf(call())).toMatchObject({ name: 'ServerError', status: 503, attempts: 1 });
    sandbox.faults.add({ on: 'mcp.send', cut: 'after', times: 1 });
    expect(await failureOf(call())).toMatchObject({ name: 'ConnectionError', attempts: 1 });
    expect(sandbox.log.filter(({ path }) => path === '/api/v2/audiences/create')).toHaveLength(1);
    await call();
  });

  it('requires the class of the transport from an unknown client, and names the option', async () => {
    const { url, account } = await startBench();
    const used: URL[] = [];
    class Transport {
      onclose?: () => void;
      constructor(address: URL) {
        used.push(address);
      }
      close(): Promise<void> {
        return Promise.resolve();
      }
    }
    const stranger = { connect: () => Promise.resolve(), close: () => Promise.resolve() };
    const options = { baseUrl: url, token: account.token('mcp'), client: stranger };
    const error = await failureOf(connectMcp(options));
    expect(error).toMatchObject({ name: 'ConfigurationError', advice: expect.stringContaining('pass `transport') });
    expect(await connectMcp({ ...options, transport: Transport })).toBe(stranger);
    expect(used.map(String)).toEqual([`${url}${PATH}`]);
  });
});

describe('connectMcp with a client that negotiates the version of the protocol', () => {
  const create = () => new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });

  it('connects the client with the newest version', async () => {
    const { url, account } = await startBench();
    const client = create();
    await connectFor(client, { baseUrl: url, token: account.token('mcp') });
    expect(client.getNegotiatedProtocolVersion()).toBe('2026-07-28');
    expect((await client.listTools()).tools.length).toBeGreaterThan(5);
  });

  it('rejects with the error of this package, not with the error of the MCP client', async () => {
    const { url, account } = await startBench();
    const options = { baseUrl: url, token: account.token('api'), maxRetries: 0 };
    expect(await failureOf(connectFor(create(), options))).toMatchObject({ name: 'PermissionError', status: 403 });
    const nowhere = { ...options, baseUrl: 'http://127.0.0.1:49151' };
    expect(await failureOf(connectFor(create(), nowhere))).toMatchObject({ name: 'ConnectionError', attempts: 1 });
  });
});

describe('the options of connectMcp', () => {
  const client = { connect: () => Promise.resolve() };
  const base = { baseUrl: 'https://api.example.com', token: 'a-token', client };

  it.each([
    ['`retries` is not an option of connectMcp', { retries: 1 }],
    ['it is spelled `maxRetries`', { maxretries: 1 }],
    ['`token` is missing', { token: undefined }],
    ['`token` must be visible ASCII', { token: ' ' }],
    ['`client` must be', { client: {} }],
    ['`transport` must be', { transport: 'http' }],
    ['`timeout` must be a number of 0 or more', { timeout: -1 }],
    ['uses http', { baseUrl: 'http://api.example.com' }],
  ])('are checked before anything is sent: %s', async (message, wrong) => {
    const options = { ...base, ...wrong };
    const error = await failureOf(Reflect.apply(connectMcp<typeof client>, undefined, [options]));
    expect(error).toMatchObject({ name: 'ConfigurationError', message: expect.stringContaining(message) });
  });

  it('ignore AUDIENCE_TOKEN, because it has no scope mcp', async () => {
    process.env.AUDIENCE_TOKEN = 'of-the-api';
    const { token, ...rest } = base;
    const error = await failureOf(Reflect.apply(connectMcp<typeof client>, undefined, [rest]));
    delete process.env.AUDIENCE_TOKEN;
    expect(error).toMatchObject({ message: expect.stringContaining('`token` is missing') } satisfies Partial<
      Record<keyof AudienceError, unknown>
    >);
  });
});
