import { connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** A fault of a proxy for one request; everything else passes unchanged. */
export type Fault =
  /** The connection ends before the request has reached the service. */
  | { readonly kind: 'cut-before' }
  /** The service acts; its response is lost: closed, or reset. */
  | { readonly kind: 'cut-after' | 'reset-after' }
  /** The service acts; nothing of its response arrives, or half of it, and the connection stays open. */
  | { readonly kind: 'stall-headers' | 'stall-body' }
  /** The service acts; half of its response arrives, then the connection ends. */
  | { readonly kind: 'truncate' }
  /** The service acts; its response arrives in small chunks. */
  | { readonly kind: 'drip' }
  /** The request reaches the service only after `ms`, also when the client has aborted by then. */
  | { readonly kind: 'late'; readonly ms: number }
  /** Half of the request reaches the service immediately, the rest after `ms`, also when the client has aborted. */
  | { readonly kind: 'slow-body'; readonly ms: number }
  /** A response of the proxy, instead of the service's (`acted`: after the service has acted). */
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly acted?: boolean;
      readonly body?: string;
      /** Repeats the entire request, head and body: as text, or within an envelope. */
      readonly echo?: 'text' | 'envelope';
      readonly headers?: Readonly<Record<string, string>>;
    };

/** Ways in which a connection is lost or stands still. */
export const LOST: readonly Fault[] = [
  { kind: 'cut-before' },
  { kind: 'cut-after' },
  { kind: 'reset-after' },
  { kind: 'stall-headers' },
  { kind: 'stall-body' },
  { kind: 'truncate' },
];

/** A request as it passes. */
export interface Passing {
  readonly method: string;
  readonly path: string;
  readonly key: string | undefined;
}

/** A proxy on loopback. */
export interface FaultProxy {
  readonly url: string;
  /** Requests that came, in order, with what was done to them. */
  readonly passed: readonly (Passing & { readonly fault: Fault | undefined; readonly body: string })[];
  /** Connections of clients that are open. */
  open(): number;
}

/** Stands between a client and a service on the level of TCP; `choose` decides about each request. */
export async function startFaultProxy(
  target: string,
  choose: (request: Passing) => Fault | undefined,
): Promise<FaultProxy> {
  const { hostname, port } = new URL(target);
  const passed: (Passing & { fault: Fault | undefined; body: string })[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    sockets.add(client);
    client.once('close', () => sockets.delete(client));
    client.on('error', () => {});
    eachRequest(client, async (raw) => {
      const request = describe(raw);
      const fault = choose(request);
      passed.push({ ...request, fault, body: bodyOf(raw) });
      await handle(client, raw, fault, () =>
        forward(raw, hostname, Number(port), fault?.kind === 'slow-body' ? fault.ms : 0),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  );
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('The proxy has no port.');
  return { url: `http://127.0.0.1:${address.port}`, passed, open: () => sockets.size };
}

const END_OF_HEAD = '\r\n\r\n';

/** Calls `work` with each complete request of a connection, one after the other. */
function eachRequest(client: Socket, work: (raw: string) => Promise<void>): void {
  let received = '';
  let chain = Promise.resolve();
  client.setEncoding('latin1');
  client.on('data', (chunk) => {
    received += chunk;
    for (let length = lengthOfRequest(received); length !== undefined; length = lengthOfRequest(received)) {
      const raw = received.slice(0, length);
      received = received.slice(length);
      chain = chain.then(() => work(raw)).catch(() => void client.destroy());
    }
  });
}

function lengthOfRequest(received: string): number | undefined {
  const head = received.indexOf(END_OF_HEAD);
  if (head < 0) return undefined;
  const body = Number(/^content-length: (\d+)/im.exec(received.slice(0, head))?.[1] ?? 0);
  const total = head + END_OF_HEAD.length + body;
  return received.length >= total ? total : undefined;
}

const bodyOf = (raw: string): string => raw.slice(raw.indexOf(END_OF_HEAD) + END_OF_HEAD.length);

function describe(raw: string): Passing {
  const [method = '', path = ''] = raw.split(' ', 2);
  return { method, path, key: /^idempotency-key: (.*)$/im.exec(raw)?.[1]?.trim() };
}

/** Sends a request to the service, and collects the entire response as bytes. */
function forward(raw: string, host: string, port: number, slowly: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const upstream = connect(port, host);
    const chunks: Buffer[] = [];
    upstream.on('data', (chunk: Buffer) => chunks.push(chunk));
    upstream.once('end', () => resolve(Buffer.concat(chunks)));
    upstream.once('error', reject);
    const sent = raw.replace(/\r\nconnection: [^\r]*/i, '').replace('\r\n', '\r\nConnection: close\r\n');
    const first = slowly > 0 ? sent.length - Math.ceil(bodyOf(sent).length / 2) : sent.length;
    upstream.write(sent.slice(0, first), 'latin1');
    if (first < sent.length) setTimeout(() => upstream.write(sent.slice(first), 'latin1'), slowly);
  });
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function handle(
  client: Socket,
  raw: string,
  fault: Fault | undefined,
  act: () => Promise<Buffer>,
): Promise<void> {
  if (fault?.kind === 'cut-before') return void client.destroy();
  if (fault?.kind === 'late') await pause(fault.ms);
  if (fault?.kind === 'answer') {
    if (fault.acted) await act();
    return void client.write(ownAnswer(fault, raw));
  }
  const answer = await act();
  const half = answer.subarray(0, Math.floor((answer.indexOf(END_OF_HEAD) + END_OF_HEAD.length + answer.length) / 2));
  switch (fault?.kind) {
    case 'cut-after':
      return void client.destroy();
    case 'reset-after':
      return void client.resetAndDestroy();
    case 'stall-headers':
      return;
    case 'stall-body':
      return void client.write(half);
    case 'truncate':
      return void client.end(half);
    case 'drip':
      for (let at = 0; at < answer.length; at += 40) {
        client.write(answer.subarray(at, at + 40));
        await new Promise((resolve) => setImmediate(resolve));
      }
      return void client.end();
    default:
      return void client.end(answer);
  }
}

function echoOf(how: 'text' | 'envelope' | undefined, status: number, raw: string): string | undefined {
  const request = Buffer.from(raw, 'latin1').toString();
  if (how === 'text') return `<html>${request}`;
  const envelope = {
    status: 'error',
    code: status,
    message: request,
    errors: { [request]: [request] },
    data: [request],
  };
  return how && JSON.stringify(envelope);
}

function ownAnswer({ status, body, echo, headers = {} }: Extract<Fault, { kind: 'answer' }>, raw: string): string {
  const text =
    echoOf(echo, status, raw) ??
    body ??
    JSON.stringify({ status: 'error', code: status, message: `The proxy says ${status}`, data: [] });
  const lines = Object.entries({ 'content-type': 'application/json', ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  const length = raw.startsWith('HEAD') ? 0 : Buffer.byteLength(text);
  return [`HTTP/1.1 ${status} Faulty`, `content-length: ${length}`, ...lines, '', text].join('\r\n');
}
