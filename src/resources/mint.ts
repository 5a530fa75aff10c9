import type { Credentials, Mint, StoredToken } from '../auth/token-source.ts';
import type { ApiPromise } from '../http/api-promise.ts';
import type { DecodeContext } from '../http/decode-context.ts';
import type { RequestOptions } from '../http/request-options.ts';
import type { CallInput, Transport } from '../http/transport.ts';
import { isObject } from '../util/json.ts';

/** A fresh token as the credential exchange answers it. */
export interface IssuedToken {
  readonly token: string;
  /** ISO 8601 with offset; login tokens have none. */
  readonly expires_at?: string;
}

/** One address: something, `@`, a host with or without dots; the service rules on the rest. */
const EMAIL = /^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)*$/;

/** Returns body and check of a credential exchange. */
export function exchangeInput(
  transport: Transport,
  credentials: Credentials,
): Pick<CallInput<unknown>, 'body' | 'invalid' | 'secrets'> {
  const { email, password }: Partial<Credentials> = credentials ?? {};
  transport.settings.redactor.addRecent(password);
  return {
    body: { email, password },
    secrets: [password],
    invalid: () => ({
      ...(!(typeof email === 'string' && EMAIL.test(email)) && { email: ['must be a valid email address.'] }),
      ...(!(typeof password === 'string' && password !== '') && { password: ['must not be empty.'] }),
    }),
  };
}

function decodeToken(data: unknown, context: DecodeContext): IssuedToken {
  if (!isObject(data) || typeof data.token !== 'string' || data.token === '') {
    throw context.fail('`data.token` is not a text');
  }
  const { token, expires_at } = data;
  if (expires_at !== undefined && typeof expires_at !== 'string') {
    throw context.fail('`data.expires_at` is not a text');
  }
  return { ...data, token, ...(expires_at !== undefined && { expires_at }) };
}

/** Exchanges credentials for a token; no bearer goes with it. */
export function requestToken<T>(
  transport: Transport,
  operation: Mint,
  credentials: Credentials,
  options: RequestOptions,
  narrow: (token: IssuedToken, context: DecodeContext) => T,
): ApiPromise<T> {
  return transport.call(operation, {
    ...exchangeInput(transport, credentials),
    decode(data, context) {
      const issued = decodeToken(data, context);
      transport.settings.redactor.addRecent(issued.token);
      return narrow(issued, context);
    },
    options,
  });
}

/** The form in which sources and stores keep an issued token. */
export async function mintToken(transport: Transport, operation: Mint, credentials: Credentials): Promise<StoredToken> {
  const { token, expires_at } = await requestToken(transport, operation, credentials, {}, (issued) => issued);
  return { token, ...(expires_at !== undefined && { expiresAt: expires_at }) };
}
