import { createServer, type RequestListener, type Server } from 'node:http';
import { ConfigurationError } from '../errors/audience-error.ts';
import { messageOf } from '../util/callbacks.ts';
import { isLoopbackRedirect } from '../util/loopback.ts';
import { codeOf } from './file-system.ts';

/** A server for the browser of this machine. */
export interface LoopbackServer {
  /** The redirect URI with the port that the server listens on. */
  readonly address: string;
  /** Stops listening and closes every connection. */
  close(): Promise<void>;
}

/** Parses a redirect URI that this process can listen on. */
export function readLoopbackUri(redirectUri: string): URL {
  const url = URL.canParse(redirectUri) ? new URL(redirectUri) : undefined;
  if (url?.protocol === 'http:' && isLoopbackRedirect(url)) return url;
  throw new ConfigurationError(
    `\`redirectUri\` must be an http address of this machine for \`signInWithBrowser\`, e.g. "http://127.0.0.1/callback". It is ${redirectUri}.`,
  );
}

/** Listens at a loopback address; without a port in it, on a free one. */
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

/** Browsers try both addresses of `localhost`, so no other program may listen on the second one. */
function hostsOf({ hostname }: URL): readonly string[] {
  if (hostname === 'localhost') return ['127.0.0.1', '::1'];
  return [hostname.replace(/^\[(.*)\]$/, '$1')];
}

/** Codes of a machine that does not have the address, for example without IPv6. */
const NO_SUCH_ADDRESS: ReadonlySet<unknown> = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT']);

/** Returns whether the server listens; only an `isOptional` address may be missing. */
async function listen(server: Server, host: string, port: number, isOptional: boolean): Promise<boolean> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      // Without `exclusive`, workers of a cluster share the port, and any of them would get the request.
      server.listen({ host, port, exclusive: true }, resolve);
    });
  } catch (error) {
    if (isOptional && NO_SUCH_ADDRESS.has(codeOf(error))) return false;
    throw listenError(host, port, error);
  }
  // After a connection that could not be accepted, the browser retries.
  server.on('error', () => {});
  return true;
}

function listenError(host: string, port: number, cause: unknown): ConfigurationError {
  const isInUse = codeOf(cause) === 'EADDRINUSE';
  const problem = isInUse ? `Port ${port} of ${host} is in use` : `Listening on ${host} failed (${messageOf(cause)})`;
  const advice = 'Use a `redirectUri` without a port, e.g. "http://127.0.0.1/callback", to listen on a free one.';
  return new ConfigurationError(`${problem}, so \`signInWithBrowser\` cannot receive the sign-in. ${advice}`, {
    cause,
  });
}

async function stop(servers: readonly Server[]): Promise<void> {
  const stopped = servers.map((server) => server[Symbol.asyncDispose]());
  for (const server of servers) server.closeAllConnections();
  await Promise.all(stopped);
}
