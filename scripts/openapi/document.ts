import { RATE_LIMITS } from '../../src/spec/limits.ts';
import { isOperationName, type Operation, type OperationName, operations } from '../../src/spec/operations.ts';
import { type AssumptionName, assumed, assumedOperation } from '../assumptions.ts';
import { componentSchemas } from './components.ts';
import { DocComments } from './doc-comments.ts';
import { ERRORS, errorOf, errorResponses, HEADERS, REQUEST_ID } from './error-responses.ts';
import { type Exchange, exchangeExamples } from './examples.ts';
import type { JsonSchema } from './json-schema.ts';
import { oauthPaths } from './oauth-paths.ts';
import { type OperationDetails, operationDetails } from './operation-details.ts';
import { PAGE, paginationOf, parametersOf } from './parameters.ts';
import { BUILD_BUDGET, INFO, OAUTH_DESCRIPTION, SECURITY_SCHEMES } from './service-info.ts';
import { DELIVERY_RULES, eventSchemas, SIGNATURE_HEADER, webhookItems } from './webhook-items.ts';
import { objectOf, only } from './wire-schemas.ts';

type Json = Readonly<Record<string, unknown>>;

const SECURITY = {
  none: [],
  general: [{ bearerToken: [] }],
  mcp: [{ mcpToken: [] }, { oauth: ['mcp'] }],
} as const;

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'Identifies the create for 24 hours: repeated with an identical body, it is safe, and the stored response is replayed. A different body, or a create that is still in flight, gets 409. Seven creates honour it.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
  example: '0b5ab5c4-4f2f-4d4f-9ad0-6f2c6a1f4a11',
  ...assumed('idempotencyKey'),
};

const components = (schemas: Json): Json => ({
  schemas,
  responses: ERRORS,
  headers: HEADERS,
  parameters: { IdempotencyKey: IDEMPOTENCY_KEY, Page: PAGE, SignatureHeader: SIGNATURE_HEADER },
  securitySchemes: SECURITY_SCHEMES,
});

/** Returns the OpenAPI document of the service. */
export async function buildDocument(): Promise<Json> {
  const comments = new DocComments(['src/index.ts', 'src/webhooks/index.ts']);
  const details = operationDetails();
  const examples = await exchangeExamples(details);
  const paths: Record<string, Record<string, Json>> = {};
  for (const name of Object.keys(operations).filter(isOperationName)) {
    const { path, method } = operations[name];
    const item = paths[path] ?? {};
    paths[path] = item;
    const other = item[method.toLowerCase()];
    // Two operations of the client may be one of the service.
    if (other) item[method.toLowerCase()] = { ...other, 'x-operations': [...namesOf(other), name] };
    else item[method.toLowerCase()] = operationOf(name, details.get(name), examples.get(name));
  }
  const schemas = { ...(await componentSchemas(comments, [...details.values()])), ...eventSchemas(comments) };
  return {
    openapi: '3.1.1',
    info: INFO,
    servers: [
      {
        url: '{baseUrl}',
        description: 'Address of the service.',
        variables: { baseUrl: { default: 'https://api.example.com' } },
      },
    ],
    tags: tagsOf([...details.keys()], comments),
    security: SECURITY.general,
    'x-rate-limits': Object.fromEntries(
      Object.entries(RATE_LIMITS).map(([bucket, { limit, interval }]) => [
        bucket,
        { limit, interval_seconds: interval / 1_000, per: ['login', 'mint'].includes(bucket) ? 'client IP' : 'token' },
      ]),
    ),
    'x-build-budget': BUILD_BUDGET,
    paths: { ...paths, ...oauthPaths() },
    webhooks: webhookItems(examples),
    components: components(schemas),
  };
}

const namesOf = (operation: Json): readonly unknown[] =>
  Array.isArray(operation['x-operations']) ? operation['x-operations'] : [operation.operationId];

/** Returns the groups of operations: the namespaces of the client, and OAuth. */
function tagsOf(names: readonly OperationName[], comments: DocComments): readonly Json[] {
  const namespaces = new Set(names.map((name) => name.split('.')[0] ?? ''));
  return [
    ...[...namespaces].map((name) => ({ name, ...comments.commentOf('AudienceClient', name), ...TAGS[name] })),
    { name: 'oauth', description: OAUTH_DESCRIPTION },
  ];
}

