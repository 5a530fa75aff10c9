import { assumed } from '../assumptions.ts';
import { REQUEST_ID } from './error-responses.ts';
import type { JsonSchema } from './json-schema.ts';
import { objectOf, only } from './wire-schemas.ts';

type Json = Readonly<Record<string, unknown>>;

const text: JsonSchema = { type: 'string' };
const uri: JsonSchema = { type: 'string', format: 'uri' };
const texts: JsonSchema = { type: 'array', items: text };
const scope: JsonSchema = only('mcp');
const grantType: JsonSchema = { type: 'string', enum: ['authorization_code', 'refresh_token'] };
const grantTypes: JsonSchema = { type: 'array', items: grantType };
const redirectUris: JsonSchema = {
  description:
    'Exact absolute `https` URIs on an approved host, without wildcards, fragments or userinfo. Loopback hosts (`localhost`, `127.0.0.1`, `[::1]`) need no approval, and may use `http` on any port.',
  type: 'array',
  items: {
    type: 'string',
    format: 'uri',
    pattern: String.raw`^(https://[^*#@/?\s]+|http://(localhost|127\.0\.0\.1|\[::1\])(:\d+)?)([/?][^*#\s]*)?$`,
  },
  minItems: 1,
};

const HEADERS = { ...REQUEST_ID, 'Cache-Control': { $ref: '#/components/headers/NoStore' } };

const refused = (why: string): Json => ({
  description: why,
  headers: HEADERS,
  content: { 'application/json': { schema: { $ref: '#/components/schemas/OAuthError' } } },
});

const UNKNOWN_CLIENT = refused('The client is unknown, or its secret is wrong: `invalid_client`.');

const json = (description: string, schema: JsonSchema, example: unknown): Json => ({
  description,
  headers: HEADERS,
  content: { 'application/json': { schema, example } },
});

const operation = (operationId: string, summary: string, description: string, more: Json): Json => ({
  operationId,
  summary,
  description,
  tags: ['oauth'],
  security: [],
  ...assumed('oauthBodies'),
  ...more,
});

const query = (name: string, description: string, schema: JsonSchema, required = true): Json => ({
  name,
  in: 'query',
  description,
  required,
  schema,
});

const form = (schema: JsonSchema, example: unknown): Json => ({
  requestBody: { required: true, content: { 'application/x-www-form-urlencoded': { schema, example } } },
});

const CALLBACK = 'http://127.0.0.1:8976/callback';
const BASE = 'https://api.example.com';
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

const TOKENS = objectOf({
  access_token: { ...text, description: 'Bearer token of scope `mcp`, valid for 1 hour.' },
  token_type: only('Bearer'),
  expires_in: { type: 'integer', description: 'Seconds for which the access token is valid: 3,600.' },
  refresh_token: { ...text, description: 'Valid for 60 days, and for one refresh.' },
  scope,
});

