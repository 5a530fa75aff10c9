import type { Context, Hono, MiddlewareHandler } from 'hono';
import { type OperationName, operations } from '../../spec/operations.ts';
import { accept, type Env, identify, metered, tokenOf } from '../http/access.ts';
import { bytesOf, NestingError, parseJson } from '../http/request-body.ts';
import { invalid, refusal, unauthenticated } from '../http/responses.ts';
import { RESOURCE_METADATA } from '../oauth/oauth-routes.ts';
import type { Service } from '../service.ts';
import { findToken } from '../tokens.ts';
import type { CallOperation } from './mcp-server.ts';

const { path } = operations['mcp.send'];

/** 401 with the way to the metadata, and 403 for tokens without the scope ("OAuth 2.1", rule 1; "Errors"). */
const scoped =
  (service: Service): MiddlewareHandler<Env> =>
  async (context, next) => {
    const token = tokenOf(service, context);
    if (!token) {
      const sent = context.req.header('authorization') !== undefined;
      return challenge(context, unauthenticated(), sent ? 'error="invalid_token", ' : '');
    }
    identify(context, token);
    if (token.kind === 'mcp' || token.kind === 'oauth') return next();
    const answer = refusal(403, 'insufficient_scope: the token lacks the scope mcp.', { error: 'insufficient_scope' });
    return challenge(context, answer, 'error="insufficient_scope", scope="mcp", ');
  };

function challenge(context: Context<Env>, answer: Response, error: string): Response {
  const metadata = new URL(RESOURCE_METADATA, context.req.url);
  answer.headers.set('www-authenticate', `Bearer ${error}resource_metadata="${metadata}"`);
  return answer;
}

/** The MCP endpoint, whose tools call the API in the name of the token's account. */
export function mcpRoutes(app: Hono<Env>, service: Service): void {
  const call =
    (context: Context<Env>): CallOperation =>
    async (value, operation, input) => {
      const token = findToken(service, value);
      if (!token) return unauthenticated();
      const request = subRequest(context.req.url, operation, input);
      const { overHttp, ...env } = context.env;
      return request instanceof Response ? request : app.fetch(request, { ...env, token });
    };
  app.all(path, scoped(service), accept, metered(service, 'mcp'), async (context) => {
    const { createMcpServing } = await import('./mcp-server.ts');
    try {
      const request = await receive(context);
      return await createMcpServing(call(context))(request, context.get('token').value);
    } catch (error) {
      if (error instanceof NestingError) return parseError(error.message);
      throw error;
    }
  });
}

/** The request with its body read and checked. */
async function receive(context: Context<Env>): Promise<Request> {
  const { method, url, headers, signal } = context.req.raw;
  if (method !== 'POST') return context.req.raw;
  const body = await bytesOf(context);
  parseJson(body);
  return new Request(url, { method, headers, body, signal });
}

/** A message that cannot be read, as JSON-RPC 2.0 answers it. */
function parseError(message: string): Response {
  return Response.json({ jsonrpc: '2.0', id: null, error: { code: -32700, message } }, { status: 400 });
}

/**
 * The request that a tool stands for: parameters into the path, the rest into query or body; or the refusal of
 * arguments that no request can hold.
 */
function subRequest(base: string, name: OperationName, input: Readonly<Record<string, unknown>>): Request | Response {
  const { method, path: template } = operations[name];
  const { idempotency_key: key, ...rest } = input;
  const params = [...template.matchAll(/\{(\w+)\}/g)].map(([, param = '']) => param);
  if (!params.every((param) => isScalar(input[param]) && /^[\w-]+$/.test(String(input[param]))))
    return refusal(404, 'Not found.');
  const target = template.replace(/\{(\w+)\}/g, (_, param: string) => String(input[param]));
  const fields = Object.entries(rest).filter(([field]) => !params.includes(field));
  const url = new URL(target, base);
  const headers = { accept: 'application/json', 'content-type': 'application/json' };
  if (method === 'GET') {
    const wrong = fields.filter(([, value]) => !isScalar(value));
    if (wrong.length > 0)
      return invalid(
        Object.fromEntries(wrong.map(([field]) => [field, [`The ${field} must be a string or a number.`]])),
      );
    for (const [field, value] of fields) url.searchParams.set(field, String(value));
    return new Request(url, { headers });
  }
  if (key !== undefined && !isHeaderText(key))
    return invalid({ idempotency_key: ['The idempotency_key must be a string of printable ASCII characters.'] });
  return new Request(url, {
    method,
    headers: { ...headers, ...(key !== undefined && { 'idempotency-key': key }) },
    body: JSON.stringify(Object.fromEntries(fields)),
  });
}

const isScalar = (value: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof value);

/** Whether a header carries a value unchanged: printable ASCII without space at its ends. */
const isHeaderText = (value: unknown): value is string =>
  typeof value === 'string' && /^[!-~](?:[ -~]*[!-~])?$/.test(value);
