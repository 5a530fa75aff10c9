import { parseJson } from '../http/request-body.ts';

/** Names of fields and parameters that hold credentials. */
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

/** Returns a URL without the credentials in its query. */
export function redactUrl(url: string): string {
  const { origin, pathname, searchParams } = new URL(url);
  const query = redactForm(searchParams);
  return `${origin}${pathname}${query === '' ? '' : `?${query}`}`;
}

/** Returns the text of a body, JSON or a form, without the credentials in it. */
export function redactBody(body: string, contentType = ''): string {
  if (/^application\/x-www-form-urlencoded\b/i.test(contentType)) return redactForm(new URLSearchParams(body));
  const value = body.startsWith('{') ? parseJson(body) : undefined;
  return value === undefined
    ? body
    : JSON.stringify(value, (name, field) => (typeof field === 'string' ? hide(name, field) : field));
}

const isSecret = (name: string): boolean => SECRETS.includes(name);
/** Signatures of presigned URLs are hidden within strings, too. */
const hide = (name: string, value: string): string =>
  isSecret(name) ? HIDDEN : value.replaceAll(/([?&]signature=)[^&"]*/g, `$1${HIDDEN}`);

function redactForm(form: URLSearchParams): string {
  return new URLSearchParams([...form].map(([name, value]) => [name, hide(name, value)])).toString();
}
