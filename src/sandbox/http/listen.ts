import type { Writable } from 'node:stream';
import type { Http2Bindings, HttpBindings } from '@hono/node-server';
import { ConnectionCut } from '../faults.ts';
import type { Env } from './access.ts';

/** A sandbox on TCP ports. */
export interface Listening {
  /** Its address, for `baseUrl`. */
  readonly url: string;
  /** Origin of presigned URLs and results: a port of its own, as storage is another host. */
  readonly storageUrl: string;
  /** Stops listening and drops every connection. */
  close(): Promise<void>;
}

/** Where to listen. */
export interface ListenOptions {
  /** @default 0, any free port */
  readonly port?: number | undefined;
  /** Port of storage. @default 0, any free port */
  readonly storagePort?: number | undefined;
  /** Address to listen on. All but loopback lets other machines in, which is warned of. @default '127.0.0.1' */
  readonly host?: string | undefined;
  /** Name of this machine: in the URLs that the sandbox gives, and accepted in the header `Host`. @default the address */
  readonly name?: string | undefined;
}

type Answer = (request: Request, env: Env['Bindings']) => Response | Promise<Response>;

type Outgoing = (HttpBindings | Http2Bindings)['outgoing'];

/** One server on one port. */
type Serving = Pick<Listening, 'url' | 'close'>;

const WILDCARDS: readonly string[] = ['0.0.0.0', '::'];

/** Serves the API and its storage over HTTP. */
export async function listen(api: Answer, storage: Answer, options: ListenOptions): Promise<Listening> {
  const { host = '127.0.0.1', name } = options;
  if (
    name !== undefined &&
    !(URL.canParse(`http://${name}`) && new URL(`http://${name}`).hostname === name.toLowerCase())
  )
    throw new Error(`\`name\` must be a host name, not "${name}".`);
  if (!/^(?:127\.\d+\.\d+\.\d+|::1|localhost)$/.test(host)) {
    const { emitWarning } = await import('node:process');
    emitWarning(`The sandbox listens on ${host}: other machines can use it.`, 'SandboxWarning');
  }
  const back = await serve(storage, options, options.storagePort ?? 0);
  let front: Serving;
  try {
    front = await serve(api, options, options.port ?? 0, back.url);
  } catch (error) {
    await back.close();
    throw error;
  }
  return {
    url: front.url,
    storageUrl: back.url,
    async close() {
      await Promise.all([front.close(), back.close()]);
    },
  };
}

/** `node:http` is loaded only now, so browsers can use the rest. */
async function serve(
  answer: Answer,
  { host = '127.0.0.1', name = host }: ListenOptions,
  port: number,
  storageUrl?: string,
): Promise<Serving> {
  const { createAdaptorServer } = await import('@hono/node-server');
  const { RESPONSE_ALREADY_SENT } = await import('@hono/node-server/utils/response');
  const overHttp = { names: [name.toLowerCase()] };
  const fetch = async (request: Request, { incoming, outgoing }: HttpBindings | Http2Bindings): Promise<Response> => {
    try {
      const address = (incoming.socket.remoteAddress ?? '').replace(/^::ffff:/, '');
      return await answer(request, { address, overHttp, ...(storageUrl !== undefined && { storageUrl }) });
    } catch (error) {
      if (!(error instanceof ConnectionCut)) throw error;
      cutOff(error, outgoing);
      return RESPONSE_ALREADY_SENT;
    }
  };
  const server = createAdaptorServer({ fetch, overrideGlobalObjects: false });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('The server has no port.');
  const shown = WILDCARDS.includes(name) ? '127.0.0.1' : name;
  let closing: Promise<void> | undefined;
  const stop = (): Promise<void> =>
    new Promise((resolve, reject) => {
      server.close((error) => (error ? reject(error) : resolve()));
      if ('closeAllConnections' in server) server.closeAllConnections();
    });
  return {
    url: `http://${shown.includes(':') ? `[${shown}]` : shown}:${address.port}`,
    close() {
      closing ??= stop();
      return closing;
    },
  };
}

/** Ends a connection without an answer, or in the middle of one. */
function cutOff({ answer }: ConnectionCut, outgoing: Outgoing): void {
  const stream: Writable = outgoing;
  if (!answer) {
    stream.destroy();
    return;
  }
  outgoing.statusCode = answer.status;
  for (const [name, value] of answer.headers) outgoing.setHeader(name, value);
  // A length that is not reached, or no last chunk: either tells the caller.
  stream.write(answer.body, () => stream.destroy());
}
