import { ConfigurationError } from '../errors/audience-error.ts';
import { API } from '../spec/operations.ts';
import { formatUrl } from './input-checks.ts';
import { isThisMachine } from './loopback.ts';

/** Returns a URL or path without trailing slashes. A regular expression would take quadratic time for many slashes. */
export function withoutTrailingSlashes(url: string): string {
  let end = url.length;
  while (url[end - 1] === '/') end--;
  return url.slice(0, end);
}

/** Returns the URL of the service from the option or the environment, or `undefined`. */
export function configuredBaseUrl(baseUrl: string | undefined): string | undefined {
  return baseUrl === undefined ? globalThis.process?.env?.AUDIENCE_BASE_URL || undefined : String(baseUrl);
}

/**
 * Checks the URL of the service, and returns it without trailing slashes.
 *
 * @param baseUrl URL of the service. Defaults to the environment variable AUDIENCE_BASE_URL.
 * @param allowInsecure Also allows `http:` for other machines.
 * @throws {ConfigurationError} for a missing or invalid URL.
 */
export function checkBaseUrl(baseUrl: string | undefined, allowInsecure: boolean): string {
  const value = configuredBaseUrl(baseUrl);
  if (value === undefined) {
    throw new ConfigurationError('`baseUrl` is missing.', {
      advice: 'Pass `baseUrl`, or set AUDIENCE_BASE_URL, e.g. to "https://api.example.com".',
    });
  }
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new ConfigurationError(
      `\`baseUrl\` must be an http(s) URL, e.g. "https://api.example.com", not ${formatUrl(value)}.`,
    );
  }
  if (url.username || url.password || url.search || url.hash) {
    throw new ConfigurationError('`baseUrl` must be an origin and a path, without user, query or fragment.', {
      advice: `Use "${url.origin}${url.pathname}".`,
    });
  }
  if (url.protocol === 'http:' && !isThisMachine(url) && !allowInsecure) {
    throw new ConfigurationError(`\`baseUrl\` uses http on ${url.hostname}, where others could read the token.`, {
      advice: 'Use https, or set `allowInsecure: true`.',
    });
  }
  const path = withoutTrailingSlashes(url.pathname);
  if (path.endsWith(API)) {
    throw new ConfigurationError(
      `\`baseUrl\` must not end with ${API}, because every request path already begins with ${API}.`,
      { advice: `Use "${url.origin}${path.slice(0, -API.length)}".` },
    );
  }
  return `${url.origin}${path}`;
}
