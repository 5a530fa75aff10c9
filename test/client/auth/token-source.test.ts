import { describe, expect, it } from 'vitest';
import { fingerprint, readStoredToken } from '../../../src/client/auth/token-source.ts';
import { AuthenticationError, loginToken, type TokenSource } from '../../../src/index.ts';
import { quickly } from '../../support/quickly.ts';
import { credentials as sandboxCredentials, startBench } from '../../support/sandbox.ts';
import { clientOf, failureOf, startServer } from '../../support/server.ts';

const credentials = { email: 'me@example.com', password: 'pass-word' };

describe('a static token', () => {
  it('is never retried after a 401', async () => {
    const server = await startServer([{ status: 401 }]);
    expect(await failureOf(clientOf(server).webhooks.list())).toBeInstanceOf(AuthenticationError);
    expect(await server.seen()).toHaveLength(1);
  });
});

describe('a function as token', () => {
  it('is called for every request, and again after a 401', async () => {
    const server = await startServer([{ data: [] }, { status: 401 }, { data: [] }]);
    let calls = 0;
    const client = clientOf(server, { token: async () => `token-${++calls}` });
    await client.webhooks.list();
    await client.webhooks.list();
    expect((await server.seen()).map(({ headers }) => headers.authorization)).toEqual([
      'Bearer token-1',
      'Bearer token-2',
      'Bearer token-3',
    ]);
  });

  it('a token function that throws fails the call with that cause before anything is sent', async () => {
    const server = await startServer([{ data: [] }]);
    const client = clientOf(server, {
      token: () => {
        throw new Error('vault is sealed');
      },
    });
    const error = await failureOf(client.audiences.create({ name: 'A' }));
    expect(error).toMatchObject({ code: 'token-unavailable', outcome: 'not-sent' });
    expect(error).toSatisfy((it: Error) => it.cause instanceof Error && it.cause.message === 'vault is sealed');
    expect(await server.seen()).toEqual([]);
  });

  it.each(['', 'with space', 'line\nbreak'])(
    'a token function that returns %j fails the call before anything is sent',
    async (token) => {
      const server = await startServer([{ data: [] }]);
      const error = await failureOf(clientOf(server, { token: () => token }).webhooks.list());
      expect(error).toMatchObject({ code: 'token-unavailable' });
      expect(await server.seen()).toEqual([]);
    },
  );
});

describe('a token source', () => {
  it('receives the rejected token, once for each call', async () => {
    const server = await startServer([{ status: 401 }]);
    const asked: (string | undefined)[] = [];
    const source: TokenSource = {
      get: async ({ rejected }) => {
        asked.push(rejected);
        return rejected === undefined ? 'old' : 'new';
      },
    };
    const error = await failureOf(clientOf(server, { token: source }).webhooks.list());
    expect(error).toMatchObject({ name: 'AuthenticationError', attempts: 2, reason: 'token' });
    expect(asked).toEqual([undefined, 'old']);
  });
});

