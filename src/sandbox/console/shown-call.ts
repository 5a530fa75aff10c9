import { type Call, callSource, expression, sourceOf } from '../admin/call-source.ts';
import { variableName } from './curl-command.ts';
import { isSecret, redactBody, redactText } from './redact-request.ts';

export const typescriptOf = ([method, ...args]: Call): string => `${shownCall(sourceOf(method) ?? '', args)};`;

/** Returns a call as TypeScript. Replaces credentials with environment variables, and a state with a variable, because states are long. */
export function shownCall(method: string, args: readonly unknown[]): string {
  const name = method.endsWith('.changePassword') ? 'password' : '';
  return callSource(
    redactText(method),
    args.map((arg) => hide(arg, name)),
  );
}

export const shownFields = <T extends object>(fields: T): T => JSON.parse(redactBody(JSON.stringify(fields)));

function hide(value: unknown, name: string): unknown {
  // A boolean is not a secret.
  if (isSecret(name) && value !== undefined && typeof value !== 'boolean')
    return expression(`process.env.${variableName(name)}!`);
  if (value instanceof URL) return redactText(value.href);
  if (typeof value === 'string') return redactText(value);
  if (Array.isArray(value)) return value.map((item) => hide(item, name));
  if (typeof value !== 'object' || value === null || sourceOf(value) !== undefined) return value;
  if ('version' in value && 'seed' in value) return expression('state /* of sandbox.save() */');
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, hide(field, key)]));
}
