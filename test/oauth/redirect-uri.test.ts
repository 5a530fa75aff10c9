import { describe, expect, it } from 'vitest';
import { memoryTokenStore } from '../../src/index.ts';
import { createOAuthClient } from '../../src/oauth/index.ts';

const create = (redirectUri: string): unknown =>
  createOAuthClient({ baseUrl: 'https://api.example.com', redirectUri, store: memoryTokenStore() });

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
    expect(create(uri)).toMatchObject({ redirectUri: uri });
  });

  it.each([
    ['/callback', 'must be absolute'],
    ['', 'must be absolute'],
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
    expect(() => create(uri)).toThrow(rule);
    expect(() => create(uri)).toThrow(expect.objectContaining({ name: 'ConfigurationError' }));
  });
});
