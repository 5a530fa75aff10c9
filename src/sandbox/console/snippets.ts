import { isOperationName, type OperationName, operations } from '../../spec/operations.ts';
import { expression, literal } from '../admin/call-source.ts';
import type { HandledRequest } from '../service.ts';
import { isSecret } from './redact-request.ts';
import {
  hideInHeader,
  hideInUrl,
  hideValue,
  inShell,
  inTypeScript,
  prettyLiteral,
  readSnippetBody,
  type SnippetBody,
} from './snippet-values.ts';

/** Headers that a snippet leaves out, because every client sends its own. */
const LEFT_OUT =
  /^(?:host|connection|content-length|user-agent|accept-(?:encoding|language)|transfer-encoding|origin|referer|x-forwarded-for|cookie|sec-.*)$/;

const isSent = (name: string): boolean => !LEFT_OUT.test(name);

/** Returns the headers that matter to the service, without credentials. */
export const relevantHeaders = ({ headers }: HandledRequest): (readonly [name: string, value: string])[] =>
  [...headers].filter(([name]) => isSent(name) && !isSecret(name));

/**
 * Returns code that sends a request again: curl, and, if they would send the same request, the call of the client and the command. Credentials
 * are variables of the environment.
 */
export async function snippetsOf(
  request: HandledRequest,
): Promise<{ readonly curl: string; readonly sdk?: string; readonly command?: string | undefined }> {
  const body = await readSnippetBody(request);
  const curl = curlOf(request, body);
  const { method, path } = request.entry;
  const operation = operationOf(method, path);
  const json = body?.kind === 'json' ? body : undefined;
  if (!operation || body !== json || (body && method === 'GET') || !isAccepted(request, operation.name))
    return { curl };
  return { curl, sdk: sdkOf(request, json, operation), command: commandOf(request, json, operation.name) };
}

function headersOf({ headers }: HandledRequest, body: SnippetBody | undefined): [name: string, value: string][] {
  // The type of a multipart body contains a boundary, which is another one each time.
  const isShown = (name: string): boolean => isSent(name) && !(name === 'content-type' && body?.kind === 'multipart');
  return [...headers].filter(([name]) => isShown(name)).map(([name, value]) => [name, hideInHeader(name, value)]);
}

/** Longest file that a snippet contains. */
const MAX_FILE = 20_000;

function curlOf(request: HandledRequest, body: SnippetBody | undefined): string {
  const { method } = request.entry;
  const parts = [`curl --globoff ${inShell(hideInUrl(request.url))}`];
  if (method === 'HEAD') parts.push('--head');
  else if (method !== 'GET') parts.push(`-X ${inShell(method)}`);
  for (const [name, value] of headersOf(request, body)) parts.push(`-H ${inShell(`${name}: ${value}`)}`);
  let before = '';
  let after = '';
  // Not `--data`, which reads a file if the body begins with `@`.
  if (body?.kind === 'json') parts.push(`--data-raw ${inShell(body.text ?? JSON.stringify(body.value))}`);
  else if (body?.kind === 'text') parts.push(`--data-raw ${inShell(body.text)}`);
  else if (body?.kind === 'bytes') {
    before = `echo ${body.base64} | base64 -d | `;
    parts.push('--data-binary @-');
  } else if (body?.kind === 'multipart') {
    for (const { name, value, file } of body.parts) {
      if (file === undefined) parts.push(`--form-string ${inShell(`${name}=${value}`)}`);
      else {
        const isShort = value.length <= MAX_FILE && after === '';
        parts.push(`-F ${inShell(`${name}=@${isShort ? `-;filename=${file}` : file}`)}`);
        if (isShort) after = ` <<'END'\n${value.replace(/\n$/, '')}\nEND`;
      }
    }
  }
  return `${before}${parts.join(' \\\n  ')}${after}`;
}

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
