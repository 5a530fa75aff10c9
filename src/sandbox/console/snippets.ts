import { expression, literal } from '../admin/call-source.ts';
import type { HandledRequest } from '../service.ts';
import { isSecret, redactBody, redactUrl } from './redact-request.ts';

/** Headers that a snippet leaves out, because every client sends them, or because they hold credentials. */
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

/** Returns the headers that matter to the service, without credentials. */
export function relevantHeaders({ headers }: HandledRequest): (readonly [name: string, value: string])[] {
  return [...headers].filter(([name]) => !(LEFT_OUT.includes(name) || isSecret(name) || name.startsWith('sec-')));
}

/** Returns the text of a body without credentials; `undefined` if there is none, or if it is not text. */
export function shownBody({ body }: HandledRequest): string | undefined {
  const text = body && decode(body);
  return text ? redactBody(text) : undefined;
}

/** Decodes UTF-8; returns `undefined` for other bytes. */
export function decode(bytes: Uint8Array<ArrayBuffer>): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

const quoteForShell = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Returns the request as a command, with credentials in a variable of the shell. */
export function curlOf(request: HandledRequest): string {
  const { entry, url, headers } = request;
  const body = shownBody(request);
  const parts = [`curl --globoff ${quoteForShell(redactUrl(url))}`];
  if (entry.method !== 'GET') parts.push(`-X ${quoteForShell(entry.method)}`);
  if (headers.has('authorization')) parts.push('-H "Authorization: $AUTHORIZATION"');
  for (const [name, value] of relevantHeaders(request)) parts.push(`-H ${quoteForShell(`${name}: ${value}`)}`);
  // Not `--data`, which reads a file if the body begins with `@`.
  if (body !== undefined) parts.push(`--data-raw ${quoteForShell(body)}`);
  return parts.join(' \\\n  ');
}

/** Returns the request as TypeScript, with credentials in a variable. */
export function fetchOf(request: HandledRequest): string {
  const { entry, url, headers } = request;
  const body = shownBody(request);
  const authorization = headers.has('authorization') ? { authorization: expression('authorization') } : {};
  const options = {
    ...(entry.method !== 'GET' && { method: entry.method }),
    headers: { ...Object.fromEntries(relevantHeaders(request)), ...authorization },
    ...(body !== undefined && { body }),
  };
  return `await fetch(${literal(redactUrl(url))}, ${literal(options)});`;
}
