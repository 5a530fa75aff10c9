import { ConfigurationError } from '../errors/audience-error.ts';

const LOOPBACK: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/** Whether an address leads to this machine. */
export function isLoopback({ hostname }: URL): boolean {
  return LOOPBACK.includes(hostname);
}

/** The rule of the specification ("OAuth 2.1", rule 3) that a redirect URI breaks, if any. */
function brokenRule(uri: unknown): string | undefined {
  if (typeof uri !== 'string' || !URL.canParse(uri)) return 'it must be absolute';
  if (uri.includes('*')) return 'it must hold no wildcard';
  if (uri.includes('#')) return 'it must hold no fragment';
  const url = new URL(uri);
  if (url.username !== '' || url.password !== '' || /^\w+:\/\/[^/?]*@/.test(uri)) return 'it must hold no userinfo';
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url))) {
    return 'it must be https; http is for this machine alone (localhost, 127.0.0.1, [::1])';
  }
  // The service compares texts: what a parser mends would never be equal.
  if (url.href !== uri && url.href !== `${uri}/`) return `it must be exact, like ${url.href}`;
  return undefined;
}

/**
 * Checks a redirect URI by the rules of the service. Whether a host is approved, the service alone knows.
 *
 * @throws {ConfigurationError} naming the rule that it breaks.
 */
export function checkRedirectUri(uri: unknown): string {
  const problem = brokenRule(uri);
  if (problem === undefined && typeof uri === 'string') return uri;
  throw new ConfigurationError(
    `\`redirectUri\` is refused: ${problem}. Redirect URIs are exact absolute https URIs on a host that the service has approved, without wildcard, fragment or userinfo; addresses of this machine may use http on any port.`,
  );
}