describe('loginToken', () => {
  const login = 'POST /api/v2/auth/login';

  it('warns once that clients of one account end each other’s token, and names `apiToken`', async () => {
    const { connect, sandbox } = await startBench();
    const lines: string[] = [];
    const logger = { error() {}, info() {}, debug() {}, warn: (line: string) => void lines.push(line) };
    const create = () => connect({ token: loginToken(sandboxCredentials), logger, logLevel: 'warn' });
    const clients = [create(), create()];
    for (let round = 0; round < 3; round++) for (const client of clients) await client.webhooks.list();
    expect(sandbox.log.filter(({ path }) => path.endsWith('/auth/login')).length).toBeGreaterThan(2);
    expect(lines).toEqual([expect.stringMatching(/each login ends the tokens of the other clients: use `apiToken`/)]);
  });

  it('warns of nothing if clients share a source, or only this client logs in again', async () => {
    const { connect, account } = await startBench();
    const lines: string[] = [];
    const logger = { error() {}, info() {}, debug() {}, warn: (line: string) => void lines.push(line) };
    const token = loginToken(sandboxCredentials);
    const clients = [1, 2].map(() => connect({ token, logger, logLevel: 'warn' }));
    for (let round = 0; round < 3; round++) {
      for (const client of clients) await client.webhooks.list();
      account.changePassword(sandboxCredentials.password);
    }
    expect(lines).toEqual([]);
  });

  it('logs in once for 50 concurrent calls on a revoked token, and all succeed', async () => {
    const server = await startServer({
      [login]: [{ data: { token: 'first' } }, { data: { token: 'second' }, delay: 50 }],
      'GET /api/v2/usage': [{ data: { build_budget: { hour: { limit: 1, used: 0 }, day: { limit: 1, used: 0 } } } }],
      '*': [{ bearer: 'second', data: [] }],
    });
    const client = clientOf(server, { credentials });
    await client.usage.get();
    const results = await Promise.all(Array.from({ length: 50 }, () => client.webhooks.list()));
    expect(results).toHaveLength(50);
    const logins = (await server.seen()).filter(({ url }) => url.endsWith('/auth/login'));
    expect(logins).toHaveLength(2);
    for (const { headers, body } of logins) {
      expect(headers.authorization).toBeUndefined();
      expect(JSON.parse(body)).toEqual(credentials);
    }
  });

  it('rejects all waiting calls when the login fails, each create under its own key; the next call logs in again', async () => {
    const server = await startServer({
      [login]: [{ status: 401, delay: 50 }, { data: { token: 'good' } }],
      '*': [{ data: [] }],
    });
    const client = clientOf(server, { credentials });
    const failures = await Promise.all([1, 2, 3].map((at) => failureOf(client.audiences.create({ name: `${at}` }))));
    for (const error of failures) {
      expect(error).toMatchObject({ name: 'AuthenticationError', reason: 'credentials', outcome: 'not-sent' });
    }
    expect(new Set(failures.map((it) => (it as { idempotencyKey: string }).idempotencyKey)).size).toBe(3);
    expect(await client.webhooks.list()).toEqual([]);
  });

  it('continues a login when the call that started it aborts', () =>
    quickly(async () => {
      const server = await startServer({ [login]: [{ data: { token: 'good' }, delay: 1_000 }], '*': [{ data: [] }] });
      const client = clientOf(server, { credentials });
      const controller = new AbortController();
      const first = failureOf(client.webhooks.list({ signal: controller.signal }));
      const second = client.webhooks.list();
      setTimeout(() => controller.abort('left'), 500);
      expect(await first).toBe('left');
      expect(await second).toEqual([]);
      expect((await server.seen()).filter(({ url }) => url.endsWith('/auth/login'))).toHaveLength(1);
    }));

  it('accepts another spelling of the base URL of its client', () => {
    const source = loginToken({ email: 'me@example.com', password: 'p' }, { baseUrl: 'HTTPS://API.Example.com:443/' });
    expect(() => clientOf({ url: 'https://api.example.com' }, { token: source })).not.toThrow();
  });

  it('refuses to serve two services, or none', async () => {
    const source = loginToken(credentials);
    expect(await failureOf(source.get({}))).toMatchObject({ name: 'ConfigurationError' });
    const server = await startServer([{ data: { token: 'login-1' } }, { data: [] }]);
    await clientOf(server, { token: source }).webhooks.list();
    const elsewhere = clientOf({ url: 'http://127.0.0.1:2' }, { token: source });
    expect(await failureOf(elsewhere.webhooks.list())).toMatchObject({
      name: 'ConfigurationError',
      message: expect.stringContaining('cannot serve two services'),
    });
  });
});

