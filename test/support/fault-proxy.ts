import { connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** A fault that the proxy applies to one request. Without a fault, the request and its response pass unchanged. */
export type Fault =
  /** Closes the connection before the request reaches the service. */
  | { readonly kind: 'cut-before' }
  /** Lets the service act, then closes or resets the connection instead of sending the response. */
  | { readonly kind: 'cut-after' | 'reset-after' }
  /** Lets the service act, sends nothing of the response or half of it, and keeps the connection open. */
  | { readonly kind: 'stall-headers' | 'stall-body' }
  /** Lets the service act, sends half of the response, and closes the connection. */
  | { readonly kind: 'truncate' }
  /** Lets the service act, and sends the response in small chunks. */
  | { readonly kind: 'drip' }
  /** Forwards the request after `ms`, even if the client has aborted it by then. */
  | { readonly kind: 'late'; readonly ms: number }
  /**
   * Forwards half of the request's body immediately and the rest after `until`, even if the client is gone by then. With
   * `cut`, closes the client's connection meanwhile.
   */
  | { readonly kind: 'slow-body'; readonly until: Promise<void>; readonly cut?: boolean }
  /** Sends a response of the proxy instead of the service's. With `acted`, the service acts first. */
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly acted?: boolean;
      readonly body?: string;
      /** Repeats the entire request (head and body) as text or within an envelope. */
      readonly echo?: 'text' | 'envelope';
      readonly headers?: Readonly<Record<string, string>>;
    };

/** Faults by which a connection is lost, or its response does not arrive. */
export const LOST: readonly Fault[] = [
  { kind: 'cut-before' },
  { kind: 'cut-after' },
  { kind: 'reset-after' },
  { kind: 'stall-headers' },
  { kind: 'stall-body' },
  { kind: 'truncate' },
];

/** A request that the proxy receives. */
export interface Passing {
  readonly method: string;
  readonly path: string;
  readonly key: string | undefined;
}

/** A proxy on loopback. */
export interface FaultProxy {
  readonly url: string;
  /** Requests in the order in which they were received, each with its fault. */
  readonly passed: readonly (Passing & { readonly fault: Fault | undefined; readonly body: string })[];
  /** Returns the number of open connections of clients. */
  open(): number;
}

/**
 * Starts a TCP proxy between a client and a service, which stops after the test. `choose` returns the fault of each
 * request.
 */
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
        forward(raw, hostname, Number(port), fault?.kind === 'slow-body' ? fault.until : undefined),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 }, resolve));
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

/** Calls `work` with each complete request of a connection, one after another. */
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

/** Sends a request to the service, and returns the bytes of the entire response. */
function forward(raw: string, host: string, port: number, until: Promise<void> | undefined): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const upstream = connect(port, host);
    const chunks: Buffer[] = [];
    upstream.on('data', (chunk: Buffer) => chunks.push(chunk));
    upstream.once('end', () => resolve(Buffer.concat(chunks)));
    upstream.once('error', reject);
    const sent = raw.replace(/\r\nconnection: [^\r]*/i, '').replace('\r\n', '\r\nConnection: close\r\n');
    const first = until ? sent.length - Math.ceil(bodyOf(sent).length / 2) : sent.length;
    upstream.write(sent.slice(0, first), 'latin1');
    void until?.then(() => upstream.write(sent.slice(first), 'latin1'));
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
  if (fault?.kind === 'slow-body' && fault.cut) client.destroy();
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
