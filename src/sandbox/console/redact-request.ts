/** Names of fields and parameters that hold credentials, in lower case. */
const SECRETS: readonly string[] = [
  'password',
  'current',
  'token',
  'secret',
  'client_secret',
  'code',
  'code_verifier',
  'refresh_token',
  'access_token',
  'signature',
];

const HIDDEN = '…';
const NAMES = SECRETS.join('|');

/** `"name": "value"` also of a cut text, `name=value`, and a part of a multipart body. */
const FIELD = new RegExp(`(["']?\\b(?:${NAMES})["']?\\s*[:=]\\s*)(?:"(?:[^"\\\\]|\\\\.)*"?|[^&\\s,}]+)`, 'gi');
const PART = new RegExp(`(name="(?:${NAMES})"\\s+)\\S[^\\r\\n]*`, 'gi');

/** Returns a URL without the credentials in its query. */
export function redactUrl(url: string): string {
  const { origin, pathname, search } = new URL(url);
  return `${origin}${pathname}${redactText(search)}`;
}

/** Returns the text of a body without the credentials in it, whatever its type is said to be. */
export function redactBody(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body.replace(/^\ufeff/, '')), hideField);
  } catch {
    return redactText(body);
  }
}

/** Numbers stay: `code` of an envelope is one. */
function hideField(name: string, value: unknown): unknown {
  if (SECRETS.includes(name.toLowerCase()) && typeof value !== 'number') return HIDDEN;
  return typeof value === 'string' ? redactText(value) : value;
}

const redactText = (text: string): string => text.replaceAll(FIELD, `$1${HIDDEN}`).replaceAll(PART, `$1${HIDDEN}`);
