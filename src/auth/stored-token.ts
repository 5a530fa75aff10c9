import { isObject, parseJson } from '../util/json.ts';
import type { StoredToken } from './token-source.ts';

/** The token in a text that a store has kept; `undefined` for any other text. */
export function readStoredToken(text: string): StoredToken | undefined {
  const value = parseJson(text);
  return isStoredToken(value) ? value : undefined;
}

function isStoredToken(value: unknown): value is StoredToken {
  if (!isObject(value) || typeof value.token !== 'string') return false;
  return value.expiresAt === undefined || typeof value.expiresAt === 'string';
}
