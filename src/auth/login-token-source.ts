import { createContext } from '../client/standalone.ts';
import { ConfigurationError } from '../errors/audience-error.ts';
import { checkBaseUrl } from '../util/base-url.ts';
import { singleFlight } from '../util/concurrency.ts';
import {
  type BoundTokenSource,
  bindSource,
  type Credentials,
  type TokenContext,
  type TokenSource,
} from './token-source.ts';

/** The service a source renews at: that of a client it is given to, or the one of its own `baseUrl`. */
export interface Link {
  context(): TokenContext;
  bind(context: TokenContext): void;
}

/** A link to no client yet. */
export function createLink({ password }: Credentials, baseUrl: string | undefined): Link {
  const clients = new Set<TokenContext>();
  let own: TokenContext | undefined;
  return {
    context() {
      const live = [...clients].find((client) => !client.closed());
      if (live) return live;
      if (baseUrl !== undefined) own ??= createContext(baseUrl);
      // A closed client refuses by itself, and says so.
      const last = own ?? [...clients].at(-1);
      if (last) return last;
      throw new ConfigurationError('This token source needs `baseUrl`, or a client that it is given to as `token`.');
    },
    bind(context) {
      context.redactor.addSecret(password);
      const [known] = clients;
      // Whether http is allowed there is the client's to say.
      const service = checkBaseUrl(baseUrl ?? known?.baseUrl ?? context.baseUrl, true);
      if (service !== context.baseUrl) {
        throw new ConfigurationError(
          `One token source cannot serve two services (${service} and ${context.baseUrl}): create one for each.`,
        );
      }
      for (const client of clients) if (client.closed()) clients.delete(client);
      clients.add(context);
    },
  };
}

/** A source that clients lend their transport to. */
export function bound(link: Link, get: TokenSource['get']): BoundTokenSource {
  return { get, [bindSource]: link.bind };
}

/** A login that is shared by nobody else. */
export function soleLogin(credentials: Credentials, baseUrl?: string): TokenSource {
  const link = createLink(credentials, baseUrl);
  const shared = singleFlight<string>();
  let current: string | undefined;
  return bound(link, ({ rejected, signal }) => {
    if (current !== undefined && current !== rejected) return Promise.resolve(current);
    return shared(async () => {
      const { token } = await link.context().mint('auth.login', credentials);
      current = token;
      return token;
    }, signal);
  });
}
