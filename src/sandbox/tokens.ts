import type { Service } from './service.ts';
import { ACCESS_TOKEN_LIFETIME_MS, REFRESH_TOKEN_LIFETIME_MS, TOKEN_LIFETIME_MS } from './service-limits.ts';
import type { AccountRecord, Grant, OAuthClient, Token, TokenKind } from './state.ts';

/** Returns the valid tokens of an account, of one kind or of all kinds. */
export function listTokens({ state, clock }: Service, account: AccountRecord, kind?: Token['kind']): Token[] {
  const now = clock.now();
  return [...state.tokens.values()].filter(
    (token) => token.account === account && (kind === undefined || token.kind === kind) && token.expiresAt > now,
  );
}

export function findToken({ state, clock }: Service, value: string): Token | undefined {
  const token = state.tokens.get(value);
  return token && token.expiresAt > clock.now() ? token : undefined;
}

/** Issues a token of the credential exchange. A login revokes the account's previous login token. */
export function issueToken(service: Service, account: AccountRecord, kind: TokenKind): Token {
  if (kind === 'login') revokeTokens(service, account, 'login');
  return addToken(service, account, kind, kind === 'login' ? Number.POSITIVE_INFINITY : TOKEN_LIFETIME_MS);
}

/** Revokes the tokens of an account, of one kind or of all kinds. Returns the number of valid tokens among them. */
export function revokeTokens(service: Service, account: AccountRecord, kind?: TokenKind): number {
  const live = listTokens(service, account, kind);
  for (const token of live) service.state.tokens.delete(token.value);
  return live.length;
}

function addToken({ state, random, clock }: Service, account: AccountRecord, kind: Token['kind'], lifetime: number) {
  const issuedAt = clock.now();
  for (const old of state.tokens.values()) if (old.expiresAt <= issuedAt) state.tokens.delete(old.value);
  const id = state.nextId++;
  const value = `${id}|${random.string(40)}`;
  const token: Token = { id, value, kind, account, issuedAt, expiresAt: issuedAt + lifetime, buckets: new Map() };
  state.tokens.set(value, token);
  return token;
}

export function listGrants({ state, clock }: Service, account: AccountRecord): Grant[] {
  const now = clock.now();
  return [...state.grants.values()].filter((grant) => grant.account === account && grant.refreshExpiresAt > now);
}

export function findGrant({ state, clock }: Service, refresh: string): Grant | undefined {
  const grant = state.grants.get(refresh);
  return grant && grant.refreshExpiresAt > clock.now() ? grant : undefined;
}

/** Issues a pair of OAuth tokens. `id` is the id of the connection, by default of a new connection. */
export function issueGrant(
  service: Service,
  client: OAuthClient,
  account: AccountRecord,
  id = service.state.nextId++,
): Grant {
  const { state, clock, random } = service;
  const now = clock.now();
  for (const old of state.grants.values()) if (old.refreshExpiresAt <= now) state.grants.delete(old.refresh);
  const access = addToken(service, account, 'oauth', ACCESS_TOKEN_LIFETIME_MS);
  const refreshExpiresAt = now + REFRESH_TOKEN_LIFETIME_MS;
  const grant: Grant = { id, client, account, access, refresh: `rt_${random.string(48)}`, refreshExpiresAt };
  state.grants.set(grant.refresh, grant);
  return grant;
}

export function revokeGrant({ state }: Service, { access, refresh }: Grant): void {
  state.grants.delete(refresh);
  state.tokens.delete(access.value);
}
