import type { Credentials } from '../auth/token-source.ts';
import type { ApiPromise } from '../http/api-promise.ts';
import type { Decode } from '../http/decode-context.ts';
import type { RequestOptions } from '../http/request-options.ts';
import type { Transport } from '../http/transport.ts';
import { isObject } from '../util/json.ts';
import { exchangeInput, type IssuedToken, requestToken } from './mint.ts';

/** A token that expires a year after it was issued. */
export interface ExpiringToken extends IssuedToken {
  /** ISO 8601 with offset. */
  readonly expires_at: string;
}

/** How many tokens a revocation ended. */
export interface Revocation {
  readonly revoked: number;
}

const decodeRevocation: Decode<Revocation> = (data, context) => {
  if (!isObject(data) || typeof data.revoked !== 'number') throw context.fail('`data.revoked` is not a number');
  return { ...data, revoked: data.revoked };
};

/** The credential exchange: no bearer token goes with it ("Credential exchange"). */
export class Auth {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Issues a login token and ends the account's previous one. */
  login(credentials: Credentials, options: RequestOptions = {}): ApiPromise<IssuedToken> {
    return requestToken(this.#transport, 'auth.login', credentials, options, (issued) => issued);
  }

  /** Issues an API token; ten may be live at once. Never repeated after a doubtful failure. */
  createApiToken(credentials: Credentials, options?: RequestOptions): ApiPromise<ExpiringToken> {
    return this.#mint('auth.createApiToken', credentials, options);
  }

  /** Issues a token of scope `mcp`; ten may be live at once. */
  createMcpToken(credentials: Credentials, options?: RequestOptions): ApiPromise<ExpiringToken> {
    return this.#mint('auth.createMcpToken', credentials, options);
  }

  /** Revokes every live API token of the account. */
  revokeApiTokens(credentials: Credentials, options?: RequestOptions): ApiPromise<Revocation> {
    return this.#revoke('auth.revokeApiTokens', credentials, options);
  }

  /** Revokes every live MCP token of the account. */
  revokeMcpTokens(credentials: Credentials, options?: RequestOptions): ApiPromise<Revocation> {
    return this.#revoke('auth.revokeMcpTokens', credentials, options);
  }

  #mint(
    operation: 'auth.createApiToken' | 'auth.createMcpToken',
    credentials: Credentials,
    options: RequestOptions = {},
  ): ApiPromise<ExpiringToken> {
    return requestToken(this.#transport, operation, credentials, options, (token, context) => {
      if (token.expires_at === undefined) throw context.fail('`data.expires_at` is missing');
      return { ...token, expires_at: token.expires_at };
    });
  }

  #revoke(
    operation: 'auth.revokeApiTokens' | 'auth.revokeMcpTokens',
    credentials: Credentials,
    options: RequestOptions = {},
  ): ApiPromise<Revocation> {
    return this.#transport.call(operation, {
      ...exchangeInput(this.#transport, credentials),
      decode: decodeRevocation,
      options,
    });
  }
}
