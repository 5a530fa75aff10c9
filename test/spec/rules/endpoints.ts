import { body, contains, data, field, fields, isOfType, lacks, operation, type Rules, rule, says } from './rule.ts';

const LOGIN = 'POST /api/v2/auth/login';
const API_TOKEN = 'POST /api/v2/auth/api-token';
const MCP_TOKEN = 'POST /api/v2/auth/mcp-token';
const CREDENTIALS_ENDPOINTS = [LOGIN, API_TOKEN, `${API_TOKEN}/revoke`, MCP_TOKEN, `${MCP_TOKEN}/revoke`];
const WEBHOOKS = 'GET /api/v2/webhooks/index';
const USAGE = 'GET /api/v2/usage';
const MCP = 'POST /api/v2/mcp';
const RESERVE = 'POST /api/v2/uploads/create';
const INFO = '/info/description';
const KEY = '/components/parameters/IdempotencyKey';
const YEARMONTH = `${operation(USAGE)}/parameters/0`;

const description = (request: string): string => `${operation(request)}/description`;
const exampleMessage = (request: string): string =>
  `${operation(request)}/responses/200/content/application~1json/example/message`;
const response = (request: string, status: number): string => `${operation(request)}/responses/${status}`;

/** Specification, "Endpoints". */
export const ENDPOINTS: Rules = {
  Endpoints: [
    ...says(INFO, {
      'All require `Accept: application/json`': /every request `Accept: application\/json`/,
      'All but the credential exchange require a bearer token':
        /other than of the credential exchange needs `Authorization: Bearer/,
      'Bodies of POST are JSON': /Bodies of POST are `application\/json`/,
      'or `multipart/form-data` for file uploads': /or `multipart\/form-data` for file uploads/,
    }),
  ],
  'Credential exchange': [
    ...CREDENTIALS_ENDPOINTS.flatMap((request) => [
      rule(`${request} takes the credentials`, body(request), { required: ['email', 'password'] }),
      rule(`${request} needs no token`, operation(request), { security: [] }),
      rule(`${request} succeeds with 200`, response(request, 200), { description: 'Success.' }),
      rule(
        `${request} has the envelope of errors`,
        `${response(request, 401)}/content/application~1json/schema`,
        /message/,
      ),
    ]),
    ...[LOGIN, API_TOKEN, MCP_TOKEN].map((request) =>
      rule(`the message of ${request} is that a token was generated`, exampleMessage(request), /token generated/i),
    ),
    ...[`${API_TOKEN}/revoke`, `${MCP_TOKEN}/revoke`].map((request) =>
      rule(`the message of ${request} is that tokens were revoked`, exampleMessage(request), /tokens revoked/),
    ),
    ...fields('Credentials', { email: 'string', password: 'string' }),
    rule('`email` is a valid email address', field('Credentials', 'email'), { format: 'email' }),
    ...says(data(LOGIN), {
      'login returns `{ token }`': { properties: { token: { type: 'string' } } },
      'a login token has no `expires_at`': lacks('expires_at'),
    }),
    rule('api-token returns `{ token, expires_at }`', `${data(API_TOKEN)}/required`, ['token', 'expires_at']),
    rule('mcp-token returns `{ token, expires_at }`', `${data(MCP_TOKEN)}/required`, ['token', 'expires_at']),
    rule('`expires_at` is ISO 8601 with offset', field('ExpiringToken', 'expires_at'), {
      format: 'date-time',
      description: 'Expiry in ISO 8601 with offset.',
    }),
    ...says(description(MCP_TOKEN), {
      'mcp-token issues a token with scope `mcp`': /with the scope `mcp`/,
      'mcp-token: 422 when 10 are active': /10 active MCP tokens, the service returns 422/,
    }),
    rule('mcp-token describes 422', response(MCP_TOKEN, 422), /ValidationError/),
    ...says(description(API_TOKEN), {
      'api-token issues a token named `api` with no scopes': /name is `api`, and it has no scopes/,
      'api-token: 422 when 10 are active': /10 active API tokens, the service returns 422/,
    }),
    rule('api-token describes 422', response(API_TOKEN, 422), /ValidationError/),
    rule('revoke returns `{ revoked }`', `${data(`${API_TOKEN}/revoke`)}/properties/revoked`, { type: 'integer' }),
    rule('revoke of MCP tokens returns `{ revoked }`', `${data(`${MCP_TOKEN}/revoke`)}/properties/revoked`, {
      type: 'integer',
    }),
    rule('wrong credentials: not shown', `${response(LOGIN, 401)}/x-assumed`, /wrong credentials/),
  ],
  Webhooks: [
    ...says(operation(WEBHOOKS), {
      'GET /api/v2/webhooks/index has no parameters': { parameters: [] },
      'it counts in the read bucket': { 'x-rate-limit-bucket': 'read' },
      'it is shown: not assumed': lacks('"x-assumed":"Method'),
    }),
    rule('`data` is an array of endpoints', data(WEBHOOKS), { type: 'array' }),
    rule('of webhook endpoint objects', `${data(WEBHOOKS)}/items/required`, contains('last_delivery_at')),
  ],
  OAuth: [
    rule('POST /oauth/register is dynamic client registration', description('POST /oauth/register'), /RFC 7591/),
    rule('its body includes `redirect_uris`', `${body('POST /oauth/register')}/required`, ['redirect_uris']),
    rule('its body includes grant types', `${body('POST /oauth/register')}/properties/grant_types`, { type: 'array' }),
    rule('its body includes the scope', `${body('POST /oauth/register')}/properties/scope`, { enum: ['mcp'] }),
    rule('it requires `code_challenge`', `${operation('GET /oauth/authorize')}/parameters/3`, {
      name: 'code_challenge',
      required: true,
    }),
    rule('it requires `code_challenge_method=S256`', `${operation('GET /oauth/authorize')}/parameters/4`, {
      name: 'code_challenge_method',
      required: true,
      schema: { enum: ['S256'] },
    }),
    rule('POST /oauth/revoke is token revocation', description('POST /oauth/revoke'), /RFC 7009/),
    rule('Protected resource metadata', description('GET /.well-known/oauth-protected-resource'), /RFC 9728/),
    rule('is public', operation('GET /.well-known/oauth-protected-resource'), { security: [] }),
    rule('Authorization server metadata', description('GET /.well-known/oauth-authorization-server'), /RFC 8414/),
    rule('is public', operation('GET /.well-known/oauth-authorization-server'), { security: [] }),
  ],
  'Other operations referred to': [
    ...says(operation(MCP), {
      'POST /api/v2/mcp requires the scope `mcp`': {
        security: [{ mcpToken: [] }, { oauth: ['mcp'] }],
      },
      'it counts in the MCP bucket': { 'x-rate-limit-bucket': 'mcp' },
    }),
    rule('Tokens named `api` get 403', response(MCP, 403), /Tokens named `api` get it/),
    rule('with `insufficient_scope`', `${response(MCP, 403)}/content/application~1json/schema/properties/error`, {
      enum: ['insufficient_scope'],
    }),
    ...says(YEARMONTH, {
      'GET /api/v2/usage takes `yearmonth`': { name: 'yearmonth', in: 'query' },
      'the earliest is 2020-01': /from 2020-01/,
    }),
    rule('its format is not shown', `${YEARMONTH}/x-assumed`, /YYYY-MM/),
    rule('rejection is described', response(USAGE, 422), /ValidationError/),
    rule('it has `build_budget`', `${data(USAGE)}/required`, contains('build_budget')),
    rule('with hour and day limits', field('Usage', 'build_budget.hour.limit'), isOfType('number')),
    rule('`Idempotency-Key` is a request header', KEY, { in: 'header', name: 'Idempotency-Key' }),
    ...says(`${KEY}/description`, {
      'The stored response is replayed for 24 hours': /for 24 hours.*stored response is replayed/,
      'A different body returns 409': /A different body.*gets 409/,
      'A create in flight returns 409': /still in flight, gets 409/,
    }),
    rule(
      'An upload is claimed by a create within 15 minutes',
      description(RESERVE),
      /Within 15 minutes, .*claim its reference with a create request/,
    ),
    rule('Upload kinds named', field('KnownUploadKind'), { enum: ['cohort', 'poi_submission'] }),
  ],
  'Rules known for creates': [
    ...says(description('POST /api/v2/audiences/create'), {
      'Audience: an unknown filter value is a 422':
        /returns 422 for a filter value or a `project_id` that does not exist/,
      'A `WebDomain` dataset has a 45-day window':
        /returns 422 .*`WebDomain` dataset that begins before the 45-day window/,
    }),
    rule('Audience: 422 is described', response('POST /api/v2/audiences/create', 422), /ValidationError/),
    ...says(description('POST /api/v2/activations/create'), {
      'Activation: 422 below 500 unique devices': /at least 500 unique devices.*returns 422 for a smaller audience/,
      'Activation: and 422 says so': /returns 422 .*`partner_id`, `partner_name` or `pricing_model`/,
      'A MAID or IP pricing model on an expired audience is a 422':
        /returns 422 .*MAID or IP pricing model if the audience has expired/,
    }),
    rule(
      'Activation: `partner_id`, `partner_name`, `pricing_model` are refused',
      `${field('ActivationCreate')}/propertyNames/not/enum`,
      ['partner_id', 'partner_name', 'pricing_model'],
    ),
    rule(
      'The field of the start says it, too',
      field('AudienceCreate', 'dataset[].start_date'),
      /422 if the day is more than 45 days ago/,
    ),
    rule('`config.target_size` is from 1 to 4,000,000', field('LookalikeCreate', 'config.target_size'), {
      type: 'integer',
      minimum: 1,
      maximum: 4_000_000,
    }),
    rule(
      'The seed holds at least 1,000 devices',
      description('POST /api/v2/lookalikes/create'),
      /at least 1,000 devices/,
    ),
  ],
};
