import { expect, it } from 'vitest';
import { memoryTokenStore } from '../../src/index.ts';
import { createOAuthClient } from '../../src/oauth/index.ts';

it.each([
  ['`clientname` is no option of createOAuthClient: it is spelled `clientName`', '{"clientname":"x"}'],
  ['`clientName` must be a text', '{"clientName":7}'],
  ['`client` needs the `client_id`', '{"client":{"client_secret":"s"}}'],
  ['`client` needs the `client_id`', '{"client":{"client_id":""}}'],
  ['`allowedIssuers` must be a list', '{"allowedIssuers":"https://id.example.com"}'],
  ['`store` is missing', '{"store":{}}'],
  ['`resource` must be a path', '{"resource":"https://other.example.com/mcp"}'],
])('says what is wrong at once: %s', (message, more) => {
  const given = { baseUrl: 'https://api.example.com', redirectUri: 'http://127.0.0.1/', store: memoryTokenStore() };
  const make = (): unknown => createOAuthClient({ ...given, ...JSON.parse(more) });
  expect(make).toThrow(message);
  expect(make).toThrow(expect.objectContaining({ code: 'configuration-invalid' }));
});
