import { type Call, callSource, expression, sourceOf } from '../admin/call-source.ts';
import { isSecret, redactText } from './redact-request.ts';
import { hideInUrl, inTypeScript, variable, withoutVariables } from './snippet-values.ts';

/** Returns the TypeScript of a call, as {@link shownCall} does, as a statement. */
export const typescriptOf = ([method, ...args]: Call): string => `${shownCall(sourceOf(method) ?? '', args)};`;

/**
 * Returns a call in source code, without states, and with environment variables in place of credentials, so that it can
 * be pasted.
 */
export function shownCall(method: string, args: readonly unknown[]): string {
  const name = method.endsWith('.changePassword') ? 'password' : '';
  const shown = args.map((arg) => hide(arg, name));
  return inTypeScript(callSource(redactText(method), shown));
}

/** Returns the fields of an action without the credentials in them. */
export const shownFields = <T extends object>(fields: T): T =>
  JSON.parse(withoutVariables(JSON.stringify(hide(fields, ''))));

/**
 * Returns a value with variables in place of credentials: secret fields with their content, and credentials in
 * addresses.
 */
function hide(value: unknown, name: string): unknown {
  // Whether a field is set is not a secret.
  if (isSecret(name) && value !== undefined && typeof value !== 'boolean') return variable(name);
  if (value instanceof URL) return hideInUrl(value.href);
  if (typeof value === 'string') return hideInText(value);
  if (Array.isArray(value)) return value.map((item) => hide(item, name));
  if (typeof value !== 'object' || value === null || sourceOf(value) !== undefined) return value;
  if ('version' in value && 'seed' in value) return expression('state');
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, hide(field, key)]));
}

function hideInText(text: string): string {
  const { search = '', hash = '' } = /^https?:/i.test(text) && URL.canParse(text) ? new URL(text) : {};
  return search === '' && hash === '' ? redactText(text) : hideInUrl(text);
}
