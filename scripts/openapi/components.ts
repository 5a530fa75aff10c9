import { globSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type * as z from 'zod/mini';
import type { ResourceSchema } from '../../src/schemas/common.ts';
import { LOOKALIKE_TARGET_SIZE } from '../../src/spec/limits.ts';
import type { DocComments } from './doc-comments.ts';
import { type JsonSchema, jsonSchemaOf } from './json-schema.ts';
import type { OperationDetails } from './operation-details.ts';

/** The parts of a schema that are assumed, because the specification does not show it. */
const ASSUMED: Readonly<Record<string, string>> = {
  AudienceCreate:
    'Names of the fields. The specification mentions filter values, `project_id` and the `start_date` of datasets.',
  ActivationCreate: 'Names of the fields, other than of those that the service refuses.',
  CohortCreate: 'All fields.',
  LookalikeCreate: 'All fields other than `config.target_size`.',
  ProjectCreate: 'All fields.',
  ScheduleCreate: 'All fields.',
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

/** Returns the schemas of the objects that operations exchange, by the names of the public types. */
export async function componentSchemas(
  comments: DocComments,
  details: readonly OperationDetails[],
): Promise<Readonly<Record<string, JsonSchema>>> {
  const exported = await exportedSchemas();
  const names = new Set([...details.map(({ resource }) => resource), ...details.map(({ body }) => body)]);
  const schemas = [...names]
    .filter((name) => name !== undefined && !(name in WIRE))
    .map((name = '') => {
      const assumed = ASSUMED[name];
      const schema = OTHERS[name] ?? exportedSchema(name, exported);
      const withBounds = name === 'LookalikeCreate' ? withTargetSize(schema) : schema;
      return [
        name,
        { ...comments.describe(name, withBounds), ...(assumed !== undefined && { 'x-assumed': assumed }) },
      ] as const;
    });
  return { ...Object.fromEntries(schemas), ...WIRE };
}

/** Returns what the files of schemas and resources export. */
async function exportedSchemas(): Promise<Readonly<Record<string, unknown>>> {
  const files = globSync('src/{schemas,resources}/*.ts');
  const modules: readonly object[] = await Promise.all(files.map((file) => import(pathToFileURL(file).href)));
  return Object.assign({}, ...modules);
}

/** Returns the JSON Schema of a type. Of `Tag`, it is that of `tagResource` or `tagSchema`. */
function exportedSchema(name: string, exported: Readonly<Record<string, unknown>>): JsonSchema {
  const camel = `${name.slice(0, 1).toLowerCase()}${name.slice(1)}`;
  // The suffixes stand for their types.
  const resource = exported[`${camel}Resource`] as ResourceSchema<unknown> | undefined;
  const schema = resource?.schema ?? (exported[`${camel}Schema`] as z.ZodMiniType | undefined);
  if (!schema) throw new Error(`src/schemas and src/resources export neither ${camel}Resource nor ${camel}Schema.`);
  return { ...jsonSchemaOf(schema, resource?.flags), ...(name !== 'Credentials' && { additionalProperties: true }) };
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
