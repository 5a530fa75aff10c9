import type { Writable } from 'node:stream';
import type { Http2Bindings, HttpBindings } from '@hono/node-server';
import type { Env } from './access.ts';
import { ConnectionCut } from './connection-cut.ts';

/** A sandbox that listens on TCP ports. */
export interface SandboxServer {
  /** Origin of the API, for `baseUrl` of a client. */
  readonly url: string;
  /** Origin of presigned URLs and result files, on a separate port. */
  readonly storageUrl: string;
  /**
   * URL of the console with the token of this run, if {@link ListenOptions.console} is `true`. Anyone who has the URL
   * can operate the sandbox.
   */
  readonly consoleUrl?: string;
  /** Closes all ports and their connections. */
  close(): Promise<void>;
}

/** Options of `sandbox.listen`. */
export interface ListenOptions {
  /** Port of the API. @default 0, a free port */
  readonly port?: number | undefined;
  /** Port of the storage. @default 0, a free port */
  readonly storagePort?: number | undefined;
  /**
   * Address to listen on. The sandbox warns about an address that is not loopback, because other machines can reach it.
   * @default '127.0.0.1'
   */
  readonly host?: string | undefined;
  /** Host name of this machine, used in URLs and accepted in the `Host` header. @default `host` */
  readonly name?: string | undefined;
  /**
   * Also serves the console, on a separate port and always on loopback: pages and JSON endpoints that operate the running
   * sandbox. @default false
   */
  readonly console?: boolean | undefined;
  /** Port of the console. @default 0, a free port */
  readonly consolePort?: number | undefined;
}

type Fetch = (request: Request, env: Env['Bindings']) => Response | Promise<Response>;

type Outgoing = (HttpBindings | Http2Bindings)['outgoing'];

interface PortServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Maximum number of pending connections. Node's default of 511 is too low for a thousand concurrent calls. */
const BACKLOG = 4_096;

/**
 * Milliseconds before the server closes an idle connection. With Node's default of five seconds, a connection may be
 * closed while a busy client sends a request.
 */
const KEEP_ALIVE_MS = 600_000;

const WILDCARD_ADDRESSES: readonly string[] = ['0.0.0.0', '::'];

/** Handlers of the API, the storage and the console. */
export interface Origins {
  readonly api: Fetch;
  readonly storage: Fetch;
  console(token: string): Promise<Fetch>;
}

/** Serves the API, its storage and, optionally, the console over HTTP. */
export async function listen(origins: Origins, options: ListenOptions): Promise<SandboxServer> {
  const { host = '127.0.0.1', name } = options;
  if (name !== undefined && !isHostName(name)) throw new Error(`\`name\` must be a host name, not "${name}".`);
  if (!/^(?:127\.\d+\.\d+\.\d+|::1|localhost)$/.test(host)) {
    const { emitWarning } = await import('node:process');
    emitWarning(`The sandbox listens on ${host}: other machines can use it.`, 'SandboxWarning');
  }
  const servers: PortServer[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(servers.map((server) => server.close()));
  };
  const open = async (...args: Parameters<typeof serve>): Promise<string> => {
    const server = await serve(...args);
    servers.push(server);
    return server.url;
  };
  try {
    const storageUrl = await open(origins.storage, options, options.storagePort ?? 0);
    const url = await open(origins.api, options, options.port ?? 0, storageUrl);
    if (!options.console) return { url, storageUrl, close };
    const token = crypto.randomUUID();
    const console = await open(await origins.console(token), {}, options.consolePort ?? 0);
    return { url, storageUrl, consoleUrl: `${console}/?token=${token}`, close };
  } catch (error) {
    await close();
    throw error;
  }
}

const isHostName = (name: string): boolean =>
  URL.canParse(`http://${name}`) && new URL(`http://${name}`).hostname === name.toLowerCase();

/** Serves on one port. Imports `node:http` lazily, so that browsers can use the rest of the sandbox. */
async function serve(
  respond: Fetch,
  { host = '127.0.0.1', name = host }: ListenOptions,
  port: number,
  storageUrl?: string,
): Promise<PortServer> {
  const { createAdaptorServer } = await import('@hono/node-server');
  const { RESPONSE_ALREADY_SENT } = await import('@hono/node-server/utils/response');
  const overHttp = { origin: '', names: [name.toLowerCase()] };
  const fetch = async (request: Request, { incoming, outgoing }: HttpBindings | Http2Bindings): Promise<Response> => {
    try {
      const address = (incoming.socket.remoteAddress ?? '').replace(/^::ffff:/, '');
      return await respond(request, { address, overHttp, ...(storageUrl !== undefined && { storageUrl }) });
    } catch (error) {
      if (!(error instanceof ConnectionCut)) throw error;
      cutConnection(error, outgoing);
      return RESPONSE_ALREADY_SENT;
    }
  };
  const serverOptions = { keepAliveTimeout: KEEP_ALIVE_MS };
  const server = createAdaptorServer({ fetch, overrideGlobalObjects: false, serverOptions });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host, backlog: BACKLOG }, resolve);
  });
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('The server has no port.');
  const shown = WILDCARD_ADDRESSES.includes(name) ? '127.0.0.1' : name;
  const stop = (): Promise<void> =>
    new Promise((resolve, reject) => {
      server.close((error) => (error ? reject(error) : resolve()));
      if ('closeAllConnections' in server) server.closeAllConnections();
    });
  let closing: Promise<void> | undefined;
  overHttp.origin = `http://${shown.includes(':') ? `[${shown}]` : shown}:${address.port}`;
  return {
    url: overHttp.origin,
    close() {
      closing ??= stop();
      return closing;
    },
  };
}

/** Destroys a connection, before or in the middle of a response. */
function cutConnection({ partial }: ConnectionCut, outgoing: Outgoing): void {
  const stream: Writable = outgoing;
  if (!partial) {
    stream.destroy();
    return;
  }
  outgoing.statusCode = partial.status;
  for (const [name, value] of partial.headers) outgoing.setHeader(name, value);
  // The client detects the cut, because bytes of `content-length` or the last chunk are missing.
  stream.write(partial.body, () => stream.destroy());
}
