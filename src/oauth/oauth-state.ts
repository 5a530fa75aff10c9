import type { TokenEndpointResponse } from 'oauth4webapi';
import * as z from 'zod/mini';
import { OAuthError } from '../errors/oauth-errors.ts';
import type { JsonObject } from '../spec/wire-values.ts';
import { isUsableToken } from '../util/input-checks.ts';
import { isObject } from '../util/json.ts';
import { LAST_MOMENT } from '../util/retry-after.ts';

export type StoredClient = z.infer<typeof storedClient>;
const storedClient = z.object({
  issuer: z.string(),
  client_id: z.string(),
  client_secret: z.optional(z.string()),
  token_endpoint_auth_method: z.string(),
  redirect_uris: z.array(z.string()),
});

/** A sign-in between `authorize` and `callback`. `startedAt` is in milliseconds since 1970. */
export type PendingSignIn = z.infer<typeof pendingSignIn>;
const pendingSignIn = z.object({
  state: z.string(),
  verifier: z.string(),
  redirectUri: z.string(),
  resource: z.optional(z.string()),
  client: storedClient,
  startedAt: z.number(),
});

/**
 * An access token and its refresh token, with the client and the resource for which they were issued. Times are in ISO
 * 8601. `token` is empty if a header cannot contain the issued access token.
 */
export type Grant = z.infer<typeof storedGrant>;
const storedGrant = z.object({
  token: z.string(),
  expiresAt: z.optional(z.string()),
  issuedAt: z.string(),
  refreshToken: z.optional(z.string()),
  resource: z.optional(z.string()),
  client: storedClient,
});

export interface OAuthState {
  readonly grant?: Grant | undefined;
  readonly client?: StoredClient | undefined;
  readonly pending: readonly PendingSignIn[];
}

/** Decodes the `oauth` field of a stored token. Ignores parts with an invalid format. */
export function readState(value: unknown): OAuthState {
  const { grant, client, pending }: JsonObject = isObject(value) ? value : {};
  const parse = <T>(schema: z.ZodMiniType<T>, part: unknown): T | undefined =>
    schema.safeParse(part, { jitless: true }).data;
  const signIns = parse(z.array(pendingSignIn), pending) ?? [];
  return { grant: parse(storedGrant, grant), client: parse(storedClient, client), pending: signIns };
}

/** Returns the grant of a token response. Keeps the previous refresh token if the response contains none. */
export function grantOf(
  { access_token, token_type, expires_in, refresh_token }: TokenEndpointResponse,
  requestedAt: number,
  { client, resource, refreshToken }: Pick<Grant, 'client' | 'resource' | 'refreshToken'>,
): Grant {
  const expiresAt = expires_in === undefined ? undefined : Math.min(requestedAt + expires_in * 1000, LAST_MOMENT);
  return {
    token: token_type === 'bearer' && isUsableToken(access_token) ? access_token : '',
    issuedAt: new Date(requestedAt).toISOString(),
    expiresAt: expiresAt === undefined ? undefined : new Date(expiresAt).toISOString(),
    refreshToken: refresh_token ?? refreshToken,
    resource,
    client,
  };
}

/** @throws {OAuthError} if the access token cannot be sent as a bearer token (RFC 6750, section 2.1). */
export function checkUsable({ token, client }: Grant): void {
  if (token !== '') return;
  const message = `The authorization server ${client.issuer} issued an access token that cannot be sent as a bearer token.`;
  const advice = 'Ask the operator of the server to issue bearer tokens (RFC 6750).';
  throw new OAuthError(message, { error: 'invalid_response', advice });
}

/**
 * Milliseconds before the expiry of an access token at which the client refreshes it; at most a quarter of the token's
 * lifetime.
 */
const REFRESH_BEFORE_MS = 60_000;

/** Returns the milliseconds until the access token expires, or 0 without a usable token. */
export function timeLeft({ token, expiresAt }: Grant): number {
  if (token === '') return 0;
  return expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(expiresAt) - Date.now();
}

export function isRefreshDue(grant: Grant): boolean {
  const left = timeLeft(grant);
  const lifetime = left + Date.now() - Date.parse(grant.issuedAt);
  return left <= 0 || left <= Math.min(REFRESH_BEFORE_MS, lifetime / 4);
}
