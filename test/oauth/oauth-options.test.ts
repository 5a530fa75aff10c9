import { describe, expect, it } from 'vitest';
import { memoryTokenStore } from '../../src/index.ts';
import { createOAuthClient } from '../../src/oauth/index.ts';

const create = (more: object): unknown =>
  createOAuthClient({
    baseUrl: 'https://api.example.com',
    redirectUri: 'http://127.0.0.1/',
    store: memoryTokenStore(),
    ...more,
  });

it.each([
  ['`clientname` is not an option of createOAuthClient: it is spelled `clientName`', '{"clientname":"x"}'],
  ['`clientName` must be a string', '{"clientName":7}'],
  ['`client` must contain the `client_id`', '{"client":{"client_secret":"s"}}'],
  ['`client` must contain the `client_id`', '{"client":{"client_id":""}}'],
  ['`allowedIssuers` must be an array', '{"allowedIssuers":"https://id.example.com"}'],
  ['`store` must be a token store', '{"store":{}}'],
  ['`resource` must be a path', '{"resource":"https://other.example.com/mcp"}'],
  ['`timeout` must be a number of 0 or more', '{"timeout":"soon"}'],
  ['`backoff.min` must be a number of 0 or more', '{"backoff":{"min":-1}}'],
  ['`logger` must have the methods', '{"logger":{}}'],
  ['`logLevel` must be off, error,', '{"logLevel":"loud"}'],
])('createOAuthClient throws a ConfigurationError: %s', (message, more) => {
  const make = (): unknown => create(JSON.parse(more));
  expect(make).toThrow(message);
  expect(make).toThrow(expect.objectContaining({ code: 'configuration-invalid' }));
});

describe('redirect URIs', () => {
  it.each([
    'https://app.example.com/callback',
    'https://app.example.com',
    'https://app.example.com:8443/callback?from=service',
    'http://localhost:5000/callback',
    'http://127.0.0.1/callback',
    'http://[::1]:1/',
    'https://127.0.0.1:8443/callback',
  ])('createOAuthClient accepts %s', (uri) => {
    expect(create({ redirectUri: uri })).toMatchObject({ redirectUri: uri });
  });

  it.each([
    ['/callback', 'must be an absolute URL'],
    ['', 'must be an absolute URL'],
    ['https://*.example.com/callback', 'must not contain a wildcard'],
    ['https://app.example.com/callback#', 'must not contain a fragment'],
    ['https://app.example.com/#callback', 'must not contain a fragment'],
    ['https://ada@app.example.com/callback', 'must not contain userinfo'],
    ['https://@app.example.com/callback', 'must not contain userinfo'],
    ['http://app.example.com/callback', 'must use https; only loopback hosts'],
    ['http://127.0.0.2/callback', 'must use https; only loopback hosts'],
    ['app://callback', 'must use https'],
    ['https://APP.example.com/callback', 'must be exact, like https://app.example.com/callback'],
    ['https://app.example.com/a/../callback', 'must be exact, like https://app.example.com/callback'],
    ['https://app.example.com:443/callback', 'must be exact, like https://app.example.com/callback'],
  ])('createOAuthClient refuses %j, which %s', (uri, rule) => {
    expect(() => create({ redirectUri: uri })).toThrow(rule);
    expect(() => create({ redirectUri: uri })).toThrow(expect.objectContaining({ name: 'ConfigurationError' }));
  });
});
