import { expect, it } from 'vitest';
import { memoryTokenStore } from '../../src/index.ts';
import { createOAuthClient } from '../../src/oauth/index.ts';

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
  const valid = { baseUrl: 'https://api.example.com', redirectUri: 'http://127.0.0.1/', store: memoryTokenStore() };
  const make = (): unknown => createOAuthClient({ ...valid, ...JSON.parse(more) });
  expect(make).toThrow(message);
  expect(make).toThrow(expect.objectContaining({ code: 'configuration-invalid' }));
});
