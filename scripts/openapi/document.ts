import { RATE_LIMITS } from '../../src/spec/limits.ts';
import { isOperationName, type Operation, type OperationName, operations } from '../../src/spec/operations.ts';
import { withAssumptions } from '../assumptions.ts';
import { DocComments } from './doc-comments.ts';
import { type Exchange, exchangeExamples } from './examples.ts';
import { type OperationDetails, operationDetails } from './operation-details.ts';
import { componentSchemas } from './schemas.ts';
import { type Json, refTo, service } from './service.ts';
import { eventSchemas, webhookItems } from './webhooks.ts';

/** Returns the OpenAPI document of the service. */
export async function buildDocument(): Promise<unknown> {
  const comments = new DocComments(['src/index.ts', 'src/webhooks/index.ts']);
  const details = operationDetails();
  const examples = await exchangeExamples(details);
  const paths: Record<string, Record<string, Json>> = {};
  for (const name of Object.keys(operations).filter(isOperationName)) {
    const { path, method } = operations[name];
    const item = paths[path] ?? {};
    paths[path] = item;
    const other = item[method.toLowerCase()];
    // Two operations of the client may be one operation of the service.
    const also = [other?.['x-operations'] ?? other?.operationId, name].flat();
    item[method.toLowerCase()] = other
      ? { ...other, 'x-operations': also }
      : operationOf(name, details.get(name), examples.get(name));
  }
  const namespaces = new Set([...details.keys()].map((name) => name.split('.')[0] ?? ''));
  const tags = [...namespaces].map((name) => ({ name, ...comments.commentOf('AudienceClient', name) }));
  const rateLimits = Object.entries(RATE_LIMITS).map(([bucket, { limit, interval }]) => {
    const per = ['login', 'mint'].includes(bucket) ? 'client IP' : 'token';
    return [bucket, { limit, interval_seconds: interval / 1_000, per }];
  });
  return withAssumptions({
    openapi: '3.1.1',
    info: service.info,
    servers: service.servers,
    // `service.yaml` describes the tags that have rules of their own.
    tags: [...tags.map((tag) => service.tags.find(({ name }) => name === tag.name) ?? tag), service.tags.at(-1)],
    security: SECURITY.general,
    'x-rate-limits': Object.fromEntries(rateLimits),
    'x-build-budget': service['x-build-budget'],
    paths: { ...paths, ...service.paths },
    webhooks: webhookItems(examples),
    components: {
      ...service.components,
      schemas: { ...(await componentSchemas(comments, [...details.values()])), ...eventSchemas(comments) },
    },
  });
}

const SECURITY = {
  none: [],
  general: [{ bearerToken: [] }],
  mcp: [{ mcpToken: [] }, { oauth: ['mcp'] }],
} as const;

function operationOf(name: OperationName, details: OperationDetails | undefined, example: Exchange | undefined): Json {
  const row: Operation = operations[name];
  if (!details || !example) throw new Error(`The example of ${name} in src/spec/operations.ts does not call it.`);
  const { summary, description, body } = details;
  const query = [...new URL(example.request.url).searchParams.keys()];
  const pagination = query.includes('per_page') && (service.pagination[name] ?? service.pagination.lists);
  const inPath = [...row.path.matchAll(/\{(\w+)\}/g)].map(([, param = '']) => param);
  const parameter = (param: string): Json => {
    const found = service.parameters[`${name} ${param}`] ?? service.parameters[param];
    if (!found)
      throw new Error(`${name} sends ${param}: describe it in \`parameters\` of scripts/openapi/service.yaml.`);
    return found;
  };
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
    ...(!row.documented && { 'x-assumed': service.assumed[name] ?? 'operation' }),
    parameters: [
      ...inPath.map(parameter),
      ...(row.retry === 'idempotency-key' ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
      ...query.map(parameter),
    ],
    ...(body !== undefined && { requestBody: bodyOf(body, example.body, name === 'cohorts.create') }),
    responses: responsesOf(row, details, example.response),
  };
}

function bodyOf(schema: string, example: unknown, takesFile: boolean): Json {
  const file = { description: 'The file itself, instead of `upload_reference`.', type: 'string', format: 'binary' };
  const form = { allOf: [refTo(schema), { type: 'object', properties: { file } }], 'x-assumed': 'cohortBody' };
  return {
    required: true,
    content: {
      'application/json': { schema: refTo(schema), example },
      ...(takesFile && { 'multipart/form-data': { schema: form } }),
    },
  };
}

/** The names of error responses. The name for a 401 depends on the token. */
const ERRORS: Readonly<Record<number, string>> = {
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

function responsesOf({ reads, token }: Operation, { data, errors }: OperationDetails, example: unknown): Json {
  const mcp = reads === 'json-rpc' ? service.mcp : undefined;
  const envelope = {
    type: 'object',
    properties: {
      status: { type: 'string', enum: ['success'] },
      code: { type: 'integer', enum: [200] },
      message: { type: 'string' },
      data,
    },
    required: ['status', 'code', 'message', 'data'],
  };
  const refused = [401, 406, 429, 500, ...errors].map((status) => {
    const name = status === 401 ? UNAUTHORIZED[token] : ERRORS[status];
    return [status, { $ref: `#/components/responses/${name}` }];
  });
  return {
    200: {
      description: 'Success.',
      headers: { 'x-request-id': { $ref: '#/components/headers/RequestId' }, ...mcp?.headers },
      content: { 'application/json': { schema: mcp?.schema ?? envelope, example }, ...mcp?.content },
    },
    ...mcp?.responses,
    ...Object.fromEntries(refused),
  };
}
