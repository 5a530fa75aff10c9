import type { Service } from './service.ts';
import { TOKEN_LIFETIME } from './service-limits.ts';
import type { AccountRecord, Token, TokenKind } from './state.ts';

/** Live tokens of an account, of one kind or of all. */
export function tokensOf({ state, clock }: Service, account: AccountRecord, kind?: Token['kind']): Token[] {
  const now = clock.now();
  return [...state.tokens.values()].filter(
    (token) => token.account === account && (kind === undefined || token.kind === kind) && token.expiresAt > now,
  );
}

/** Ends tokens of an account; returns how many were live. */
export function revokeTokens(service: Service, account: AccountRecord, kind?: TokenKind): number {
  const live = tokensOf(service, account, kind);
  for (const token of live) service.state.tokens.delete(token.value);
  return live.length;
}

/** Issues a token; a login ends the account's previous one. */
export function issueToken(service: Service, account: AccountRecord, kind: TokenKind): Token {
  if (kind === 'login') revokeTokens(service, account, 'login');
  return addToken(service, account, kind, kind === 'login' ? Number.POSITIVE_INFINITY : TOKEN_LIFETIME);
}

/** A new token; what has expired is forgotten meanwhile. */
export function addToken(service: Service, account: AccountRecord, kind: Token['kind'], lifetime: number): Token {
  const { state, random, clock } = service;
  const issuedAt = clock.now();
  for (const old of state.tokens.values()) if (old.expiresAt <= issuedAt) state.tokens.delete(old.value);
  const id = state.nextId++;
  const value = `${id}|${random.text(40)}`;
  const token: Token = { id, value, kind, account, issuedAt, expiresAt: issuedAt + lifetime, buckets: new Map() };
  state.tokens.set(value, token);
  return token;
}

/** The live token of a value. */
export function findToken({ state, clock }: Service, value: string): Token | undefined {
  const token = state.tokens.get(value);
  return token && token.expiresAt > clock.now() ? token : undefined;
}