/** Descriptions of groups that have their own rules. */
const TAGS: Readonly<Record<string, { readonly description: string }>> = {
  webhooks: { description: `Webhook endpoints and deliveries. ${DELIVERY_RULES}` },
};

/** Assumptions about single operations, besides method and path. */
const ASSUMED: Readonly<Partial<Record<OperationName, readonly AssumptionName[]>>> = {
  'lookalikes.create': ['lookalikeReads'],
  'lookalikes.cancel': ['endedLookalike'],
};

function operationOf(name: OperationName, details: OperationDetails | undefined, example: Exchange | undefined): Json {
  const row: Operation = operations[name];
  if (!details || !example) throw new Error(`The example of ${name} in src/spec/operations.ts does not call it.`);
  const { summary, description } = details;
  const query = [...new URL(example.request.url).searchParams.keys()];
  const pagination = query.includes('per_page') ? paginationOf(name) : undefined;
  return {
    operationId: name,
    summary,
    description,
    tags: [name.split('.')[0]],
    ...(row.token !== 'general' && { security: SECURITY[row.token] }),
    'x-rate-limit-bucket': row.bucket,
    'x-retry': row.retry,
    ...(row.startsJob && { 'x-starts-job': true }),
    ...(pagination && { 'x-pagination': pagination }),
    ...(!row.documented && assumedOperation(...(ASSUMED[name] ?? []))),
    parameters: parametersOf(name, row, query),
    ...(details.body !== undefined && { requestBody: bodyOf(details.body, example.body, name === 'cohorts.create') }),
    responses: responsesOf(row, details, example.response),
  };
}

const bodyOf = (schema: string, example: unknown, takesFile: boolean): Json => {
  const $ref = `#/components/schemas/${schema}`;
  const file = { description: 'The file itself, instead of `upload_reference`.', type: 'string', format: 'binary' };
  const form = { allOf: [{ $ref }, { type: 'object', properties: { file } }], ...assumed('cohortBody') };
  return {
    required: true,
    content: {
      'application/json': { schema: { $ref }, example },
      ...(takesFile && { 'multipart/form-data': { schema: form } }),
    },
  };
};

function responsesOf({ reads, token }: Operation, { data, errors }: OperationDetails, example: unknown): Json {
  const isRpc = reads === 'json-rpc';
  const schema: JsonSchema = isRpc
    ? { anyOf: [RPC_MESSAGE, { type: 'array', items: RPC_MESSAGE }] }
    : objectOf({
        status: only('success'),
        code: only(200),
        message: { type: 'string' },
        data,
      });
  const statuses = [401, 406, 429, 500, ...errors].sort((a, b) => a - b);
  const response = { description: 'Success.', headers: REQUEST_ID };
  return {
    200: {
      ...response,
      ...(isRpc && { headers: { ...REQUEST_ID, ...STREAM_HEADERS } }),
      content: { 'application/json': { schema, example }, ...(isRpc && EVENT_STREAM) },
    },
    ...(isRpc && RPC_RESPONSES),
    ...errorResponses(statuses, token),
  };
}

const RPC_MESSAGE = { $ref: '#/components/schemas/JsonRpcMessage' };

const EVENT_STREAM = {
  'text/event-stream': { schema: { type: 'string', description: 'Events whose data are messages of JSON-RPC 2.0.' } },
};

const STREAM_HEADERS = {
  'Cache-Control': {
    description: '`no-cache` of event streams.',
    schema: { type: 'string' },
    ...assumed('mcpMessages'),
  },
  'X-Accel-Buffering': {
    description: '`no` of event streams, which proxies then pass on immediately.',
    schema: { type: 'string' },
    ...assumed('mcpMessages'),
  },
};

const RPC_RESPONSES = {
  202: { description: 'The notification or response was accepted.', headers: REQUEST_ID },
  400: errorOf('The message is malformed.', 'JsonRpcMessage', assumed('mcpMessages')),
  413: errorOf('The message is too large.', 'JsonRpcMessage', assumed('mcpMessages')),
  415: errorOf('The body is not `application/json`.', 'JsonRpcMessage', assumed('mcpMessages')),
};

/** Returns the text of the document's file. */
export const textOf = (document: Json): string => `${JSON.stringify(document, null, 2)}\n`;
