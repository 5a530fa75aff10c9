import type { TokenEndpointResponse } from 'oauth4webapi';
import { isUsableToken } from '../auth/token-source.ts';
import { OAuthError } from '../errors/oauth-errors.ts';
import { LAST_MOMENT } from '../util/retry-after.ts';
import type { Grant } from './record.ts';

/** An access token is renewed this long before it expires, or in the last quarter of a shorter life. Milliseconds. */
const RENEW_BEFORE = 60_000;

/** A grant made of what the token endpoint answered. */
export function grantOf(
  answer: TokenEndpointResponse,
  askedAt: number,
  parts: Pick<Grant, 'client' | 'resource' | 'refreshToken'>,
): Grant {
  const refreshToken = answer.refresh_token ?? parts.refreshToken;
  return {
    token: answer.access_token,
    issuedAt: new Date(askedAt).toISOString(),
    ...(answer.expires_in !== undefined && {
      // An absurd lifetime ends where dates do.
      expiresAt: new Date(Math.min(askedAt + answer.expires_in * 1000, LAST_MOMENT)).toISOString(),
    }),
    ...(refreshToken !== undefined && { refreshToken }),
    ...(parts.resource !== undefined && { resource: parts.resource }),
    client: parts.client,
  };
}

/** Milliseconds until the access token ends. */
export function timeLeft({ expiresAt }: Grant): number {
  return expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(expiresAt) - Date.now();
}

/** Whether the access token is to be renewed. */
export function nearsEnd(grant: Grant): boolean {
  const left = timeLeft(grant);
  const life = left + Date.now() - Date.parse(grant.issuedAt);
  return left <= Math.min(RENEW_BEFORE, life / 4);
}

/**
 * Refuses tokens that no bearer header can carry (RFC 6750), and those without a scope that was asked for.
 *
 * @throws {OAuthError}
 */
export function checkTokens(tokens: TokenEndpointResponse, scope?: string): void {
  if (tokens.token_type !== 'bearer' || !isUsableToken(tokens.access_token)) {
    const message = 'The server has issued a token that no bearer header can carry.';
    throw new OAuthError(message, { error: 'invalid_response' });
  }
  const granted = tokens.scope?.split(' ');
  const missing = scope?.split(' ').filter((one) => granted && !granted.includes(one)) ?? [];
  if (missing.length === 0) return;
  const message = `The server has granted "${tokens.scope}", without ${missing.join(' ')}: the tokens would be refused.`;
  throw new OAuthError(message, { error: 'invalid_scope' });
}
