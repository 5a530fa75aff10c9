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
  ])('%s is taken', (uri) => {
    expect(create(uri)).toMatchObject({ redirectUri: uri });
  });

  it.each([
    ['/callback', 'must be absolute'],
    ['', 'must be absolute'],
    ['https://*.example.com/callback', 'must hold no wildcard'],
    ['https://app.example.com/callback#', 'must hold no fragment'],
    ['https://app.example.com/#callback', 'must hold no fragment'],
    ['https://ada@app.example.com/callback', 'must hold no userinfo'],
    ['https://@app.example.com/callback', 'must hold no userinfo'],
    ['http://app.example.com/callback', 'must be https; http is for this machine alone'],
    ['http://127.0.0.2/callback', 'must be https; http is for this machine alone'],
    ['app://callback', 'must be https'],
    ['https://APP.example.com/callback', 'must be exact, like https://app.example.com/callback'],
    ['https://app.example.com/a/../callback', 'must be exact, like https://app.example.com/callback'],
    ['https://app.example.com:443/callback', 'must be exact, like https://app.example.com/callback'],
  ])('%j is refused: it %s', (uri, rule) => {
    expect(() => create(uri)).toThrow(rule);
    expect(() => create(uri)).toThrow(expect.objectContaining({ name: 'ConfigurationError' }));
  });
});
