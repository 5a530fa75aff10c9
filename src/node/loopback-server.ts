import { createServer, type RequestListener, type Server } from 'node:http';
import { ConfigurationError } from '../errors/audience-error.ts';
import { messageOf } from '../util/callbacks.ts';
import { formatUrl } from '../util/input-checks.ts';
import { isLoopbackRedirect } from '../util/loopback.ts';
import { codeOf } from './file-system.ts';

/** A loopback server that receives the browser's redirect. */
export interface LoopbackServer {
  /** The redirect URI with the port of the server. */
  readonly address: string;
  /** Stops listening and closes every connection. */
  close(): Promise<void>;
}

/** Parses a redirect URI. Throws if the URI is not an http URL on a loopback host. */
export function readLoopbackUri(redirectUri: string): URL {
  const url = URL.canParse(redirectUri) ? new URL(redirectUri) : undefined;
  if (url?.protocol === 'http:' && isLoopbackRedirect(url)) return url;
  throw new ConfigurationError(
    `\`redirectUri\` must be an http URL on a loopback host for \`signInWithBrowser\`, e.g. "http://127.0.0.1/callback", not ${formatUrl(redirectUri)}.`,
  );
}

/** Listens on the host and port of a loopback URL. Uses a free port if the URL has no port. */
export async function listenOnLoopback(url: URL, listener: RequestListener): Promise<LoopbackServer> {
  const servers: Server[] = [];
  const address = new URL(url);
  try {
    for (const host of hostsOf(url)) {
      const server = createServer(listener);
      if (!(await listen(server, host, Number(address.port), servers.length > 0))) continue;
      servers.push(server);
      address.port = String(Object(server.address()).port);
    }
  } catch (error) {
    await stop(servers);
    throw error;
  }
  return { address: address.href, close: () => stop(servers) };
}

/**
 * Returns the addresses to listen on. For `localhost`, these are both loopback addresses, because browsers try both,
 * and no other program may receive the callback.
 */
function hostsOf({ hostname }: URL): readonly string[] {
  if (hostname === 'localhost') return ['127.0.0.1', '::1'];
  return [hostname.replace(/^\[(.*)\]$/, '$1')];
}

/** Error codes for an address that this machine does not have, for example without IPv6. */
const NO_SUCH_ADDRESS: ReadonlySet<unknown> = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT']);

/**
 * Listens on an address. Returns `false` if the address is optional and this machine does not have it. Throws if
 * listening fails for another reason.
 */
async function listen(server: Server, host: string, port: number, isOptional: boolean): Promise<boolean> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      // Without `exclusive`, the workers of a cluster would share the port, and another worker could receive the
      // request.
      server.listen({ host, port, exclusive: true }, resolve);
    });
  } catch (error) {
    if (isOptional && NO_SUCH_ADDRESS.has(codeOf(error))) return false;
    throw listenError(host, port, error);
  }
  // Ignore later errors, which are about single connections.
  server.on('error', () => {});
  return true;
}

function listenError(host: string, port: number, cause: unknown): ConfigurationError {
  const isInUse = codeOf(cause) === 'EADDRINUSE';
  const problem = isInUse
    ? `Port ${port} on ${host} is already in use`
    : `Listening on ${host} failed (${messageOf(cause)})`;
  const advice = 'Use a `redirectUri` without a port, e.g. "http://127.0.0.1/callback", to listen on a free port.';
  return new ConfigurationError(`${problem}, so \`signInWithBrowser\` cannot receive the redirect of the browser.`, {
    cause,
    advice,
  });
}

async function stop(servers: readonly Server[]): Promise<void> {
  const stopped = servers.map((server) => server[Symbol.asyncDispose]());
  for (const server of servers) server.closeAllConnections();
  await Promise.all(stopped);
}
