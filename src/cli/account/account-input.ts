import { API } from '../../spec/operations.ts';
import { isUsableToken } from '../../util/input-checks.ts';
import { isThisMachine } from '../../util/loopback.ts';
import { usageError } from '../terminal/exit-codes.ts';

/** Checks the address of the service. The error shows at most the host, because the address may contain a password. */
export function checkAddress(address: string, allowInsecure = false): void {
  const problem = problemOf(URL.parse(address), allowInsecure);
  if (problem !== undefined) throw usageError(`The address of the service (--base-url) ${problem}`);
}

function problemOf(url: URL | null, allowInsecure: boolean): string | undefined {
  if (!url || !/^https?:$/.test(url.protocol)) return 'must be an http(s) URL, such as https://api.example.com.';
  if (url.username || url.password) return 'must not contain a user name or a password.';
  if (url.search || url.hash) return 'must not contain a query or a fragment.';
  if (url.protocol === 'http:' && !isThisMachine(url) && !allowInsecure)
    return `uses http on ${url.hostname}, where others could read the token. Use https, or pass --allow-insecure.`;
  if (withoutTrailingSlashes(url.pathname).endsWith(API))
    return `must not end with ${API}, because every request path already begins with ${API}.`;
  return undefined;
}

/** Returns whether two addresses are equal, apart from a trailing slash. */
export function isSameAddress(one: string, other: string): boolean {
  const normalize = (url: string): string => withoutTrailingSlashes(URL.parse(url)?.href ?? url);
  return normalize(one) === normalize(other);
}

const withoutTrailingSlashes = (text: string): string => text.replace(/\/+$/, '');

/**
 * Checks that a header can contain a token.
 *
 * @param source Source of the token, such as a variable, which the error names instead of the token.
 */
export function checkToken(token: string, source: string): void {
  if (isUsableToken(token)) return;
  throw usageError(
    `The token in ${source} must be visible ASCII without white space. Remove "Bearer ", spaces and line breaks from it.`,
  );
}
