import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { AudienceClient, type ClientOptions, ConfigurationError } from '../../src/index.ts';
import { VERSION } from '../../src/util/version.ts';
import { startServer } from '../support/server.ts';
import { wireAudience } from '../support/wire-audience.ts';

const good = { baseUrl: 'https://api.example.com', token: 'token-1' };

afterEach(() => {
  vi.unstubAllEnvs();
});

/** Returns the error with which the client refuses options. */
function refusalOf(options: ClientOptions): unknown {
  try {
    return new AudienceClient(options);
  } catch (error) {
    return error;
  }
}

describe('the options of a client', () => {
  const wrong: [string, ClientOptions, RegExp][] = [
    ['no base URL', { token: 't' }, /`baseUrl` is missing.*AUDIENCE_BASE_URL/],
    ['a base URL that is none', { ...good, baseUrl: 'api.example.com' }, /http\(s\) URL.*, not "api\.example\.com"\.$/],
    ['a token in place of the base URL', { ...good, baseUrl: '3|canary' }, /http\(s\) URL.*, not \[redacted\]\.$/],
    ['another scheme', { ...good, baseUrl: 'ftp://u:p@example.com' }, /`baseUrl`.*, not \[redacted\]\.$/],
    [
      'a base URL with query',
      { ...good, baseUrl: 'https://api.example.com/?a=1' },
      /`baseUrl` must be an origin and a path/,
    ],
    [
      'a base URL with user',
      { ...good, baseUrl: 'https://u:p@api.example.com' },
      /`baseUrl` must be an origin and a path.* Use "https:\/\/api\.example\.com\/"\.$/,
    ],
    ['http on another host', { ...good, baseUrl: 'http://api.example.com' }, /`allowInsecure: true`/],
    ['a header that no request can carry', { ...good, headers: { 'x y': '1' } }, /`headers`.*"x y"/],
    [
      'a base URL with what paths begin with',
      { ...good, baseUrl: 'https://api.example.com/api/v2/' },
      /Use "https:\/\/api\.example\.com"\./,
    ],
    ['no token', { baseUrl: good.baseUrl }, /`token` is missing.*AUDIENCE_TOKEN/],
    ['token and credentials', { ...good, credentials: { email: 'a@b.c', password: 'x' } }, /must not both be set/],
    ['an empty token', { ...good, token: '' }, /: `token` is empty\. Is AUDIENCE_TOKEN set\?$/],
    ['an empty token of MCP', { ...good, mcpToken: '' }, /: `mcpToken` is empty\. Is AUDIENCE_MCP_TOKEN set\?$/],
    ['a token with white space', { ...good, token: 'secret\ntoken' }, /`token` must be visible ASCII/],
    ['a negative timeout', { ...good, timeout: -1 }, /`timeout`/],
    ['a timeout that is not a number', { ...good, timeout: Number.NaN }, /`timeout`/],
    ['a negative number of retries', { ...good, maxRetries: -1 }, /`maxRetries`/],
    ['a negative back-off', { ...good, backoff: { min: -1 } }, /`backoff.min`/],
    ['a limit of 0', { ...good, rateLimits: { read: { limit: 0, interval: 1 } } }, /`rateLimits.read`/],
    ['an interval of 0', { ...good, rateLimits: { read: { limit: 1, interval: 0 } } }, /`rateLimits.read`/],
    ['a header of the client’s', { ...good, headers: { Accept: 'text/html' } }, /`headers` must not set Accept/],
  ];
  it.each(wrong)('%s is a ConfigurationError that names option and fix', (_, options, message) => {
    const error = refusalOf(options);
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(String(error)).toMatch(message);
    expect(inspect(error)).not.toContain('secret');
  });

  it('the token of the environment is not sent to another origin than AUDIENCE_BASE_URL', () => {
    const { baseUrl } = good;
    vi.stubEnv('AUDIENCE_TOKEN', 'secret-token');
    vi.stubEnv('AUDIENCE_BASE_URL', 'https://staging.example.com/prefix');
    const refused =
      '`token` is missing: the client sends AUDIENCE_TOKEN only to https://staging.example.com (AUDIENCE_BASE_URL), not to https://api.example.com.';
    expect(() => new AudienceClient({ baseUrl })).toThrow(refused);
    new AudienceClient(good);
    new AudienceClient({ baseUrl, mcpToken: 'token-2' });
    for (const own of [undefined, 'https://STAGING.example.com:443/other']) new AudienceClient({ baseUrl: own });
    vi.stubEnv('AUDIENCE_BASE_URL', '');
    new AudienceClient({ baseUrl });
  });

  it('a client that has an MCP token only does not send the token of another origin', async () => {
    vi.stubEnv('AUDIENCE_TOKEN', 'secret-token');
    vi.stubEnv('AUDIENCE_BASE_URL', 'https://staging.example.com');
    const server = await startServer([]);
    const client = new AudienceClient({ baseUrl: server.url, mcpToken: 'token-2' });
    await expect(client.webhooks.list()).rejects.toThrow('`token` is missing');
    expect(await server.seen()).toEqual([]);
  });

  it('`token` and `baseUrl` are reported together if both are missing', () => {
    for (const name of ['AUDIENCE_TOKEN', 'AUDIENCE_BASE_URL']) vi.stubEnv(name, '');
    expect(() => new AudienceClient()).toThrow(/^`token` and `baseUrl` are missing\./);
    vi.stubEnv('AUDIENCE_BASE_URL', good.baseUrl);
    expect(() => new AudienceClient()).toThrow(/^`token` is missing\./);
  });

  it.each(['apiKey', 'api_key', 'accessToken', 'bearer'])('`%s` is refused with the name `token`', (name) => {
    const message = `\`${name}\` is not an option of the client. Did you mean \`token\`?`;
    expect(() => new AudienceClient({ [name]: 'x' })).toThrow(message);
  });

  it('the error about an option that lacks the beginning of its name suggests the entire name', () => {
    const message = '`retries` is not an option of the client. Did you mean `maxRetries`?';
    expect(() => new AudienceClient({ ['retries' as string]: 3 })).toThrow(message);
  });

  it('the client refuses options that JavaScript callers get wrong, too', () => {
    const bucket: object = { rateLimits: { reed: { limit: 1, interval: 1 } } };
    const level: object = { logLevel: 'loud' };
    const source: object = { token: { fetch: () => 'x' } };
    const rest: [object, RegExp][] = [
      [{ baseURL: 'https://x' }, /`baseURL` is not an option of the client: it is spelled `baseUrl`/],
      [{ timout: 1 }, /`timout` is not an option of the client\./],
      [{ validation: 'Strict' }, /`validation` must be lenient or strict, not "Strict"\./],
      [{ fetch: 'x' }, /`fetch` must be a function, but is a string\./],
      [{ logger: {} }, /`logger`/],
      [{ requestIdHeader: 'x request' }, /`requestIdHeader` must be a header name, not "x request"\./],
      [{ fetchOptions: { headers: { a: 'b' } } }, /`fetchOptions` must not set .*headers/],
      [{ rateLimits: { read: null } }, /`rateLimits.read`/],
      [
        { operations: { 'audiences.create': { retry: 'Always' } } },
        /retry` must be one of idempotency-key, always, never/,
      ],
      [{ operations: { 'audiences.create': { bucket: 'reads' } } }, /bucket` must be one of/],
      [{ operations: { 'audiences.get': { path: 'audiences' } } }, /path` must start with .*, not "audiences"\./],
      [{ operations: { 'audiences.get': { method: 'FETCH' } } }, /method` must be one of GET/],
      [{ operations: { 'audiences.get': { data: 1 } } }, /data` must be a function, or a path such as "data.item"/],
      [{ limiter: { acquire: () => Promise.resolve() } }, /`limiter` must have acquire and pause/],
    ];
    for (const [options, message] of rest) expect(() => new AudienceClient({ ...good, ...options })).toThrow(message);
    expect(() => new AudienceClient({ ...good, ...bucket })).toThrow(/`rateLimits.reed` is not a rate bucket/);
    expect(() => new AudienceClient({ ...good, ...level })).toThrow(/`logLevel`/);
    expect(() => new AudienceClient({ ...good, ...source })).toThrow(/`token` must be/);
  });

  it('allow http on loopback, and elsewhere when asked', () => {
    for (const host of ['localhost', '127.0.0.1', '127.1.2.3', '[::1]']) {
      expect(() => new AudienceClient({ ...good, baseUrl: `http://${host}:1` })).not.toThrow();
    }
    const insecure = { ...good, baseUrl: 'http://api.example.com', allowInsecure: true };
    expect(() => new AudienceClient(insecure)).not.toThrow();
    expect(String(refusalOf({ ...good, baseUrl: 'http://127.0.0.1.evil.example' }))).toMatch(/allowInsecure/);
  });

  it('come from the environment when they are not set', async () => {
    const server = await startServer([{ data: [] }]);
    vi.stubEnv('AUDIENCE_BASE_URL', server.url);
    vi.stubEnv('AUDIENCE_TOKEN', 'from-env');
    await using client = new AudienceClient();
    await client.webhooks.list();
    expect((await server.seen())[0]?.headers.authorization).toBe('Bearer from-env');
  });
});

describe('a client', () => {
  it('has methods that work without their object', async () => {
    const server = await startServer([{ data: [wireAudience()] }]);
    const client = new AudienceClient({ ...good, baseUrl: server.url });
    const { get, wait } = client.audiences;
    const { request, withOptions, close } = client;
    expect([(await get(42)).id, (await wait(42)).id]).toEqual([42, 42]);
    expect(await request('GET', '/api/v2/audiences/42')).toMatchObject([{ id: 42 }]);
    expect(withOptions({ timeout: 9 })).toBeInstanceOf(AudienceClient);
    await close();
    expect(Object.keys(client.audiences)).toEqual([]);
  });

  it('has the version of the package', () => {
    expect(JSON.parse(readFileSync('package.json', 'utf8')).version).toBe(VERSION);
  });
});
