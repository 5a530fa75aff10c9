import type { Service } from './service.ts';
import { ACCESS_TOKEN_LIFETIME, REFRESH_TOKEN_LIFETIME } from './service-limits.ts';
import type { AccountRecord, Grant, OAuthClient } from './state.ts';
import { addToken } from './tokens.ts';

/** Live OAuth connections of an account. */
export function grantsOf({ state, clock }: Service, account: AccountRecord): Grant[] {
  const now = clock.now();
  return [...state.grants.values()].filter((grant) => grant.account === account && grant.refreshExpiresAt > now);
}

/** A new pair of tokens: access for an hour, refresh for 60 days ("Authentication"); `id` is that of a renewed connection. */
export function issueGrant(
  service: Service,
  client: OAuthClient,
  account: AccountRecord,
  id = service.state.nextId++,
): Grant {
  const { state, clock, random } = service;
  const now = clock.now();
  for (const old of state.grants.values()) if (old.refreshExpiresAt <= now) state.grants.delete(old.refresh);
  const access = addToken(service, account, 'oauth', ACCESS_TOKEN_LIFETIME);
  const refreshExpiresAt = now + REFRESH_TOKEN_LIFETIME;
  const grant: Grant = { id, client, account, access, refresh: `rt_${random.text(48)}`, refreshExpiresAt };
  state.grants.set(grant.refresh, grant);
  return grant;
}

/** Ends a connection: the access token is revoked with its refresh token. */
export function revokeGrant({ state }: Service, { access, refresh }: Grant): void {
  state.grants.delete(refresh);
  state.tokens.delete(access.value);
}

/** The live connection of a refresh token. */
export function findGrant({ state, clock }: Service, refresh: string): Grant | undefined {
  const grant = state.grants.get(refresh);
  return grant && grant.refreshExpiresAt > clock.now() ? grant : undefined;
}
