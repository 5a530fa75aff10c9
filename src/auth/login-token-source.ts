import { singleFlight } from '../util/concurrency.ts';
import type { Credentials, TokenContext, TokenSource } from './token-source.ts';

/** Creates a source of a login token that is kept in memory: each renewal is a new login. */
export function loginTokenSource(
  credentials: Credentials,
  contextFor: (client: TokenContext | undefined) => TokenContext,
): TokenSource {
  const share = singleFlight<string>();
  let current: string | undefined;
  return {
    async get({ rejected, signal, context }) {
      const issuer = contextFor(context);
      if (current !== undefined && current !== rejected) return current;
      return share(async () => {
        const { token } = await issuer.issueToken('auth.login', credentials);
        current = token;
        return token;
      }, signal);
    },
  };
}
