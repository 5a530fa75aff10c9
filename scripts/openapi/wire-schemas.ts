import { assumed } from '../assumptions.ts';
import type { JsonSchema } from './json-schema.ts';

/** Returns a schema of an object, whose properties are required unless `required` says which are. */
export function objectOf(
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[] = Object.keys(properties),
): JsonSchema {
  return { type: 'object', properties, required };
}

/** Returns a schema of one value. As an enumeration, because generators read it that do not know `const`. */
export const only = (value: string | number, description?: string): JsonSchema => ({
  type: typeof value === 'string' ? 'string' : 'integer',
  enum: [value],
  ...(description !== undefined && { description }),
});

const text: JsonSchema = { type: 'string' };
const HTTP_STATUS = 'The HTTP status.';
const errorFields = {
  status: only('error', 'The outcome of the request.'),
  code: { type: 'integer', description: HTTP_STATUS },
  message: { type: 'string', description: 'Text for people: log it, but branch on `status` and `code`.' },
  data: { description: 'The payload, if there is one.' },
} as const;
const requiredErrorFields = ['status', 'code', 'message'];

/** Objects that the client reads without a schema. */
export const UNCHECKED: Readonly<Record<string, JsonSchema>> = {
  IssuedToken: objectOf({ token: text }),
  ExpiringToken: objectOf({ token: text, expires_at: { type: 'string', format: 'date-time' } }),
  Revocation: objectOf({ revoked: { type: 'integer', minimum: 0 } }),
};

/** Schemas that no public type corresponds to. */
export const WIRE: Readonly<Record<string, JsonSchema>> = {
  ErrorEnvelope: {
    description: 'An error in the envelope.',
    ...objectOf(errorFields, requiredErrorFields),
    ...assumed('errorEnvelope'),
  },
  ValidationError: {
    description: 'A 422. `errors` maps each invalid field to its messages.',
    ...objectOf({
      ...errorFields,
      code: only(422, HTTP_STATUS),
      data: { type: 'array', maxItems: 0, items: {}, description: 'Empty.' },
      errors: {
        type: 'object',
        description: 'The messages about each invalid field, by its name.',
        additionalProperties: { type: 'array', items: text },
      },
    }),
  },
  Unauthorized: {
    description: 'A 401, which may consist of `message` only.',
    ...objectOf({ ...errorFields, code: only(401, HTTP_STATUS) }, ['message']),
  },
  InsufficientScope: {
    description: 'A 403: the token lacks a scope.',
    ...objectOf({ ...errorFields, error: only('insufficient_scope', 'Code of the refusal.') }, [
      ...requiredErrorFields,
      'error',
    ]),
    ...assumed('insufficientScope'),
  },
  OAuthError: {
    description: 'An error of an OAuth endpoint (RFC 6749, RFC 7591), without the envelope.',
    ...objectOf(
      {
        error: { $ref: '#/components/schemas/OAuthErrorCode' },
        error_description: { ...text, description: 'Text for developers.' },
      },
      ['error'],
    ),
  },
  OAuthErrorCode: {
    description:
      'Code of an OAuth error. `invalid_grant`: the refresh token was rotated out, revoked or has expired; discard stored tokens and restart the authorization. `invalid_scope`: a scope other than `mcp`, also `*`.',
    anyOf: [{ $ref: '#/components/schemas/KnownOAuthErrorCode' }, text],
    ...assumed('oauthBodies'),
  },
  KnownOAuthErrorCode: {
    description: 'The codes that the specification names.',
    type: 'string',
    enum: ['invalid_grant', 'invalid_scope'],
  },
  JsonRpcMessage: {
    description: 'A message of JSON-RPC 2.0: a request, a notification or a response.',
    ...objectOf(
      {
        jsonrpc: only('2.0', 'Version of JSON-RPC.'),
        id: {
          type: ['string', 'integer', 'null'],
          description: 'Id of the request, also in its response. A notification has none.',
        },
        method: { type: 'string', minLength: 1, description: 'Method of MCP, such as `tools/list`.' },
        params: {
          type: ['object', 'array'],
          additionalProperties: true,
          items: {},
          description: 'Parameters of the method.',
        },
        result: { description: 'Result of the method, in a response.' },
        error: {
          ...objectOf({
            code: { type: 'integer', description: 'Code of the error, such as -32601 for an unknown method.' },
            message: { ...text, description: 'Text for developers.' },
          }),
          description: 'Why the method failed, in a response.',
        },
      },
      ['jsonrpc'],
    ),
    ...assumed('mcpMessages'),
  },
};
