import { body, lacks, operation, type Rules, rule } from './rule.ts';

const BEARER = '/components/securitySchemes/bearerToken/description';
const MCP = '/components/securitySchemes/mcpToken/description';
const OAUTH = '/components/securitySchemes/oauth/description';
const INFO = '/info/description';
const MCP_401 = `${operation('POST /api/v2/mcp')}/responses/401`;
const REGISTER = operation('POST /oauth/register');
const REDIRECT_URIS = `${body('POST /oauth/register')}/properties/redirect_uris`;
const TOKEN = operation('POST /oauth/token');
const GRANT_TYPE = `${TOKEN}/requestBody/content/application~1x-www-form-urlencoded/schema/properties/grant_type`;
const TOKENS = `${TOKEN}/responses/200/content/application~1json/schema/properties`;
const OAUTH_ERROR = '/components/schemas/OAuthError';

/** Specification, "Authentication". */
export const AUTHENTICATION: Rules = {
  'Authentication: kinds of tokens': [
    rule(
      'A login token comes from `POST /api/v2/auth/login`',
      BEARER,
      /login token, from `POST \/api\/v2\/auth\/login`/,
    ),
    rule(
      'Login: one live token per account',
      BEARER,
      /one is live per account, because each login deletes the previous one/,
    ),
    rule(
      'Login: revoked by console logout and password change',
      BEARER,
      /a logout in the console and a change of password revoke it/,
    ),
    rule('Login: its lifetime is not shown', BEARER, /its lifetime is not specified/),
    rule(
      'An API token comes from `POST /api/v2/auth/api-token`',
      BEARER,
      /API token, from `POST \/api\/v2\/auth\/api-token`/,
    ),
    rule('API: named `api`, no scope', BEARER, /named `api`, without scopes/),
    rule(
      'API: valid on every general endpoint except MCP',
      BEARER,
      /on every general operation, but not on `POST \/api\/v2\/mcp`/,
    ),
    rule('API: 1 year (365 days)', BEARER, /valid for 365 days/),
    rule('API: not rotated by logins, survives logout', BEARER, /Logins do not rotate it, and it survives a logout/),
    rule(
      'API: revoked on password change, revocation or expiry',
      BEARER,
      /a change of password, a revocation or its expiry end it/,
    ),
    rule('API: at most 10 active per account', BEARER, /At most 10 are active per account/),
    rule('An MCP token comes from `POST /api/v2/auth/mcp-token`', MCP, /from `POST \/api\/v2\/auth\/mcp-token`/),
    rule('MCP: scope `mcp`', MCP, /of scope `mcp`/),
    rule('MCP: 1 year', MCP, /valid for a year/),
    rule('MCP: not rotated by logins, survives logout', MCP, /Logins do not rotate it, and it survives a logout/),
    rule('MCP: a password change revokes all', MCP, /a change of password revokes all/),
    rule('MCP: at most 10 active', MCP, /At most 10 are active/),
    rule('OAuth access token: 1 hour', OAUTH, /access token is valid for 1 hour/),
    rule('OAuth access token: revoked with its refresh token', OAUTH, /revoked with its refresh token/),
    rule('OAuth refresh token: 60 days', OAUTH, /refresh token for 60 days/),
    rule(
      'OAuth refresh token: rotates on each refresh',
      OAUTH,
      /Each refresh issues a new pair, and the old one is invalid/,
    ),
    rule('OAuth: scope `mcp`', '/components/securitySchemes/oauth/flows/authorizationCode/scopes', {
      mcp: 'Use the MCP endpoint. It is the only scope.',
    }),
    rule('The token response says the lifetime of the access token', `${TOKENS}/expires_in`, /3,600/),
    rule('and that of the refresh token', `${TOKENS}/refresh_token`, /60 days/),
  ],
  'Authentication: request rules': [
    rule('Send `Authorization: Bearer`', INFO, /needs `Authorization: Bearer <token>`/),
    rule('Send `Accept: application/json`', INFO, /every request `Accept: application\/json`/),
    rule(
      'A missing, invalid or expired token gives 401',
      '/components/responses/Unauthorized',
      /missing, invalid or expired/,
    ),
    rule(
      'A missing Accept gives 406',
      '/components/responses/NotAcceptable',
      /`Accept: application\/json` was not sent/,
    ),
    rule(
      'A change of password revokes every token',
      INFO,
      /Changing the password in the console revokes every token of the account: login, API and MCP tokens, and all OAuth connections/,
    ),
    rule(
      'Console logins and logouts never affect OAuth and MCP tokens',
      INFO,
      /Logins and logouts in the console never affect MCP tokens and OAuth connections/,
    ),
    rule(
      'The console manages tokens, and revokes single ones',
      INFO,
      /console also manages API and MCP tokens, and revokes single ones/,
    ),
    rule('The API revokes all or nothing', INFO, /the API revokes all of a kind/),
  ],
  'Authentication: OAuth 2.1': [
    rule('The MCP endpoint returns 401 with `WWW-Authenticate`', `${MCP_401}/headers/WWW-Authenticate`, {
      required: true,
    }),
    rule(
      'It points at the protected-resource metadata',
      `${MCP_401}/headers/WWW-Authenticate/description`,
      /points at the protected-resource metadata/,
    ),
    rule(
      'Only grant types `authorization_code` and `refresh_token`',
      `${body('POST /oauth/register')}/properties/grant_types/items/enum`,
      ['authorization_code', 'refresh_token'],
    ),
    rule('also of the token endpoint', `${GRANT_TYPE}/enum`, ['authorization_code', 'refresh_token']),
    rule('Only the scope `mcp`', `${REGISTER}/description`, /only the scope `mcp`/),
    rule(
      'Any other scope, also `*`, is `invalid_scope`',
      `${REGISTER}/responses/400/description`,
      /`invalid_scope` for any scope but `mcp`, also `\*`/,
    ),
    rule('`redirect_uris` are exact absolute `https` URIs', REDIRECT_URIS, /Exact absolute `https` URIs/),
    rule('on an approved host list', REDIRECT_URIS, /on an approved host/),
    rule('no wildcards, fragments or userinfo', REDIRECT_URIS, /without wildcards, fragments or userinfo/),
    rule(
      'Loopback hosts are exempt',
      REDIRECT_URIS,
      /Loopback hosts \(`localhost`, `127\.0\.0\.1`, `\[::1\]`\) need no approval/,
    ),
    rule('and may use `http` on any port', REDIRECT_URIS, /may use `http` on any port/),
    rule('the pattern refuses other `http` URIs', `${REDIRECT_URIS}/items`, { format: 'uri' }),
    rule(
      'PKCE is mandatory, also for confidential clients',
      OAUTH,
      /PKCE is mandatory for every authorization request, also from confidential clients/,
    ),
    rule('Only method `S256`', OAUTH, /`code_challenge_method=S256` is the only method/),
    rule(
      'A missing `code_challenge` or `plain` is rejected',
      `${operation('GET /oauth/authorize')}/description`,
      /a missing `code_challenge` or the method `plain` is refused/,
    ),
    rule(
      'A dead refresh token is a 400 `invalid_grant`',
      `${TOKEN}/responses/400/description`,
      /`invalid_grant` for a refresh token that was rotated out, revoked or has expired/,
    ),
    rule(
      'A static Authorization header never triggers the flow',
      `${MCP_401}/description`,
      /a client with a static `Authorization` header never triggers it/,
    ),
    rule('Errors have `error`', `${OAUTH_ERROR}/required`, ['error']),
    rule('and `error_description`', `${OAUTH_ERROR}/properties/error_description`, { type: 'string' }),
    rule('not the envelope', OAUTH_ERROR, lacks('"code"')),
    rule('by RFC 7591 and RFC 6749', `${OAUTH_ERROR}/description`, /RFC 6749, RFC 7591.*without the envelope/),
    rule('The errors named', '/components/schemas/KnownOAuthErrorCode/enum', ['invalid_grant', 'invalid_scope']),
  ],
};
