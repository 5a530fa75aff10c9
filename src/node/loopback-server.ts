import { createServer, type RequestListener, type Server } from 'node:http';
import { ConfigurationError } from '../errors/audience-error.ts';
import { isLoopback } from '../oauth/redirect-uri.ts';

/** A server for the browser of this machine. */
export interface LoopbackServer {
  /** The redirect URI with the port that it listens on. */
  readonly address: string;
  /** Stops listening and drops every connection. */
  close(): Promise<void>;
}

/** Reads a redirect URI that this process can listen on. */
export function readLoopbackUri(redirectUri: string): URL {
  const url = URL.canParse(redirectUri) ? new URL(redirectUri) : undefined;
  if (url?.protocol === 'http:' && isLoopback(url)) return url;
  throw new ConfigurationError(
    `\`redirectUri\` is ${redirectUri}, and \`signInWithBrowser\` listens on this machine: give \`createOAuthClient\` an http address of it, such as \`http://127.0.0.1/callback\`.`,
  );
}

/** Listens at a loopback address; without a port in it, on a free one. */
export async function listenOnLoopback(url: URL, listener: RequestListener): Promise<LoopbackServer> {
  const servers: Server[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(servers.map(stop));
  };
  let port = Number(url.port);
  try {
    for (const host of hostsOf(url)) {
      const server = createServer(listener);
      if (!(await listen(server, host, port, servers.length > 0))) continue;
      servers.push(server);
      port = portOf(server);
    }
  } catch (error) {
    await close();
    throw error;
  }
  const actual = new URL(url);
  actual.port = String(port);
  return { address: actual.href, close };
}

/** Browsers try both addresses that `localhost` stands for: nobody else may listen on the other one. */
function hostsOf({ hostname }: URL): readonly string[] {
  if (hostname === 'localhost') return ['127.0.0.1', '::1'];
  return [hostname.replace(/^\[(.*)\]$/, '$1')];
}

/** Codes of a machine that has no such address, without IPv6 for instance. */
const NO_ADDRESS: ReadonlySet<unknown> = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT']);

/** Whether the server listens; only an address that is `optional` may be missing. */
async function listen(server: Server, host: string, port: number, optional: boolean): Promise<boolean> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      // Workers of a cluster would share the port, and the browser would end up at any of them.
      server.listen({ host, port, exclusive: true }, resolve);
    });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (optional && NO_ADDRESS.has(code)) return false;
    throw notListening(host, port, code, error);
  }
  // A connection that could not be accepted: the browser asks again.
  server.on('error', () => {});
  return true;
}

function notListening(host: string, port: number, code: unknown, cause: unknown): ConfigurationError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const what = code === 'EADDRINUSE' ? `Port ${port} of ${host} is in use` : `Nothing can listen there (${reason})`;
  const advice =
    'Give a `redirectUri` without a port, such as `http://127.0.0.1/callback`, to listen on a free one, or end what uses the port.';
  return new ConfigurationError(`${what}, so \`signInWithBrowser\` cannot take the answer of the sign-in. ${advice}`, {
    cause,
  });
}

function portOf(server: Server): number {
  const address = server.address();
  if (typeof address === 'object' && address !== null) return address.port;
  throw new Error('The server has no port.');
}

async function stop(server: Server): Promise<void> {
  const stopped = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await stopped;
}