/** Returns the paths of OAuth, which are outside of the versioned API and have no envelope. */
export const oauthPaths = (): Readonly<Record<string, Json>> => ({
  '/oauth/register': {
    post: operation(
      'oauth.register',
      'Register a client',
      'Dynamic client registration (RFC 7591). Clients may use only the grant types `authorization_code` and `refresh_token`, and only the scope `mcp`.',
      {
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: objectOf({ redirect_uris: redirectUris, client_name: text, grant_types: grantTypes, scope }, [
                'redirect_uris',
              ]),
              example: {
                redirect_uris: [CALLBACK],
                client_name: 'Agent',
                grant_types: ['authorization_code', 'refresh_token'],
                scope: 'mcp',
              },
            },
          },
        },
        responses: {
          201: json(
            'The client.',
            objectOf(
              {
                client_id: text,
                client_secret: text,
                client_name: text,
                redirect_uris: redirectUris,
                grant_types: grantTypes,
                scope,
              },
              ['client_id', 'redirect_uris'],
            ),
            { client_id: '<client id>', redirect_uris: [CALLBACK], scope: 'mcp' },
          ),
          400: refused(
            'The metadata are refused: `invalid_scope` for any scope but `mcp`, also `*`; `invalid_redirect_uri` or `invalid_client_metadata` for the rest.',
          ),
        },
      },
    ),
  },
  '/oauth/authorize': {
    get: operation(
      'oauth.authorize',
      'Ask for consent',
      'Authorization request: shows a consent screen for the session of the console that has logged in. PKCE is mandatory: a missing `code_challenge` or the method `plain` is refused.',
      {
        parameters: [
          query('response_type', 'Only `code`.', only('code')),
          query('client_id', 'Id of the registered client.', { ...text, examples: ['<client id>'] }),
          query('redirect_uri', 'One of the registered URIs.', uri),
          query('code_challenge', 'Challenge of PKCE (RFC 7636): a SHA-256 in base64url.', {
            type: 'string',
            pattern: '^[A-Za-z0-9_-]{43}$',
            examples: [CHALLENGE],
          }),
          query('code_challenge_method', 'Only `S256`.', only('S256')),
          query('scope', 'Only `mcp`.', scope, false),
          query('state', 'Returned unchanged.', text, false),
        ],
        responses: {
          200: {
            description: 'The consent screen, or a page to log in first.',
            headers: {
              ...HEADERS,
              'Content-Security-Policy': { description: 'Restricts what the page may load.', schema: text },
            },
            content: { 'text/html': { schema: text } },
          },
          303: {
            description: 'Redirects to the client: with `code`, or with `error` such as `invalid_scope`.',
            headers: {
              ...REQUEST_ID,
              Location: { description: 'Address of the client.', required: true, schema: uri },
            },
          },
          400: refused('The client is not registered, or the redirect URI is not one of it.'),
        },
      },
    ),
  },
  '/oauth/token': {
    post: operation(
      'oauth.token',
      'Exchange a code or a refresh token',
      'Exchanges an authorization code, or refreshes: each refresh rotates the refresh token, issues a new pair, and makes the old one invalid.',
      {
        ...form(
          objectOf(
            {
              grant_type: grantType,
              client_id: text,
              client_secret: text,
              code: text,
              code_verifier: text,
              redirect_uri: text,
              refresh_token: text,
              scope,
            },
            ['grant_type'],
          ),
          { grant_type: 'refresh_token', client_id: '<client id>', refresh_token: '<refresh token>' },
        ),
        responses: {
          200: json('The tokens.', TOKENS, {
            access_token: '<access token>',
            token_type: 'Bearer',
            expires_in: 3_600,
            refresh_token: '<refresh token>',
            scope: 'mcp',
          }),
          400: refused(
            'The request is refused: `invalid_grant` for a refresh token that was rotated out, revoked or has expired (discard the stored tokens and restart the authorization), and for a code that cannot be used.',
          ),
          401: UNKNOWN_CLIENT,
        },
      },
    ),
  },
  '/oauth/revoke': {
    post: operation('oauth.revoke', 'Revoke a token', 'Accepts an access or refresh token (RFC 7009).', {
      ...form(objectOf({ token: text, token_type_hint: text, client_id: text, client_secret: text }, ['token']), {
        token: '<refresh token>',
        client_id: '<client id>',
      }),
      responses: {
        200: { description: 'The token is not valid any more.', headers: REQUEST_ID },
        400: refused('The request is malformed.'),
        401: UNKNOWN_CLIENT,
      },
    }),
  },
  '/.well-known/oauth-protected-resource': {
    get: operation(
      'oauth.resource',
      'Metadata of the MCP endpoint',
      'Public JSON that names the authorization servers of the MCP endpoint (RFC 9728).',
      {
        responses: {
          200: json(
            'The metadata.',
            objectOf({ resource: uri, authorization_servers: { type: 'array', items: uri }, scopes_supported: texts }, [
              'resource',
            ]),
            { resource: `${BASE}/api/v2/mcp`, authorization_servers: [BASE], scopes_supported: ['mcp'] },
          ),
          404: { description: 'Not served.', headers: REQUEST_ID },
        },
      },
    ),
  },
  '/.well-known/oauth-authorization-server': {
    get: operation(
      'oauth.server',
      'Metadata of the authorization server',
      'Public JSON with the addresses, grant types and scopes of the authorization server (RFC 8414).',
      {
        responses: {
          200: json(
            'The metadata.',
            objectOf(
              {
                issuer: uri,
                authorization_endpoint: uri,
                token_endpoint: uri,
                registration_endpoint: uri,
                revocation_endpoint: uri,
                scopes_supported: texts,
                grant_types_supported: texts,
                code_challenge_methods_supported: texts,
              },
              ['issuer', 'authorization_endpoint', 'token_endpoint'],
            ),
            {
              issuer: BASE,
              authorization_endpoint: `${BASE}/oauth/authorize`,
              token_endpoint: `${BASE}/oauth/token`,
              grant_types_supported: ['authorization_code', 'refresh_token'],
              code_challenge_methods_supported: ['S256'],
            },
          ),
          404: { description: 'Not served.', headers: REQUEST_ID },
        },
      },
    ),
  },
});
