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

/** The operations. Paths without a parameter come first, because `index` is no id. */
const OPERATIONS = Object.entries(operations).sort(
  ([, one], [, other]) => Number(one.path.includes('{')) - Number(other.path.includes('{')),
);

/** Returns the operation that a request belongs to, and the values of the parameters of its path. */
export function operationOf(method: string, path: string): Target | undefined {
  for (const [name, operation] of OPERATIONS) {
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

function sdkOf(request: HandledRequest, body: JsonBody | undefined, target: Target): string {
  const isMcp = target.name === 'mcp.send';
  const { origin } = new URL(request.url);
  const options = { baseUrl: origin, ...(isMcp && { mcpToken: expression('process.env.AUDIENCE_TOKEN') }) };
  const note = target.name.startsWith('auth.') || isMcp ? '' : ' // its token: AUDIENCE_TOKEN';
  return inTypeScript(`import { AudienceClient } from 'audience-activation';

const client = new AudienceClient(${literal(options)});${note}
console.log(await ${callOf(request, body?.value, target)});
await client.close();`);
}

function callOf({ url, headers, entry }: HandledRequest, body: unknown, { name, params }: Target): string {
  const pairs = [...new URL(url).searchParams];
  const hasQuery = pairs.length > 0;
  const key = headers.get('idempotency-key');
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
  // The client would refuse some bodies without sending them.
  if (isObject && entry.status !== 422 && !hasQuery) {
    if (name.endsWith('.create')) {
      const options = key === null ? '' : `, ${literal({ idempotencyKey: key })}`;
      return `client.${name}(${prettyLiteral(body)}${options})`;
    }
    if (name.startsWith('auth.') || name === 'mcp.send' || name === 'uploads.reserve')
      return `client.${name}(${prettyLiteral(body)})`;
  }
  if (body === undefined) {
    const { id = '' } = params;
    if (!hasQuery && BY_ID.test(name) && /^[1-9]\d{0,14}$/.test(id)) return `client.${name}(${id})`;
    if (!hasQuery && (name === 'webhooks.list' || name === 'usage.get')) return `client.${name}()`;
    const hasPages = name.endsWith('.list') && name !== 'reference.list' && name !== 'webhooks.list';
    if (hasPages && pairs.every(isPage)) {
      const list = Object.fromEntries(pairs.map(([part, value]) => [part, Number(value)]));
      return `client.${name}(${hasQuery ? literal(list) : ''})`;
    }
  }
  const { method, path } = operations[name];
  const options = {
    ...(Object.keys(params).length > 0 && { params }),
    ...(hasQuery && { query: Object.fromEntries(pairs.map(([part, value]) => [part, hideValue(part, value)])) }),
    ...(body !== undefined && { body }),
    ...(key !== null && { idempotencyKey: key }),
  };
  const more = Object.keys(options).length > 0 ? `, ${prettyLiteral(options)}` : '';
  return `client.request(${literal(method)}, ${literal(path)}${more})`;
}

const isPage = ([name, value]: readonly [string, string]): boolean =>
  /^(?:page|per_page)$/.test(name) && /^[1-9]\d{0,8}$/.test(value);
