import {
  APPS_PAGE_SIZE,
  EARLIEST_USAGE_MONTH,
  RATE_LIMITS,
  REFERENCE_PAGE_CAP,
  RESOURCE_PAGE_CAP,
} from '../../src/spec/limits.ts';
import { isOperationName, type Operation, type OperationName, operations } from '../../src/spec/operations.ts';
import { componentSchemas, objectOf } from './components.ts';
import { DocComments } from './doc-comments.ts';
import { type Exchange, exchangeExamples } from './examples.ts';
import type { JsonSchema } from './json-schema.ts';
import { oauthPaths } from './oauth-paths.ts';
import { type OperationDetails, operationDetails } from './operation-details.ts';
import { webhookItems } from './webhook-items.ts';

type Json = Readonly<Record<string, unknown>>;

const INFO = {
  title: 'Audience Build and Activation Service API',
  version: '2',
  description: [
    'Builds audiences from datasets, grows lookalikes, imports cohorts, and activates audiences at delivery partners.',
    'Creates start worker jobs; their progress is observed by polling or by webhook events.',
    '',
    'This description is generated from the package `audience-activation`. `x-assumed` marks what the specification of the service does not show: it says what is assumed, or is `true`.',
    'Fields that are not described may occur in every object, and are accepted in every body.',
    'Every response to the API is an envelope of `status`, `code`, `message` and `data`; on 422 `errors`. Timestamps of resources are `Y-m-d H:i:s`; their time zone is assumed to be UTC.',
  ].join('\n'),
  license: { name: 'MIT', identifier: 'MIT' },
  contact: { name: 'audience-activation', url: 'https://www.npmjs.com/package/audience-activation' },
};

const SECURITY = {
  none: [],
  general: [{ bearerToken: [] }],
  mcp: [{ mcpToken: [] }, { oauth: ['mcp'] }],
} as const;

const RETRY_AFTER = { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } };
const REQUEST_ID = { 'x-request-id': { $ref: '#/components/headers/RequestId' } };

const errorOf = (description: string, schema: string, more: Json = {}): Json => ({
  description,
  headers: REQUEST_ID,
  content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } },
  ...more,
});

/** The error responses, by the name under which operations refer to them. */
const ERRORS: Readonly<Record<string, Json>> = {
  Unauthorized: errorOf('The token is missing, invalid or expired, or the credentials are wrong.', 'Unauthorized'),
  Forbidden: errorOf('The token lacks the scope `mcp` (`insufficient_scope`).', 'Error'),
  NotFound: errorOf('The id does not exist for the account.', 'Error'),
  NotAcceptable: errorOf('`Accept: application/json` was not sent.', 'Error'),
  Conflict: errorOf('The idempotency key was used with another body, or its create is in flight.', 'Error'),
  ValidationFailed: errorOf('The body or a parameter is invalid; `errors` says why.', 'ValidationError'),
  TooManyRequests: errorOf(
    'The rate limit or the build budget is exceeded. Nothing was created; repeat a create under the same idempotency key.',
    'Error',
    { headers: { ...RETRY_AFTER, ...REQUEST_ID } },
  ),
  ServerError: errorOf('The service failed. A create may have taken effect.', 'Error', {
    'x-assumed': 'The body of server errors.',
  }),
};

const NAMES_OF_ERRORS: Readonly<Record<number, string>> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  406: 'NotAcceptable',
  409: 'Conflict',
  422: 'ValidationFailed',
  429: 'TooManyRequests',
};

