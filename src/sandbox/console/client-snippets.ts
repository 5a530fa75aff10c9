import { isOperationName, type OperationName, operations } from '../../spec/operations.ts';
import { expression, literal } from '../admin/call-source.ts';
import type { HandledRequest } from '../service.ts';
import {
  hideInHeader,
  hideInUrl,
  hideValue,
  inShell,
  inTypeScript,
  prettyLiteral,
  type SnippetBody,
} from './snippet-values.ts';

/** Operations that read or write a single resource by its id. */
const BY_ID = /\.(?:get|delete|cancel)$/;

/** Returns the operation that a request belongs to, and the values of the parameters of its path. */
export function operationOf(method: string, path: string): Target | undefined {
  for (const [name, operation] of Object.entries(operations)) {
    if (operation.method !== method || !isOperationName(name) || name === 'lookalikes.get') continue;
    const pattern = operation.path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)');
    const match = new RegExp(`^${pattern}$`).exec(path);
    const values = Object.entries(match?.groups ?? {}).map(([part, value]) => [part, decoded(value)]);
    if (match) return { name, params: Object.fromEntries(values) };
  }
  return undefined;
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

type JsonBody = Extract<SnippetBody, { kind: 'json' }>;

/** Returns the call of the client and the command that send a request; none of those that would send another one. */
export function clientSnippets(
  request: HandledRequest,
  body: SnippetBody | undefined,
): { readonly sdk: string | undefined; readonly command: string | undefined } {
  const { method, path } = request.entry;
  const operation = operationOf(method, path);
  const json = body?.kind === 'json' ? body : undefined;
  if (!operation || body !== json || (body && method === 'GET') || !isAccepted(request, operation.name))
    return { sdk: undefined, command: undefined };
  return { sdk: sdkOf(request, json, operation), command: commandOf(request, json, operation.name) };
}

/** Returns whether a request has the headers of the client: a token, unless it is to get one, and the type that it accepts. */
function isAccepted({ headers }: HandledRequest, name: OperationName): boolean {
  const hasToken = /^bearer \S+$/i.test(headers.get('authorization') ?? '') || name.startsWith('auth.');
  return hasToken && (headers.get('accept') ?? '').includes('application/json');
}

/** Returns the command that sends a request; `undefined` for tokens and MCP, which have their own commands. */
function commandOf(request: HandledRequest, body: JsonBody | undefined, name: OperationName): string | undefined {
  if (name.startsWith('auth.') || name === 'mcp.send') return undefined;
  const { url, headers, entry } = request;
  const { origin } = new URL(url);
  const key = headers.get('idempotency-key');
  const parts = [
    `AUDIENCE_BASE_URL=${inShell(origin)} npx aud request ${entry.method} ${inShell(hideInUrl(url).slice(origin.length))}`,
  ];
  if (body) parts.push(`--data ${inShell(body.text ?? JSON.stringify(body.value))}`);
  if (key !== null) parts.push(`--idempotency-key ${inShell(hideInHeader('idempotency-key', key))}`);
  return parts.join(' \\\n  ');
}

/** An operation, and the values of the parameters of its path. */
interface Target {
  readonly name: OperationName;
  readonly params: Readonly<Record<string, string>>;
}

function sdkOf(request: HandledRequest, body: JsonBody | undefined, operation: Target): string {
  const { entry, url, headers } = request;
  const isMcp = operation.name === 'mcp.send';
  const query = Object.fromEntries(
    [...new URL(url).searchParams].map(([name, value]) => [name, hideValue(name, value)]),
  );
  const key = headers.get('idempotency-key');
  const call = callOf(operation.name, operation.params, query, body?.value, key, entry.status === 422);
  const { origin } = new URL(url);
  const options = { baseUrl: origin, ...(isMcp && { mcpToken: expression('process.env.AUDIENCE_TOKEN') }) };
  const note = operation.name.startsWith('auth.') || isMcp ? '' : ' // its token: AUDIENCE_TOKEN';
  return inTypeScript(`import { AudienceClient } from 'audience-activation';

const client = new AudienceClient(${literal(options)});${note}
console.log(await ${call});
await client.close();`);
}

function callOf(
  name: OperationName,
  params: Readonly<Record<string, string>>,
  query: Readonly<Record<string, string>>,
  body: unknown,
  key: string | null,
  isInvalid: boolean,
): string {
  const id = params.id;
  const hasNumber = id !== undefined && /^[1-9]\d{0,14}$/.test(id);
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
  const hasQuery = Object.keys(query).length > 0;
  const list = listParams(query);
  // The client checks some bodies itself, and would not send them.
  if (isObject && !isInvalid && !hasQuery) {
    if (name.endsWith('.create')) {
      const options = key === null ? '' : `, ${literal({ idempotencyKey: key })}`;
      return `client.${name}(${prettyLiteral(body)}${options})`;
    }
    if (name.startsWith('auth.') || name === 'mcp.send' || name === 'uploads.reserve')
      return `client.${name}(${prettyLiteral(body)})`;
  }
  if (body === undefined && !hasQuery && BY_ID.test(name) && hasNumber) return `client.${name}(${id})`;
  const hasPages = name.endsWith('.list') && name !== 'reference.list' && name !== 'webhooks.list';
  if (body === undefined && list && hasPages) return `client.${name}(${hasQuery ? literal(list) : ''})`;
  if (body === undefined && !hasQuery && (name === 'webhooks.list' || name === 'usage.get')) return `client.${name}()`;
  const { method, path } = operations[name];
  const options = {
    ...(Object.keys(params).length > 0 && { params }),
    ...(hasQuery && { query }),
    ...(body !== undefined && { body }),
    ...(key !== null && { idempotencyKey: key }),
  };
  const more = Object.keys(options).length > 0 ? `, ${prettyLiteral(options)}` : '';
  return `client.request(${literal(method)}, ${literal(path)}${more})`;
}

/** Returns the parameters of a list as numbers; `undefined` if there are others. */
function listParams(query: Readonly<Record<string, string>>): Readonly<Record<string, number>> | undefined {
  const isNumbers = Object.entries(query).every(
    ([name, value]) => /^(?:page|per_page)$/.test(name) && /^[1-9]\d{0,8}$/.test(value),
  );
  return isNumbers
    ? Object.fromEntries(Object.entries(query).map(([name, value]) => [name, Number(value)]))
    : undefined;
}
