import { objectOf } from './components.ts';
import type { JsonSchema } from './json-schema.ts';

type Json = Readonly<Record<string, unknown>>;

const text: JsonSchema = { type: 'string' };
const texts: JsonSchema = { type: 'array', items: { type: 'string' } };
const uris: JsonSchema = { type: 'array', items: { type: 'string', format: 'uri' }, minItems: 1 };

const REFUSED = {
  description: 'The request is refused; `error` says why.',
  content: { 'application/json': { schema: { $ref: '#/components/schemas/OAuthError' } } },
};

const json = (description: string, schema: JsonSchema, example: unknown): Json => ({
  description,
  content: { 'application/json': { schema, example } },
});

const operation = (operationId: string, summary: string, description: string, more: Json): Json => ({
  operationId,
  summary,
  description,
  tags: ['oauth'],
  security: [],
  ...more,
});

const query = (name: string, description: string, schema: JsonSchema, required = true): Json => ({
  name,
  in: 'query',
  description,
  required,
  schema,
});

/** Bodies and responses are those of the RFCs: the specification shows no others. */
const BY_RFC = { 'x-assumed': 'Bodies and responses, by the RFC.' };

const form = (schema: JsonSchema, example: unknown): Json => ({
  requestBody: { required: true, content: { 'application/x-www-form-urlencoded': { schema, example } } },
});

const CALLBACK = 'http://127.0.0.1:8976/callback';
const BASE = 'https://api.example.com';

const TOKENS = objectOf({
  access_token: text,
  token_type: text,
  expires_in: { type: 'integer' },
  refresh_token: text,
  scope: text,
});

/** Returns the paths of OAuth, which are outside of the versioned API and have no envelope. */
export const oauthPaths = (): Readonly<Record<string, Json>> => ({
  '/oauth/register': {
    post: operation('oauth.register', 'Register a client', 'Dynamic client registration (RFC 7591).', {
      ...BY_RFC,
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: objectOf(
              { redirect_uris: uris, client_name: text, grant_types: texts, scope: { type: 'string', const: 'mcp' } },
              ['redirect_uris'],
            ),
            example: { redirect_uris: [CALLBACK], client_name: 'Agent', scope: 'mcp' },
          },
        },
      },
      responses: {
        201: json('The client.', objectOf({ client_id: text, redirect_uris: uris }), {
          client_id: '<client id>',
          redirect_uris: [CALLBACK],
        }),
        400: REFUSED,
      },
    }),
  },
  '/oauth/authorize': {
    get: operation('oauth.authorize', 'Ask for consent', 'Shows a consent screen for the session of the console.', {
      ...BY_RFC,
      parameters: [
        query('response_type', 'Only `code`.', { type: 'string', const: 'code' }),
        query('client_id', 'Id of the registered client.', { ...text, examples: ['<client id>'] }),
        query('redirect_uri', 'One of the registered URIs.', { type: 'string', format: 'uri' }),
        query('code_challenge', 'Challenge of PKCE (RFC 7636).', text),
        query('code_challenge_method', 'Only `S256`.', { type: 'string', const: 'S256' }),
        query('scope', 'Only `mcp`.', { type: 'string', const: 'mcp' }, false),
        query('state', 'Returned unchanged.', text, false),
      ],
      responses: {
        200: { description: 'The consent screen.', content: { 'text/html': { schema: text } } },
        '3XX': { description: 'Redirects to the client or to the login.' },
        400: REFUSED,
      },
    }),
  },
  '/oauth/token': {
    post: operation('oauth.token', 'Exchange a code or a refresh token', 'Refresh tokens rotate with each use.', {
      ...BY_RFC,
      ...form(
        objectOf(
          {
            grant_type: { type: 'string', enum: ['authorization_code', 'refresh_token'] },
            client_id: text,
            code: text,
            code_verifier: text,
            redirect_uri: text,
            refresh_token: text,
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
        400: REFUSED,
        401: REFUSED,
      },
    }),
  },
  '/oauth/revoke': {
    post: operation('oauth.revoke', 'Revoke a token', 'Accepts access and refresh tokens (RFC 7009).', {
      ...BY_RFC,
      ...form(objectOf({ token: text, token_type_hint: text, client_id: text }, ['token']), {
        token: '<refresh token>',
        client_id: '<client id>',
      }),
      responses: { 200: { description: 'The token is not valid any more.' }, 400: REFUSED, 401: REFUSED },
    }),
  },
  '/.well-known/oauth-protected-resource': {
    get: operation('oauth.resource', 'Metadata of the MCP endpoint', 'Names its authorization servers (RFC 9728).', {
      responses: {
        200: json('The metadata.', objectOf({ resource: text, authorization_servers: texts }, ['resource']), {
          resource: `${BASE}/api/v2/mcp`,
          authorization_servers: [BASE],
        }),
        '4XX': { description: 'Not served.' },
      },
    }),
  },
  '/.well-known/oauth-authorization-server': {
    get: operation(
      'oauth.server',
      'Metadata of the authorization server',
      'Its endpoints and grant types (RFC 8414).',
      {
        responses: {
          200: json('The metadata.', objectOf({ issuer: text, authorization_endpoint: text, token_endpoint: text }), {
            issuer: BASE,
            authorization_endpoint: `${BASE}/oauth/authorize`,
            token_endpoint: `${BASE}/oauth/token`,
          }),
          '4XX': { description: 'Not served.' },
        },
      },
    ),
  },
});
