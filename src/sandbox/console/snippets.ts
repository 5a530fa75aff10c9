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
const LEFT_OUT: readonly string[] = [
  'host',
  'connection',
  'content-length',
  'user-agent',
  'accept-encoding',
  'accept-language',
  'transfer-encoding',
  'origin',
  'referer',
  'x-forwarded-for',
  'cookie',
];

const isSent = (name: string): boolean => !(LEFT_OUT.includes(name) || name.startsWith('sec-'));

/** Returns the headers that matter to the service, without credentials. */
export const relevantHeaders = ({ headers }: HandledRequest): (readonly [name: string, value: string])[] =>
  [...headers].filter(([name]) => isSent(name) && !isSecret(name));

/** A request in the languages of its users; a call of the client only if the client would send the same. */
export interface Snippets {
  readonly sdk: string | undefined;
  readonly curl: string;
  readonly fetch: string;
}

/** Returns code that sends a request again. Credentials are variables of the environment. */
export async function snippetsOf(request: HandledRequest): Promise<Snippets> {
  const body = await readSnippetBody(request);
  return { sdk: sdkOf(request, body), curl: curlOf(request, body), fetch: fetchOf(request, body) };
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
  else if (body?.kind === 'form')
    parts.push(...body.pairs.map(([name, value]) => `--data-urlencode ${inShell(`${name}=${value}`)}`));
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

function fetchOf(request: HandledRequest, body: SnippetBody | undefined): string {
  const { method } = request.entry;
  const options = {
    ...(method !== 'GET' && { method }),
    headers: Object.fromEntries(headersOf(request, body)),
    ...(body && { body: bodyExpression(body) }),
  };
  const call = `const response = await fetch(${literal(hideInUrl(request.url))}, ${prettyLiteral(options)});`;
  const form = body?.kind === 'multipart' ? formSource(body) : '';
  return inTypeScript(`${form}${call}\nconsole.log(response.status, await response.text());`);
}

function bodyExpression(body: SnippetBody): unknown {
  if (body.kind === 'text') return body.text;
  if (body.kind === 'json') return body.text ?? expression(`JSON.stringify(${literal(body.value)})`);
  if (body.kind === 'form') return expression(`new URLSearchParams(${literal(body.pairs)})`);
  if (body.kind === 'multipart') return expression('form');
  return expression(`Uint8Array.from(atob('${body.base64}'), (character) => character.charCodeAt(0))`);
}

function formSource({ parts }: Extract<SnippetBody, { kind: 'multipart' }>): string {
  const lines = parts.map(({ name, value, file }) => {
    if (file === undefined) return `form.append(${literal(name)}, ${literal(value)});\n`;
    const content = value.length <= MAX_FILE ? literal(value) : `'x'.repeat(${value.length})`;
    return `form.append(${literal(name)}, new Blob([${content}]), ${literal(file)});\n`;
  });
  return `const form = new FormData();\n${lines.join('')}`;
}

/** Operations that read or write a single resource by its id. */
const BY_ID = /\.(?:get|delete|cancel)$/;

/** Returns the operation that a request belongs to, and the values of the parameters of its path. */
export function operationOf(
  method: string,
  path: string,
): { readonly name: OperationName; readonly params: Readonly<Record<string, string>> } | undefined {
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

/** Returns the call of the client that sends a request; `undefined` if the client would send another one. */
function sdkOf(request: HandledRequest, body: SnippetBody | undefined): string | undefined {
  const { entry, url, headers } = request;
  const operation = operationOf(entry.method, entry.path);
  const isMcp = operation?.name === 'mcp.send';
  const hasToken =
    /^bearer \S+$/i.test(headers.get('authorization') ?? '') || operation?.name.startsWith('auth.') === true;
  const isAccepted = (headers.get('accept') ?? '').includes('application/json');
  if (!operation || !hasToken || !isAccepted || (body && (body.kind !== 'json' || entry.method === 'GET')))
    return undefined;
  const query = Object.fromEntries(
    [...new URL(url).searchParams].map(([name, value]) => [name, hideValue(name, value)]),
  );
  const key = headers.get('idempotency-key');
  const call = callOf(operation.name, operation.params, query, body?.value, key, entry.status === 422);
  const { origin } = new URL(url);
  const options = { baseUrl: origin, ...(isMcp && { mcpToken: expression("process.env.AUDIENCE_TOKEN ?? ''") }) };
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
  if (
    body === undefined &&
    list !== undefined &&
    name.endsWith('.list') &&
    name !== 'reference.list' &&
    name !== 'webhooks.list'
  ) {
    return `client.${name}(${hasQuery ? literal(list) : ''})`;
  }
  if (body === undefined && !hasQuery && (name === 'webhooks.list' || name === 'usage.get')) return `client.${name}()`;
  const { method, path } = operations[name];
  const options = {
    ...(Object.keys(params).length > 0 && { params: params }),
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