const components = (schemas: Json): Json => ({
  schemas,
  responses: ERRORS,
  headers: {
    RetryAfter: { description: 'Seconds to wait.', required: true, schema: { type: 'integer', minimum: 0 } },
    RequestId: { description: 'Id of the request.', schema: { type: 'string' }, 'x-assumed': 'The header itself.' },
  },
  parameters: {
    IdempotencyKey: {
      name: 'Idempotency-Key',
      in: 'header',
      description:
        'Identifies the create for 24 hours: repeated under the same key with an identical body, it takes effect once, and the stored response is replayed.',
      schema: { type: 'string', minLength: 1, maxLength: 255 },
      example: '0b5ab5c4-4f2f-4d4f-9ad0-6f2c6a1f4a11',
    },
    Page: {
      name: 'page',
      in: 'query',
      description: 'Number of the page.',
      schema: { type: 'integer', minimum: 1, default: 1 },
      'x-assumed': 'The parameter itself.',
    },
    SignatureHeader: {
      name: 'Service-Signature',
      in: 'header',
      required: true,
      description:
        '`t=<unix_seconds>,v1=<hex>[,v1=<hex>]`: each `v1` is the HMAC-SHA256 of `<t>.<raw body>` with the signing secret of the endpoint. Accept the delivery if any matches and `t` is at most 5 minutes away.',
      schema: { type: 'string', pattern: '^t=\\d+(,v1=[0-9a-f]{64})+$' },
    },
  },
  securitySchemes: {
    bearerToken: { type: 'http', scheme: 'bearer', description: 'A login token or an API token.' },
    mcpToken: { type: 'http', scheme: 'bearer', description: 'An MCP token.' },
    oauth: {
      type: 'oauth2',
      description: 'OAuth 2.1 with PKCE: `code_challenge_method=S256` is required of every client.',
      'x-pkce': 'S256',
      flows: {
        authorizationCode: {
          authorizationUrl: '/oauth/authorize',
          tokenUrl: '/oauth/token',
          refreshUrl: '/oauth/token',
          scopes: { mcp: 'Use the MCP endpoint.' },
        },
      },
    },
  },
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
  return {
    openapi: '3.1.1',
    info: INFO,
    servers: [
      {
        url: '{baseUrl}',
        description: 'The service.',
        variables: { baseUrl: { default: 'https://api.example.com', description: 'Address of the service.' } },
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
    paths: { ...paths, ...oauthPaths() },
    webhooks: webhookItems(comments, examples),
    components: components(await componentSchemas(comments, [...details.values()])),
  };
}

const namesOf = (operation: Json): readonly unknown[] =>
  Array.isArray(operation['x-operations']) ? operation['x-operations'] : [operation.operationId];

/** Returns the groups of operations: the namespaces of the client, and OAuth. */
function tagsOf(names: readonly OperationName[], comments: DocComments): readonly Json[] {
  const namespaces = new Set(names.map((name) => name.split('.')[0] ?? ''));
  return [
    ...[...namespaces].map((name) => ({ name, ...comments.commentOf('AudienceClient', name) })),
    { name: 'oauth', description: 'OAuth 2.1 for clients of the MCP endpoint.' },
  ];
}

function operationOf(name: OperationName, details: OperationDetails | undefined, example: Exchange | undefined): Json {
  const row: Operation = operations[name];
  if (!details || !example) throw new Error(`The example of ${name} in src/spec/operations.ts does not call it.`);
  const { summary, description } = details;
  const query = [...new URL(example.request.url).searchParams.keys()];
  const pages = query.includes('per_page') ? pagesOf(name) : undefined;
  return {
    operationId: name,
    summary,
    description: pages ? `${description} A page shorter than \`per_page\` is the last.` : description,
    tags: [name.split('.')[0]],
    ...(row.token !== 'general' && { security: SECURITY[row.token] }),
    'x-rate-limit-bucket': row.bucket,
    'x-retry': row.retry,
    ...(row.startsJob && { 'x-starts-job': true }),
    ...(pages && { 'x-pagination': { page: 'page', per_page: 'per_page', ...pages } }),
    ...(!row.documented && { 'x-assumed': 'Method and path.' }),
    parameters: parametersOf(name, row, query),
    ...(details.body !== undefined && { requestBody: bodyOf(details.body, example.body) }),
    responses: responsesOf(row, details, example.response),
  };
}

/** Default `per_page` of resource lists (specification, "Pagination"); the client always sends it. */
const LIST_PAGE_SIZE = 25;

/** Returns default and maximum `per_page` of a list. */
const pagesOf = (name: OperationName): { readonly size: number; readonly cap: number } =>
  name === 'reference.list'
    ? { size: REFERENCE_PAGE_CAP, cap: REFERENCE_PAGE_CAP }
    : { size: LIST_PAGE_SIZE, cap: RESOURCE_PAGE_CAP };

/** Returns the parameters of the path, and those of the query that the client has sent. */
function parametersOf(name: OperationName, row: Operation, query: readonly string[]): readonly Json[] {
  const inPath = [...row.path.matchAll(/\{(\w+)\}/g)].map(([, param = '']) => ({
    name: param,
    in: 'path',
    required: true,
    ...(PATH_PARAMETERS[param] ?? {}),
  }));
  return [
    ...inPath,
    ...(row.retry === 'idempotency-key' ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
    ...query.map((param) => {
      const parameter = QUERY_PARAMETERS[param];
      if (!parameter) throw new Error(`${name} sends ${param}: describe it in QUERY_PARAMETERS.`);
      return parameter(name);
    }),
  ];
}

const PATH_PARAMETERS: Readonly<Record<string, Json>> = {
  id: { description: 'Id of the resource.', schema: { type: 'integer', minimum: 1 } },
  dataset: { description: 'Group of tables.', schema: { type: 'string', enum: ['common', 'web', 'ctv', 'apps'] } },
  name: { description: 'Name of the table.', schema: { type: 'string', pattern: '^[\\w-]+$' }, example: 'domains' },
};

const QUERY_PARAMETERS: Readonly<Record<string, (name: OperationName) => Json>> = {
  page: () => ({ $ref: '#/components/parameters/Page' }),
  per_page: (name) => ({
    name: 'per_page',
    in: 'query',
    description: `Rows per page. The service reduces larger numbers to ${pagesOf(name).cap}${name === 'reference.list' ? `, except for \`apps\`, whose pages have ${APPS_PAGE_SIZE} rows by default` : ''}.`,
    schema: { type: 'integer', minimum: 1, default: pagesOf(name).size },
  }),
  yearmonth: () => ({
    name: 'yearmonth',
    in: 'query',
    description: `Month, from ${EARLIEST_USAGE_MONTH} to the current one.`,
    schema: { type: 'string', pattern: '^\\d{4}-(0[1-9]|1[0-2])$' },
    example: '2026-11',
    'x-assumed': 'The form `YYYY-MM`, and the current month by default.',
  }),
};

const bodyOf = (schema: string, example: unknown): Json => ({
  required: true,
  content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` }, example } },
});

function responsesOf({ reads }: Operation, { data, errors }: OperationDetails, example: unknown): Json {
  const isRpc = reads === 'json-rpc';
  const schema: JsonSchema = isRpc
    ? { anyOf: [RPC_MESSAGE, { type: 'array', items: RPC_MESSAGE }] }
    : objectOf({
        status: { type: 'string', const: 'success' },
        code: { type: 'integer', const: 200 },
        message: { type: 'string' },
        data,
      });
  const statuses = [401, 406, 429, ...errors].sort((a, b) => a - b);
  const response = { description: 'Success.', headers: REQUEST_ID };
  return {
    200: { ...response, content: { 'application/json': { schema, example }, ...(isRpc && EVENT_STREAM) } },
    ...(isRpc && { 202: { description: 'The notification or response was accepted.', headers: REQUEST_ID } }),
    ...(isRpc && { 400: errorOf('The message is malformed.', 'JsonRpcMessage') }),
    ...Object.fromEntries(
      statuses.map((status) => [status, { $ref: `#/components/responses/${NAMES_OF_ERRORS[status]}` }]),
    ),
    '5XX': { $ref: '#/components/responses/ServerError' },
  };
}

const RPC_MESSAGE = { $ref: '#/components/schemas/JsonRpcMessage' };

const EVENT_STREAM = {
  'text/event-stream': { schema: { type: 'string', description: 'Events whose data are messages of JSON-RPC 2.0.' } },
};

/** Returns the text of the document's file. */
export const textOf = (document: Json): string => `${JSON.stringify(document, null, 2)}\n`;
