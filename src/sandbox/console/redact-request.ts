const HIDDEN = '…';

const SECRET =
  /pass(?:word|wd|phrase|code)|secret|token|credential|(?:api|access|private|account|master|shared|ssh)key|signature|auth|cookie|codeverifier|^(?:code|current|jwt|pat|pin|sas|sig|pwd)$/;

/** Exceptions: fields that contain addresses or kinds, and headers of responses. */
const HARMLESS = /(?:endpoint|types?|supported|methods?|servers?|algorithm)$|^(?:author(?!iz)|accesscontrol|wwwauth)/;

/** Tokens and webhook secrets of the sandbox, anywhere in a text. */
const OWN = /\b(\d+\||rt_|whsec_)[A-Za-z0-9]{16,}/g;

/** Returns whether a field, a parameter or a header with this name, in any style of spelling, contains a credential. */
export function isSecret(name: string): boolean {
  const plain = decodeName(name)
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '');
  return SECRET.test(plain) && !HARMLESS.test(plain);
}

/** Decodes escaped letters, such as `%70` in an address or `\u0070` in JSON. */
function decodeName(name: string): string {
  const plain = name.replaceAll(/\\u([\da-f]{4})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
}

export function redactUrl(url: string): string {
  if (!URL.canParse(url)) return redactText(url);
  const { protocol, host, pathname, search } = new URL(url);
  return `${protocol}//${host}${pathname}${redactText(search)}`;
}

export const targetOf = ({ url }: { readonly url: string }): string => redactUrl(url).slice(new URL(url).origin.length);

export function redactHeader(name: string, value: string): string {
  if (!isSecret(name)) return redactText(value);
  // The scheme and the id before the token identify the token.
  const [, scheme = ''] = /^((?:bearer (?:\d+\|)?|basic ))/i.exec(value) ?? [];
  return `${scheme}${HIDDEN}`;
}

export function redactBody(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body.replace(/^\ufeff/, '')), hideField);
  } catch {
    return redactText(body);
  }
}

/** Hides the values of secret fields. Keeps numbers in `code`, because an envelope has its status there, and booleans, which are no secrets. */
function hideField(name: string, value: unknown): unknown {
  if (isSecret(name) && !(name === 'code' && typeof value === 'number') && typeof value !== 'boolean') return HIDDEN;
  return typeof value === 'string' ? redactText(value) : value;
}

/**
 * A name with what separates it from its value: `"name": `, `name=`, or the head of a part of a multipart body. It
 * starts at the start of a word and does not backtrack in a name, so that its time is proportional to the length of the
 * string.
 */
const NAME =
  /^content-disposition:([^\r\n]*)\r?\n(?:[^\r\n]+\r?\n){0,5}\r?\n|(?<![\w.%$[\]-])(?=((?:[\w.%$[\]-]|\\u[\da-f]{4})+))\2(?:\\*["']|&quot;|&#34;)?\s*[:=]\s*/gim;

/** Maximum number of times that a value is decoded because it may contain other fields. */
const MAX_DEPTH = 2;

/** Hides the values of secret fields in a string that is not complete JSON, such as a form, a query or half of a body. */
export const redactText = (text: string): string => hideFields(text, isSecret).replaceAll(OWN, `$1${HIDDEN}`);

export function hideFields(text: string, hides: (name: string) => boolean, depth = 0): string {
  const [boundary] = /^--[^\r\n]+/.exec(text) ?? [];
  let result = '';
  let end = 0;
  for (const match of text.matchAll(NAME)) {
    const [head, part, word = ''] = match;
    const start = match.index + head.length;
    const name = part === undefined ? word : (/\bname="?([^";]*)/.exec(part)?.[1] ?? '');
    if (match.index < end || !(hides(name) || hasEncodedSecret(text, start, hides, depth))) continue;
    const valueEnd = part === undefined ? endOfValue(text, start) : endOfPart(text, start, boundary);
    if (name === 'code' && /^\d{3}$/.test(text.slice(start, valueEnd))) continue;
    result += `${text.slice(end, start)}${HIDDEN}`;
    end = valueEnd;
  }
  return result + text.slice(end);
}

/** Returns whether a value contains secret fields once it is decoded, as JSON in a query does. */
function hasEncodedSecret(text: string, start: number, hides: (name: string) => boolean, depth: number): boolean {
  const value = text[start] === '%' ? text.slice(start, endOfValue(text, start)) : '';
  const decoded = decodeName(value);
  return depth < MAX_DEPTH && decoded !== value && hideFields(decoded, hides, depth + 1) !== decoded;
}

function endOfPart(text: string, start: number, boundary: string | undefined): number {
  const end = boundary === undefined ? -1 : text.indexOf(boundary, start);
  return end < 0 ? text.length : end;
}

/** Returns the end of a value: a string, an object, an array or plain text. If the value is cut off, returns the end of the text. */
function endOfValue(text: string, start: number): number {
  const [quote] = /^(?:\\*["']|&quot;|&#34;)/.exec(text.slice(start, start + 12)) ?? [];
  if (quote !== undefined) return endOfString(text, start + quote.length, quote);
  if (text[start] === '{' || text[start] === '[') return endOfContainer(text, start);
  const plain = /[&,;}\]\r\n<]/g;
  plain.lastIndex = start;
  return plain.exec(text)?.index ?? text.length;
}

function endOfString(text: string, start: number, quote: string): number {
  const mark = quote.at(-1) ?? '';
  const escapes = quote.length - 1;
  const isEntity = quote.startsWith('&');
  for (let index = text.indexOf(isEntity ? quote : mark, start); index >= 0; index = text.indexOf(mark, index + 1)) {
    if (isEntity) return index + quote.length;
    let before = 0;
    while (index - before > start && text[index - before - 1] === '\\') before++;
    if (escapes === 0 ? before % 2 === 0 : before <= escapes) return index + 1;
  }
  return text.length;
}

function endOfContainer(text: string, start: number): number {
  let depth = 0;
  for (let index = start; index < text.length; index++) {
    const character = text[index];
    if (character === '"') index = endOfString(text, index + 1, '"') - 1;
    else if (character === '{' || character === '[') depth++;
    else if (character === '}' || character === ']') depth--;
    if (depth === 0) return index + 1;
  }
  return text.length;
}
