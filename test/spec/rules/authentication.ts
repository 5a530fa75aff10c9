import { body, lacks, operation, type Rules, rule, says } from './rule.ts';

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
    ...says(BEARER, {
      'A login token comes from `POST /api/v2/auth/login`': /login token, from `POST \/api\/v2\/auth\/login`/,
      'An API token comes from `POST /api/v2/auth/api-token`': /API token, from `POST \/api\/v2\/auth\/api-token`/,
      'API: named `api`, no scope': /named `api`, without scopes/,
      'API: valid on every general endpoint except MCP': /on every general operation, but not on `POST \/api\/v2\/mcp`/,
      'API: 1 year (365 days)': /valid for 365 days/,
      'API: at most 10 active per account': /At most 10 are active per account/,
    }),
    ...says(MCP, {
      'An MCP token comes from `POST /api/v2/auth/mcp-token`': /from `POST \/api\/v2\/auth\/mcp-token`/,
      'MCP: scope `mcp`': /of scope `mcp`/,
      'MCP: 1 year': /valid for a year/,
      'MCP: at most 10 active': /At most 10 are active/,
    }),
    ...says(OAUTH, {
      'OAuth access token: 1 hour': /access token is valid for 1 hour/,
      'OAuth refresh token: 60 days': /refresh token for 60 days/,
    }),
    rule('OAuth: scope `mcp`', '/components/securitySchemes/oauth/flows/authorizationCode/scopes', {
      mcp: 'Use the MCP endpoint. It is the only scope.',
    }),
    rule('The token response says the lifetime of the access token', `${TOKENS}/expires_in`, /3,600/),
    rule('and that of the refresh token', `${TOKENS}/refresh_token`, /60 days/),
  ],
  'Authentication: request rules': [
    ...says(INFO, {
      'Send `Authorization: Bearer`': /needs `Authorization: Bearer <token>`/,
      'Send `Accept: application/json`': /every request `Accept: application\/json`/,
    }),
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
  ],
  'Authentication: OAuth 2.1': [
    rule('The MCP endpoint returns 401 with `WWW-Authenticate`', `${MCP_401}/headers/WWW-Authenticate`, {
      required: true,
    }),
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
    ...says(REDIRECT_URIS, {
      '`redirect_uris` are exact absolute `https` URIs': /Exact absolute `https` URIs/,
      'Loopback hosts are exempt': /Loopback hosts \(`localhost`, `127\.0\.0\.1`, `\[::1\]`\) need no approval/,
      'and may use `http` on any port': /may use `http` on any port/,
    }),
    rule('the pattern refuses other `http` URIs', `${REDIRECT_URIS}/items`, { format: 'uri' }),
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
