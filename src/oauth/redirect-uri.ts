import { ConfigurationError } from '../errors/audience-error.ts';
import { formatUrl } from '../util/input-checks.ts';
import { isLoopbackRedirect, LOOPBACK_HOSTS } from '../util/loopback.ts';

/** Returns the rule for redirect URIs that a URI violates, if any (specification, "OAuth 2.1", rule 3). */
function brokenRule(uri: unknown): string | undefined {
  if (typeof uri !== 'string' || !URL.canParse(uri)) return `must be an absolute URL, not ${formatUrl(uri)}`;
  if (uri.includes('*')) return 'must not contain a wildcard';
  if (uri.includes('#')) return 'must not contain a fragment';
  const url = new URL(uri);
  if (url.username !== '' || url.password !== '' || /^\w+:\/\/[^/?]*@/.test(uri)) return 'must not contain userinfo';
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopbackRedirect(url))) {
    return `must use https; only loopback hosts (${LOOPBACK_HOSTS.join(', ')}) may use http`;
  }
  // The service compares strings, so a URI that browsers normalize would never match.
  if (url.href !== uri && url.href !== `${uri}/`) return `must be exact, like ${url.href}`;
  return undefined;
}

/**
 * Checks a redirect URI, and returns it. Only the service can check whether its host is approved.
 *
 * @throws {ConfigurationError} with the violated rule.
 */
export function checkRedirectUri(uri: unknown): string {
  const problem = brokenRule(uri);
  if (problem === undefined && typeof uri === 'string') return uri;
  throw new ConfigurationError(`\`redirectUri\` ${problem}.`, {
    advice: 'Use an exact https URI on a host that the service has approved, or http on any port of a loopback host.',
  });
}
