import { assumed } from '../assumptions.ts';

type Json = Readonly<Record<string, unknown>>;

/** Headers that several responses have, by the name under which they refer to them. */
export const HEADERS: Readonly<Record<string, Json>> = {
  RetryAfter: { description: 'Seconds to wait.', required: true, schema: { type: 'integer', minimum: 0 } },
  RequestId: { description: 'Id of the request.', schema: { type: 'string' }, ...assumed('requestId') },
  WwwAuthenticate: {
    description:
      '`Bearer resource_metadata="<address>"`, which points at the protected-resource metadata, where the OAuth flow begins. An `error` may precede it.',
    required: true,
    schema: { type: 'string', pattern: '^Bearer .*resource_metadata="' },
  },
  NoStore: {
    description: '`no-store`: the response may contain secrets.',
    schema: { type: 'string' },
    ...assumed('oauthBodies'),
  },
};

const RETRY_AFTER = { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } };
const CHALLENGE = { 'WWW-Authenticate': { $ref: '#/components/headers/WwwAuthenticate' } };

/** The header of every response. */
export const REQUEST_ID = { 'x-request-id': { $ref: '#/components/headers/RequestId' } };

/** Returns an error response whose body is a component. */
export const errorOf = (description: string, schema: string, more: Json = {}): Json => ({
  description,
  ...more,
  headers: { ...Object(more.headers), ...REQUEST_ID },
  content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } },
});

/** The error responses, by the name under which operations refer to them. */
export const ERRORS: Readonly<Record<string, Json>> = {
  Unauthorized: errorOf(
    'The bearer token is missing, invalid or expired. Refresh the token and retry once.',
    'Unauthorized',
  ),
  WrongCredentials: errorOf(
    'No account has these credentials.',
    'Unauthorized',
    assumed('wrongCredentials', 'credentialExchange'),
  ),
  McpUnauthorized: errorOf(
    'The bearer token is missing, invalid or expired. `WWW-Authenticate` points at the metadata from which the OAuth flow begins; a client with a static `Authorization` header never triggers it.',
    'Unauthorized',
    { headers: CHALLENGE },
  ),
  Forbidden: errorOf(
    'The token lacks the scope `mcp`: the code is `insufficient_scope`. Tokens named `api` get it.',
    'InsufficientScope',
    { headers: CHALLENGE, ...assumed('insufficientScope') },
  ),
  NotFound: errorOf('The id does not exist for the account.', 'ErrorEnvelope'),
  NotAcceptable: errorOf('`Accept: application/json` was not sent.', 'ErrorEnvelope'),
  Conflict: errorOf(
    'The `Idempotency-Key` was used with a different body, or a create with it is still in flight. Use a fresh key for a new create.',
    'ErrorEnvelope',
    assumed('conflictMessage'),
  ),
  TooLarge: errorOf('The JSON body is too large.', 'ErrorEnvelope', assumed('jsonSize')),
  ValidationFailed: errorOf('The request fails validation; `errors` says why.', 'ValidationError'),
  TooManyRequests: errorOf(
    'The rate limit is exceeded, or the build budget of a create that starts a job: then nothing has been created. Wait for `Retry-After`; repeat a create under the same `Idempotency-Key`.',
    'ErrorEnvelope',
    { headers: RETRY_AFTER },
  ),
  ServerError: errorOf(
    'The service failed; any other status from 501 to 599 means the same. A create may have taken effect.',
    'ErrorEnvelope',
    assumed('serverErrors'),
  ),
};

const NAMES: Readonly<Record<number, string>> = {
  403: 'Forbidden',
  404: 'NotFound',
  406: 'NotAcceptable',
  409: 'Conflict',
  413: 'TooLarge',
  422: 'ValidationFailed',
  429: 'TooManyRequests',
  500: 'ServerError',
};

const UNAUTHORIZED = { none: 'WrongCredentials', general: 'Unauthorized', mcp: 'McpUnauthorized' } as const;

/** Returns the responses of an operation to `statuses`, of which 401 depends on the token that it needs. */
export const errorResponses = (statuses: readonly number[], token: keyof typeof UNAUTHORIZED): Json =>
  Object.fromEntries(
    statuses.map((status) => [
      status,
      { $ref: `#/components/responses/${status === 401 ? UNAUTHORIZED[token] : NAMES[status]}` },
    ]),
  );
