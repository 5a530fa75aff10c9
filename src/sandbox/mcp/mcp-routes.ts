import type { Context, Hono, MiddlewareHandler } from 'hono';
import type { OperationName } from '../../spec/operations.ts';
import type { Operations } from '../contracted-service.ts';
import { bearerToken, checkAccept, checkRate, type Env, refuseToken, setToken } from '../http/access.ts';
import { isObject, type JsonObject, NestingError, parseJson, readBytes } from '../http/request-body.ts';
import { failure, invalid, unauthenticated } from '../http/responses.ts';
import { RESOURCE_METADATA } from '../oauth/oauth-routes.ts';
import type { Service } from '../service.ts';
import { findToken } from '../tokens.ts';
import type { CallOperation, McpRequest } from './mcp-server.ts';

/**
 * Middleware of the MCP endpoint: responds with 401, with 403 to a token without the `mcp` scope, with 406 or with 429
 * (specification, "OAuth 2.1", rule 1, and "Errors").
 */
const requireMcpToken =
  (service: Service): MiddlewareHandler<Env> =>
  async (context, next) => {
    const token = bearerToken(service, context);
    if (!token) {
      const isInvalid = context.req.header('authorization') !== undefined;
      return withChallenge(context, refuseToken(service, context), isInvalid ? 'error="invalid_token", ' : '');
    }
    setToken(context, token);
    if (token.kind === 'mcp' || token.kind === 'oauth')
      return checkAccept(context) ?? checkRate(service, context, token, 'mcp') ?? next();
    const response = failure(403, 'insufficient_scope: the token lacks the scope mcp.', {
      error: 'insufficient_scope',
    });
    context.set('why', `The token ${token.id} is of kind ${token.kind}, without the scope mcp`);
    return withChallenge(context, response, 'error="insufficient_scope", scope="mcp", ');
  };

/** Adds the `WWW-Authenticate` header, which points to the protected resource metadata. */
function withChallenge(context: Context<Env>, response: Response, error: string): Response {
  const metadata = new URL(RESOURCE_METADATA, context.req.url);
  response.headers.set('www-authenticate', `Bearer ${error}resource_metadata="${metadata}"`);
  return response;
}

/** Adds the MCP endpoint, whose tools call the API with the caller's token. */
export function mcpRoutes(app: Hono<Env>, service: Service): void {
  const callFor =
    (context: Context<Env>): CallOperation =>
    async (value, operation, input) => {
      const token = findToken(service, value);
      if (!token) return unauthenticated();
      const request = createSubRequest(context.req.url, service.operations, operation, input);
      const { overHttp, ...env } = context.env;
      return request instanceof Response ? request : app.fetch(request, { ...env, token });
    };
  app.all(service.operations['mcp.send'].path, requireMcpToken(service), async (context) => {
    // Import the server at the first request, because it has 0.6 MB.
    const { createMcpHandlerFor } = await import('./mcp-server.ts');
    try {
      const request = await readRequest(context);
      if (request instanceof Response) return request;
      return await createMcpHandlerFor(callFor(context), service)(request, context.get('token').value);
    } catch (error) {
      if (error instanceof NestingError) return rpcError(400, -32700, error.message);
      throw error;
    }
  });
}

/** Maximum size of a message in bytes, equal to the limit of the MCP SDK's server. */
const MAX_MESSAGE_BYTES = 4 * 2 ** 20;

/**
 * Reads the message of a request. Returns an error response if the message is too large, or if an id is a number that
 * is not a safe integer.
 */
async function readRequest(context: Context<Env>): Promise<McpRequest | Response> {
  const { method, url, headers, signal } = context.req.raw;
  if (method !== 'POST') return { request: context.req.raw, message: undefined };
  const body = await readBytes(context);
  if (body.length > MAX_MESSAGE_BYTES)
    return rpcError(413, -32000, `Payload Too Large: Request body must not exceed ${MAX_MESSAGE_BYTES} bytes`);
  const message = parseJson(body);
  // The MCP SDK's server would repeat such an id in its error response.
  if ([message].flat().some(hasFractionalId))
    return rpcError(400, -32600, 'Bad Request: an id must be a string or an integer');
  return { request: new Request(url, { method, headers, body, signal }), message };
}

const hasFractionalId = (message: unknown): boolean =>
  isObject(message) && typeof message.id === 'number' && !Number.isSafeInteger(message.id);

function rpcError(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', id: null, error: { code, message } }, { status });
}

/**
 * Creates the API request of a tool call. Path parameters go into the path, `idempotency_key` into a header, and other
 * arguments into the query or the body. Returns an error response for arguments that a request cannot contain.
 */
function createSubRequest(
  base: string,
  operations: Operations,
  name: OperationName,
  input: JsonObject,
): Request | Response {
  const { method, path } = operations[name];
  const { idempotency_key: key, ...args } = input;
  const params = [...path.matchAll(/\{(\w+)\}/g)].map(([, param = '']) => param);
  const wrong = params.find((param) => !isScalar(input[param]) || !/^[\w-]+$/.test(String(input[param])));
  if (wrong !== undefined) return failure(404, `Not found: the argument ${wrong} is missing or invalid.`);
  const target = path.replace(/\{(\w+)\}/g, (_, param: string) => String(input[param]));
  const fields = Object.entries(args).filter(([field]) => !params.includes(field));
  const url = new URL(target, base);
  const headers = { accept: 'application/json', 'content-type': 'application/json' };
  if (method === 'GET') {
    const errors = fields
      .filter(([, value]) => !isScalar(value))
      .map(([field]) => [field, [`The ${field} must be a string or a number.`]]);
    if (errors.length > 0) return invalid(Object.fromEntries(errors));
    for (const [field, value] of fields) url.searchParams.set(field, String(value));
    return new Request(url, { headers });
  }
  if (key !== undefined && !isHeaderValue(key))
    return invalid({ idempotency_key: ['The idempotency_key must be a string of printable ASCII characters.'] });
  return new Request(url, {
    method,
    headers: { ...headers, ...(key !== undefined && { 'idempotency-key': key }) },
    body: JSON.stringify(Object.fromEntries(fields)),
  });
}

const isScalar = (value: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof value);

/** Returns whether a header can contain a value unchanged: printable ASCII without leading or trailing spaces. */
const isHeaderValue = (value: unknown): value is string =>
  typeof value === 'string' && /^[!-~](?:[ -~]*[!-~])?$/.test(value);
