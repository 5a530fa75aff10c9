import type { Context, Hono, MiddlewareHandler } from 'hono';
import { type OperationName, operations } from '../../operations.ts';
import { refusal, unauthenticated } from '../answers.ts';
import { accept, type Env, identify, metered, tokenOf } from '../gates.ts';
import type { CallOperation } from '../mcp-server.ts';
import type { Service } from '../service.ts';
import { findToken } from '../tokens.ts';
import { RESOURCE_METADATA } from './oauth.ts';

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
      return request ? app.fetch(request, { ...env, token }) : refusal(404, 'Not found.');
    };
  app.all(path, scoped(service), accept, metered(service, 'mcp'), async (context) => {
    const { createMcpServing } = await import('../mcp-server.ts');
    return createMcpServing(call(context))(context.req.raw, context.get('token').value);
  });
}

/** The request that a tool stands for: parameters into the path, the rest into query or body; none of an odd path. */
function subRequest(base: string, name: OperationName, input: Readonly<Record<string, unknown>>): Request | undefined {
  const { method, path: template } = operations[name];
  const { idempotency_key: key, ...rest } = input;
  const params = [...template.matchAll(/\{(\w+)\}/g)].map(([, param = '']) => param);
  if (!params.every((param) => /^[\w-]+$/.test(String(input[param])))) return undefined;
  const target = template.replace(/\{(\w+)\}/g, (_, param: string) => String(input[param]));
  const fields = Object.entries(rest).filter(([field]) => !params.includes(field));
  const url = new URL(target, base);
  const headers = { accept: 'application/json', 'content-type': 'application/json' };
  if (method === 'GET') {
    for (const [field, value] of fields) url.searchParams.set(field, String(value));
    return new Request(url, { headers });
  }
  return new Request(url, {
    method,
    headers: { ...headers, ...(typeof key === 'string' && { 'idempotency-key': key }) },
    body: JSON.stringify(Object.fromEntries(fields)),
  });
}