describe('credentials', () => {
  it.each([
    [{ email: 'no-address', password: 'x' }, 'email'],
    [{ email: 'me@example.com', password: '' }, 'password'],
  ])('the client refuses invalid credentials before sending: %j', async (wrong, field) => {
    const server = await startServer([{}]);
    const error = await failureOf(clientOf(server).auth.login(wrong));
    expect(error).toMatchObject({ local: true, errors: { [field]: [expect.any(String)] } });
    expect(await server.seen()).toEqual([]);
  });

  it('are exchanged for tokens, and revoked', async () => {
    const server = await startServer({
      'POST /api/v2/auth/login': [{ data: { token: 'login-1' } }],
      'POST /api/v2/auth/api-token': [{ data: { token: 'api-1', expires_at: '2027-11-20T10:00:00+00:00' } }],
      'POST /api/v2/auth/mcp-token': [{ data: { token: 'mcp-1' } }],
      'POST /api/v2/auth/api-token/revoke': [{ data: { revoked: 3 } }],
      'POST /api/v2/auth/mcp-token/revoke': [{ data: { revoked: 'all' } }],
    });
    const { auth } = clientOf(server);
    expect(await auth.login(credentials)).toEqual({ token: 'login-1' });
    expect(await auth.createApiToken(credentials)).toMatchObject({ expires_at: '2027-11-20T10:00:00+00:00' });
    expect(await failureOf(auth.createMcpToken(credentials))).toMatchObject({ name: 'ResponseError', body: '' });
    expect(await auth.revokeApiTokens(credentials)).toEqual({ revoked: 3 });
    expect(await failureOf(auth.revokeMcpTokens(credentials))).toMatchObject({ name: 'ResponseError' });
    for (const { headers } of await server.seen()) expect(headers.authorization).toBeUndefined();
  });
});

describe('a request to a token source', () => {
  it('contains the rejected token only after a 401, and always the signal of the call', async () => {
    const server = await startServer([{ bearer: 'second', data: [] }]);
    const asked: { keys: string[]; rejected: string | undefined; aborted: boolean | undefined }[] = [];
    const source: TokenSource = {
      get(options) {
        asked.push({
          keys: Object.keys(options).sort(),
          rejected: options.rejected,
          aborted: options.signal?.aborted,
        });
        return Promise.resolve(options.rejected === 'first' ? 'second' : 'first');
      },
    };
    await clientOf(server, { token: source }).webhooks.list();
    expect(asked).toEqual([
      { keys: ['context', 'signal'], rejected: undefined, aborted: false },
      { keys: ['context', 'rejected', 'signal'], rejected: 'first', aborted: false },
    ]);
  });
});

describe('the name of a token’s buckets', () => {
  it('is the same in every process, and reveals nothing', () => {
    expect(fingerprint('1|secret')).toBe(fingerprint('1|secret'));
    expect(fingerprint('1|secret')).toMatch(/^[0-9a-f]{16}$/);
    const names = Array.from({ length: 5_000 }, (_, at) => fingerprint(`${at}|secret`));
    expect(new Set(names).size).toBe(5_000);
    expect(names.every((name) => name.length === 16)).toBe(true);
    // FNV-1a of "a" by the published offset basis.
    expect(fingerprint('a').slice(0, 8)).toBe('e40c292c');
  });
});

describe('a stored token', () => {
  it.each([
    ['{"token":"t"}', { token: 't' }],
    [
      '{"token":"t","expiresAt":"2027-01-01T00:00:00+00:00","more":1}',
      { token: 't', expiresAt: '2027-01-01T00:00:00+00:00', more: 1 },
    ],
    ['{"token":1}', undefined],
    ['{"token":"t","expiresAt":5}', undefined],
    ['{"expiresAt":"2027-01-01T00:00:00+00:00"}', undefined],
    ['"t"', undefined],
    ['null', undefined],
    ['{"token":', undefined],
  ])('is read from %s', (text, token) => {
    expect(readStoredToken(text)).toEqual(token);
  });
});
