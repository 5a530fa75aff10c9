import type { StoredToken } from '../auth/token-source.ts';
import { isObject } from '../util/json.ts';

/** A client as it was registered at one authorization server. */
export interface ClientRecord {
  readonly issuer: string;
  readonly client_id: string;
  readonly client_secret?: string;
  /** How it authenticates at the token endpoint. */
  readonly token_endpoint_auth_method: string;
  readonly redirect_uris: readonly string[];
}

/** A sign-in under way: what its callback needs. */
export interface PendingSignIn {
  readonly state: string;
  readonly verifier: string;
  readonly redirectUri: string;
  readonly resource?: string;
  readonly scope?: string;
  readonly client: ClientRecord;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
}

/** A pair of tokens, and where it is renewed. */
export interface Grant {
  readonly token: string;
  /** ISO 8601; absent where the server did not tell. */
  readonly expiresAt?: string;
  readonly issuedAt: string;
  readonly refreshToken?: string;
  readonly resource?: string;
  readonly client: ClientRecord;
}

/** All that is kept for one user. */
export interface OAuthRecord {
  readonly grant?: Grant;
  readonly client?: ClientRecord;
  readonly pending: readonly PendingSignIn[];
}

type Shape = Readonly<Record<string, 'string' | 'number' | 'string?'>>;

function has(value: unknown, shape: Shape): value is Readonly<Record<string, unknown>> {
  if (!isObject(value)) return false;
  return Object.entries(shape).every(([name, type]) => {
    if (type === 'string?') return value[name] === undefined || typeof value[name] === 'string';
    return typeof value[name] === type;
  });
}

const isClient = (value: unknown): value is ClientRecord =>
  has(value, {
    issuer: 'string',
    client_id: 'string',
    client_secret: 'string?',
    token_endpoint_auth_method: 'string',
  }) && Array.isArray(value.redirect_uris);

const isPending = (value: unknown): value is PendingSignIn =>
  has(value, {
    state: 'string',
    verifier: 'string',
    redirectUri: 'string',
    resource: 'string?',
    scope: 'string?',
    startedAt: 'number',
  }) && isClient(value.client);

const isGrant = (value: unknown): value is Grant =>
  has(value, {
    token: 'string',
    expiresAt: 'string?',
    issuedAt: 'string',
    refreshToken: 'string?',
    resource: 'string?',
  }) && isClient(value.client);

/** Reads what a store holds; parts that are not as this package writes them are left out. */
export function readRecord(stored: StoredToken | undefined): OAuthRecord {
  const oauth = stored?.oauth;
  if (!isObject(oauth)) return { pending: [] };
  const { grant, client, pending } = oauth;
  return {
    ...(isGrant(grant) && { grant }),
    ...(isClient(client) && { client }),
    pending: Array.isArray(pending) ? pending.filter(isPending) : [],
  };
}

/** What a store is to hold; `token` and `expiresAt` are those of the grant, for whoever looks into it. */
export function writeRecord(record: OAuthRecord, service: string): StoredToken {
  const { token = '', expiresAt } = record.grant ?? {};
  return { token, ...(expiresAt !== undefined && { expiresAt }), oauth: { service, ...record } };
}
