import type * as z from 'zod/mini';
import { activationCreateSchema, activationResource } from '../../src/schemas/activation.ts';
import { audienceCreateSchema, audienceResource } from '../../src/schemas/audience.ts';
import { cohortCreateSchema, cohortResource } from '../../src/schemas/cohort.ts';
import type { ResourceSchema } from '../../src/schemas/common.ts';
import { credentialsSchema } from '../../src/schemas/credentials.ts';
import {
  estimateResource,
  lookalikeCreateSchema,
  openCreateSchema,
  projectResource,
  scheduleResource,
} from '../../src/schemas/open-resources.ts';
import { reservationResource, uploadRequestSchema } from '../../src/schemas/upload-reservation.ts';
import { usageResource } from '../../src/schemas/usage-report.ts';
import { webhookEndpointResource } from '../../src/schemas/webhook-endpoint.ts';
import { LOOKALIKE_TARGET_SIZE } from '../../src/spec/limits.ts';
import type { DocComments } from './doc-comments.ts';
import { type JsonSchema, jsonSchemaOf } from './json-schema.ts';

/** Schemas of responses, by the names of the public types. */
const RESOURCES: Readonly<Record<string, ResourceSchema<unknown>>> = {
  Audience: audienceResource,
  Activation: activationResource,
  Cohort: cohortResource,
  Estimate: estimateResource,
  Project: projectResource,
  Schedule: scheduleResource,
  UploadReservation: reservationResource,
  Usage: usageResource,
  WebhookEndpoint: webhookEndpointResource,
};

/** Schemas of the bodies of requests. */
const BODIES: Readonly<Record<string, z.ZodMiniType>> = {
  AudienceCreate: audienceCreateSchema,
  ActivationCreate: activationCreateSchema,
  CohortCreate: cohortCreateSchema,
  LookalikeCreate: lookalikeCreateSchema,
  OpenCreate: openCreateSchema,
  UploadRequest: uploadRequestSchema,
  Credentials: credentialsSchema,
};

/** The parts of a schema that are assumed, because the specification does not show it. */
const ASSUMED: Readonly<Record<string, string>> = {
  AudienceCreate:
    'Names of the fields. The specification mentions filter values, `project_id` and the `start_date` of datasets.',
  ActivationCreate: 'Names of the fields, other than of those that the service refuses.',
  CohortCreate: 'All fields.',
  LookalikeCreate: 'All fields other than `config.target_size`.',
  OpenCreate: 'All fields.',
  UploadRequest: 'The names of the fields, and that sizes are binary.',
  UploadReservation: 'All fields.',
  Estimate: 'The lifecycle of audiences.',
  Project: '`id`.',
  Schedule: '`id`.',
  Usage: 'The fields of `build_budget` other than `retry_after_seconds`.',
};

/** Objects that the client reads without a schema. */
const OTHERS: Readonly<Record<string, JsonSchema>> = {
  IssuedToken: objectOf({ token: { type: 'string' }, expires_at: { type: 'string', format: 'date-time' } }, ['token']),
  ExpiringToken: objectOf({ token: { type: 'string' }, expires_at: { type: 'string', format: 'date-time' } }),
  Revocation: objectOf({ revoked: { type: 'integer', minimum: 0 } }),
};

/** Schemas that no public type corresponds to. */
const WIRE: Readonly<Record<string, JsonSchema>> = {
  Error: {
    description: 'An error in the envelope. `code` mirrors the HTTP status.',
    ...objectOf({
      status: { type: 'string', const: 'error' },
      code: { type: 'integer' },
      message: { type: 'string', description: 'Human-readable text; log it, but branch on `status` and `code`.' },
      data: { type: ['object', 'array'], additionalProperties: true, items: {} },
    }),
    required: ['status', 'code', 'message'],
    'x-assumed': 'That errors other than 422 also have the envelope.',
  },
  ValidationError: {
    description: 'A 422. `errors` maps each invalid field to its messages.',
    ...objectOf({
      status: { type: 'string', const: 'error' },
      code: { type: 'integer', const: 422 },
      message: { type: 'string' },
      data: { type: 'array', maxItems: 0, items: {} },
      errors: { type: 'object', additionalProperties: { type: 'array', items: { type: 'string' } } },
    }),
  },
  Unauthorized: {
    description: 'A 401, which may consist of `message` only.',
    ...objectOf({ message: { type: 'string' } }),
  },
  OAuthError: {
    description: 'An error of an OAuth endpoint (RFC 6749, RFC 7591), without the envelope.',
    ...objectOf({ error: { type: 'string' }, error_description: { type: 'string' } }, ['error']),
  },
  JsonRpcMessage: {
    description: 'A message of JSON-RPC 2.0: a request, a notification or a response.',
    ...objectOf(
      {
        jsonrpc: { type: 'string', const: '2.0' },
        id: { type: ['string', 'integer', 'null'] },
        method: { type: 'string', minLength: 1 },
        params: { type: ['object', 'array'], additionalProperties: true, items: {} },
        result: {},
        error: objectOf({ code: { type: 'integer' }, message: { type: 'string' } }),
      },
      ['jsonrpc'],
    ),
  },
};

/** Returns an object schema; unknown fields pass. */
export function objectOf(properties: Readonly<Record<string, JsonSchema>>, required?: readonly string[]): JsonSchema {
  return { type: 'object', properties, required: required ?? Object.keys(properties) };
}

/** Returns the schemas of all objects. */
export function componentSchemas(comments: DocComments): Readonly<Record<string, JsonSchema>> {
  const open = { additionalProperties: true };
  const described: Record<string, JsonSchema> = { ...OTHERS };
  for (const [name, { schema, flags }] of Object.entries(RESOURCES)) {
    described[name] = { ...jsonSchemaOf(schema, flags), ...open };
  }
  for (const [name, schema] of Object.entries(BODIES)) {
    described[name] = { ...jsonSchemaOf(schema), ...(name !== 'Credentials' && open) };
  }
  const schemas = Object.entries(described).map(([name, schema]) => {
    const assumed = ASSUMED[name];
    const withBounds = name === 'LookalikeCreate' ? withTargetSize(schema) : schema;
    return [
      name,
      { ...comments.describe(name, withBounds), ...(assumed !== undefined && { 'x-assumed': assumed }) },
    ] as const;
  });
  return { ...Object.fromEntries(schemas), ...WIRE };
}

/** Adds the bounds of `config.target_size` (specification, "Rules known for creates", rule 5). */
function withTargetSize(schema: JsonSchema): JsonSchema {
  const { config = {} } = schema.properties ?? {};
  const { min: minimum, max: maximum } = LOOKALIKE_TARGET_SIZE;
  const target_size = { ...config.properties?.target_size, minimum, maximum };
  return {
    ...schema,
    properties: { ...schema.properties, config: { ...config, properties: { ...config.properties, target_size } } },
  };
}
