import type { HandledRequest } from '../service.ts';
import { isSecret, redactBody, redactText } from './redact-request.ts';

/** Marks the place of a variable in a string. Received data cannot contain it. */
const MARK = `\uE000${crypto.randomUUID()}:`;
const MARKED = new RegExp(`${MARK}(\\w+)\uE001`, 'g');

/** Returns a placeholder for a credential, which becomes an environment variable. */
export const variable = (name: string): string =>
  `${MARK}${name
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .replaceAll(/\W+/g, '_')
    .toUpperCase()}\uE001`;

/** A body as a snippet sends it. Credentials are variables. */
export type SnippetBody =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'json'; readonly value: unknown; readonly text: string | undefined }
  | { readonly kind: 'multipart'; readonly parts: readonly FormPart[] }
  | { readonly kind: 'bytes'; readonly base64: string };

/** A field or a file of `multipart/form-data`. */
interface FormPart {
  readonly name: string;
  readonly value: string;
  /** Name of the file. */
  readonly file?: string;
}

/** Returns the body of a request; `undefined` if there is none. */
export async function readSnippetBody({ body, headers }: HandledRequest): Promise<SnippetBody | undefined> {
  if (!body?.length) return undefined;
  const type = headers.get('content-type') ?? '';
  const parts = type.startsWith('multipart/form-data') ? await readParts(body, type) : undefined;
  if (parts) return { kind: 'multipart', parts };
  const text = decode(body);
  if (text === undefined) {
    return { kind: 'bytes', base64: btoa(Array.from(body, (byte) => String.fromCharCode(byte)).join('')) };
  }
  try {
    const value: unknown = JSON.parse(text);
    const shown: unknown = JSON.parse(text, hideSecret);
    const isPlain = JSON.stringify(value) === JSON.stringify(shown);
    return {
      kind: 'json',
      value: shown,
      text: isPlain && redactBody(text) === JSON.stringify(value) ? text : undefined,
    };
  } catch {
    const isForm = type.startsWith('application/x-www-form-urlencoded');
    return { kind: 'text', text: isForm ? hideInQuery(text) : redactText(text) };
  }
}

function hideSecret(name: string, value: unknown): unknown {
  if (isSecret(name)) return variable(name);
  return typeof value === 'string' ? redactText(value) : value;
}

/** Returns the value of a field; a credential is a variable. */
const hideValue = (name: string, value: string): string => (isSecret(name) ? variable(name) : redactText(value));

async function readParts(body: Uint8Array<ArrayBuffer>, type: string): Promise<readonly FormPart[] | undefined> {
  const form = await new Response(body, { headers: { 'content-type': type } }).formData().catch(() => undefined);
  if (!form) return undefined;
  const parts = [...form].map(async ([name, value]) => {
    const text = typeof value === 'string' ? value : await value.text();
    return { name, value: hideValue(name, text), ...(typeof value !== 'string' && { file: value.name }) };
  });
  return Promise.all(parts);
}

/** Returns the text of a body without credentials; `undefined` if there is none, or if it is not text. */
export function shownBody({ body }: HandledRequest): string | undefined {
  const text = body && decode(body);
  return text ? redactBody(text) : undefined;
}

/** Returns the value of JSON; `undefined` for other text. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Decodes UTF-8; returns `undefined` for other bytes. */
export function decode(bytes: Uint8Array<ArrayBuffer>): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Returns an address with variables in place of the credentials in its query. */
export function hideInUrl(url: string): string {
  const { origin, pathname, search } = new URL(url);
  return `${origin}${redactText(pathname)}${search === '' ? '' : `?${hideInQuery(search.slice(1))}`}`;
}

/** Returns a query or a form with variables in place of its credentials. */
function hideInQuery(query: string): string {
  const pairs = query.split('&').map((pair) => {
    const name = pair.split('=', 1)[0] ?? '';
    return isSecret(name) && pair.includes('=') ? `${name}=${variable(name)}` : redactText(pair);
  });
  return pairs.join('&');
}

/** Returns the value of a header; the token of a bearer is the variable that the client and the command read, too. */
export function hideInHeader(name: string, value: string): string {
  if (!isSecret(name)) return redactText(value);
  if (name !== 'authorization') return variable(name);
  if (/^bearer /i.test(value)) return `${value.slice(0, 7)}${variable('AUDIENCE_TOKEN')}`;
  return /^basic /i.test(value) ? `${value.slice(0, 6)}${variable('CLIENT_CREDENTIALS')}` : variable(name);
}

/** Returns TypeScript in which the variables are read from the environment. */
export const inTypeScript = (code: string): string =>
  code
    .replaceAll(new RegExp(`'${MARK}(\\w+)\uE001'`, 'g'), 'process.env.$1!')
    .replaceAll(new RegExp(`${MARK}(\\w+)\uE001'`, 'g'), "' + process.env.$1")
    .replaceAll(MARKED, "' + process.env.$1 + '");

/** Returns text without the marks of variables. */
export const withoutVariables = (text: string): string => text.replaceAll(MARKED, '…');

/** Returns a string as a shell argument, in which the shell replaces variables. */
export const inShell = (text: string): string =>
  `'${text.replaceAll("'", `'\\''`)}'`.replaceAll(MARKED, `'"$$$1"'`).replaceAll(/(?<=")''(?=$|\s)/g, '');
