import { expression, literal } from '../admin/call-source.ts';
import type { RecordedRequest } from './recorder.ts';

/** Headers that a snippet leaves out, because every client sends them. */
const IMPLIED: readonly string[] = [
  'host',
  'connection',
  'content-length',
  'user-agent',
  'accept-encoding',
  'accept-language',
  'transfer-encoding',
  'origin',
  'referer',
];

/** Returns the headers that matter to the service. */
export function relevantHeaders({ headers }: RecordedRequest): (readonly [name: string, value: string])[] {
  return headers.filter(([name]) => !IMPLIED.includes(name) && !name.startsWith('sec-'));
}

const quoteForShell = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Returns the request as a command, with the token in a variable of the shell. */
export function curlOf(request: RecordedRequest): string {
  const { entry, url, body, token } = request;
  const parts = [`curl ${quoteForShell(url)}`];
  if (entry.method !== 'GET') parts.push(`-X ${entry.method}`);
  if (token !== undefined) parts.push('-H "Authorization: Bearer $TOKEN"');
  for (const [name, value] of relevantHeaders(request)) parts.push(`-H ${quoteForShell(`${name}: ${value}`)}`);
  if (body !== undefined && body !== '') parts.push(`--data-binary ${quoteForShell(body)}`);
  return parts.join(' \\\n  ');
}

/** Returns the options of `fetch` for a request; `authorization` is the value of that header. */
export function fetchOptions(request: RecordedRequest, authorization: unknown): object {
  const { entry, body } = request;
  const headers = Object.fromEntries(relevantHeaders(request));
  return {
    ...(entry.method !== 'GET' && { method: entry.method }),
    headers: { ...headers, ...(authorization !== undefined && { authorization }) },
    ...(body !== undefined && body !== '' && { body }),
  };
}

/** Returns the request as TypeScript, with the value of the header in a variable. */
export function fetchOf(request: RecordedRequest): string {
  const authorization = request.token === undefined ? undefined : expression('authorization');
  return `await fetch(${literal(request.url)}, ${literal(fetchOptions(request, authorization))});`;
}
