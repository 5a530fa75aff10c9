import type { OperationName } from '../../spec/operations.ts';
import { refusePromises } from '../../util/input-checks.ts';
import { isObject } from '../../util/json.ts';
import type { Credentials, StoredToken, TokenOperation } from '../auth/token-source.ts';
import type { RequestOptions } from '../http/request-options.ts';
import type { ApiPromise, Transport, TransportInput } from '../http/transport.ts';
import { credentialsSchema } from '../schemas/credentials.ts';
import type { Decode, DecodeContext } from '../schemas/decode.ts';
import { warnOfMisspeltFields } from './misspelt-fields.ts';

/** A new login token. */
export interface IssuedToken {
  /** The bearer token, which is a secret. */
  readonly token: string;
}

/** A token that expires a year after it was issued. */
export interface ExpiringToken extends IssuedToken {
  /** Expiry in ISO 8601 with offset. */
  readonly expires_at: string;
}

/** Result of a revocation. */
export interface Revocation {
  /** Number of tokens that were active before the revocation. */
  readonly revoked: number;
}

/** The credential exchange, whose requests contain no bearer token (specification, "Credential exchange"). */
export class Auth {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Issues a login token, which revokes the account's previous login token. */
  login(credentials: Credentials, options?: RequestOptions): ApiPromise<IssuedToken> {
    return requestToken(this.#transport, 'auth.login', credentials, options, (issued) => issued);
  }

  /**
   * Issues an API token. An account can have ten valid API tokens. The client retries the request only if the service
   * certainly did not issue a token.
   */
  createApiToken(credentials: Credentials, options?: RequestOptions): ApiPromise<ExpiringToken> {
    return requestToken(this.#transport, 'auth.createApiToken', credentials, options, withExpiry);
  }

  /**
   * Issues a token of scope `mcp`. An account can have ten valid MCP tokens. The client retries the request only if the
   * service certainly did not issue a token.
   */
  createMcpToken(credentials: Credentials, options?: RequestOptions): ApiPromise<ExpiringToken> {
    return requestToken(this.#transport, 'auth.createMcpToken', credentials, options, withExpiry);
  }

  /** Revokes all valid API tokens of the account. */
  revokeApiTokens(credentials: Credentials, options?: RequestOptions): ApiPromise<Revocation> {
    return this.#revoke('auth.revokeApiTokens', credentials, options);
  }

  /** Revokes all valid MCP tokens of the account. */
  revokeMcpTokens(credentials: Credentials, options?: RequestOptions): ApiPromise<Revocation> {
    return this.#revoke('auth.revokeMcpTokens', credentials, options);
  }

  #revoke(
    operation: 'auth.revokeApiTokens' | 'auth.revokeMcpTokens',
    credentials: Credentials,
    options: RequestOptions | undefined,
  ): ApiPromise<Revocation> {
    return this.#transport.call(operation, {
      ...credentialInput(this.#transport, operation, credentials),
      decode: decodeRevocation,
      options,
    });
  }
}

/** Exchanges credentials for a token, and returns it in the form that token stores use. */
export async function issueToken(
  transport: Transport,
  operation: TokenOperation,
  credentials: Credentials,
): Promise<StoredToken> {
  const { token, expires_at } = await requestToken(transport, operation, credentials, undefined, (issued) => issued);
  return { token, ...(expires_at !== undefined && { expiresAt: expires_at }) };
}

/** A new token. Login tokens have no `expires_at`. */
type NewToken = IssuedToken & Partial<ExpiringToken>;

function requestToken<T>(
  transport: Transport,
  operation: TokenOperation,
  credentials: Credentials,
  options: RequestOptions | undefined,
  narrow: (token: NewToken, context: DecodeContext) => T,
): ApiPromise<T> {
  return transport.call(operation, {
    ...credentialInput(transport, operation, credentials),
    decode(data, context) {
      const issued = decodeToken(data, context);
      transport.settings.redactor.addRecent(issued.token);
      return narrow(issued, context);
    },
    options,
  });
}

/**
 * Matches the rough form of an email address: local part, `@`, and a host with or without dots. The service checks the
 * details.
 */
const EMAIL = /^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)*$/;

/** Returns body, secrets and validation of a credential exchange. */
function credentialInput(
  transport: Transport,
  operation: OperationName,
  credentials: Credentials,
): Pick<TransportInput<unknown>, 'body' | 'validate' | 'secrets'> {
  const { email, password }: Partial<Credentials> = credentials ?? {};
  transport.settings.redactor.addRecent(password);
  return {
    body: { email, password },
    secrets: [password],
    validate: () => {
      refusePromises('credentials', credentials);
      warnOfMisspeltFields(operation, credentials, credentialsSchema, transport);
      return {
        ...(!(typeof email === 'string' && EMAIL.test(email)) && { email: ['must be a valid email address.'] }),
        ...(!(typeof password === 'string' && password !== '') && { password: ['must be a non-empty string.'] }),
      };
    },
  };
}

function decodeToken(data: unknown, context: DecodeContext): NewToken {
  if (!isObject(data) || typeof data.token !== 'string' || data.token === '') {
    throw context.fail('`data.token` is empty or not a string');
  }
  const { token, expires_at } = data;
  if (expires_at !== undefined && typeof expires_at !== 'string') {
    throw context.fail('`data.expires_at` is not a string');
  }
  return { ...data, token, ...(expires_at !== undefined && { expires_at }) };
}

function withExpiry({ expires_at, ...token }: NewToken, context: DecodeContext): ExpiringToken {
  if (expires_at === undefined) throw context.fail('`data.expires_at` is missing');
  return { ...token, expires_at };
}

const decodeRevocation: Decode<Revocation> = (data, context) => {
  if (!isObject(data) || typeof data.revoked !== 'number') throw context.fail('`data.revoked` is not a number');
  return { ...data, revoked: data.revoked };
};
