import { describe, expect, it } from 'vitest';
import {
  isSecret,
  redactBody,
  redactHeader,
  redactText,
  redactUrl,
} from '../../../src/sandbox/console/redact-request.ts';
import { expectLinearTime } from '../../support/linear-time.ts';

const PARTNER = { credentials: { access_key: 'canary1', more: ['canary2', { note: 'canary3' }] } };

describe('names of credentials', () => {
  it.each([
    'password',
    'Pass-Phrase',
    'secret_access_key',
    'api_key',
    'apiKey',
    'X-Api-Key',
    'private_key',
    'private-key',
    'clientSecret',
    'credentials',
    'deliveryCredentials',
    'user[password]',
    'refresh_token',
    'code',
    'code_verifier',
    'signature',
    'cookie',
    'authorization',
    '%70assword',
    '\\u0070assword',
  ])('%s is one', (name) => {
    expect(isSecret(name)).toBe(true);
  });

  it.each([
    'name',
    'idempotency-key',
    'code_challenge',
    'token_endpoint',
    'token_type',
    'authorization_servers',
    'author',
    'www-authenticate',
    'access-control-allow-credentials',
    'is_cohort',
  ])('%s is none', (name) => {
    expect(isSecret(name)).toBe(false);
  });
});

describe('a string without its credentials', () => {
  it.each([
    JSON.stringify(PARTNER),
    JSON.stringify(PARTNER, null, 2),
    JSON.stringify(PARTNER).slice(0, -9),
    JSON.stringify({ body: JSON.stringify(PARTNER) }),
    JSON.stringify({ body: JSON.stringify(PARTNER) }).slice(0, -3),
    '{"api_key":"canary","private_key":"-----BEGIN KEY-----\\ncanary\\n","pin":12345,"n":"x"',
    '{"password":"a\\"canary","x":1,',
    '{"secret":{"a":"}","b":"canary"},"x":',
    'client_secret=canary&api%5Fkey=canary&user[password]=canary canary&x=1',
    'q=%7B%22password%22%3A%22canary%22%7D',
    '&quot;password&quot;:&quot;canary&quot;',
    'private_key: canary canary\nname: x',
    'a note with 12|canarycanarycanarycanary and whsec_canarycanarycanary',
    '--b\r\ncontent-disposition: form-data; name="private_key"\r\ncontent-type: text/plain\r\n\r\n-----BEGIN\r\ncanary\r\n--b--',
  ])('%s', (text) => {
    expect(redactBody(text)).not.toContain('canary');
  });

  it('keeps what is none', () => {
    const form = 'grant_type=refresh_token&redirect_uri=http%3A%2F%2Flocalhost&name=a b';
    expect(redactText(form)).toBe(form);
    const body = '{"status":"error","code":429,"message":"Too many requests.","data":[]}';
    expect(redactBody(body)).toBe(body);
    expect(redactBody(body.slice(0, -3))).toBe(body.slice(0, -3));
    expect(redactUrl('https://example.com/a?page=2&api_key=canary')).toBe('https://example.com/a?page=2&api_key=…');
  });

  it('headers keep the scheme and the id of a token', () => {
    expect(redactHeader('authorization', 'Bearer 3|canary')).toBe('Bearer 3|…');
    expect(redactHeader('private-key', 'canary')).toBe('…');
    expect(redactHeader('referer', 'http://localhost/?token=canary')).toBe('http://localhost/?token=…');
    expect(redactHeader('accept', 'application/json')).toBe('application/json');
  });

  it.each([
    ['a'],
    ['password '],
    ['name="x" '],
    ['name="x" ', 'content-disposition: x; '],
    ['content-disposition: x; name="password"\r\n'],
    ['password":{', '"'],
    ['25', 'q=%25'],
    ['\\'],
    ['\\', '"password":"'],
    ['"password":[{'],
    ['1|'],
  ])('takes time in proportion to its length for %j many times after %j', (part, before = '') =>
    expectLinearTime((size) => {
      const text = before + part.repeat(size / part.length);
      return () => redactText(text);
    }, 32_000),
  );
});
