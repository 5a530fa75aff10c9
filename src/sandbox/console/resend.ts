import { FieldError, NotFoundError } from './action.ts';
import type { ConsoleContext } from './console-context.ts';
import type { KeptRequest } from './recorder.ts';

/** The outcome of a request that was sent from a page. */
export interface SentRequest {
  readonly id: string;
  readonly status: number;
}

const OF_CONNECTION = /^(?:host|connection|keep-alive|content-length|transfer-encoding|expect|upgrade|te)$/;

/** Methods that `fetch` cannot send. */
export const FORBIDDEN_METHODS: readonly string[] = ['CONNECT', 'TRACE', 'TRACK'];

function keptRequest({ service, recorder }: ConsoleContext, id: string): KeptRequest {
  const entry = service.state.log.find((candidate) => candidate.id === id);
  const recorded = entry && recorder.find(entry);
  if (recorded) return recorded;
  throw new NotFoundError(`The details of the request ${id} are not kept.`);
}

/** Sends a request of the log again: with its token, its body and its idempotency key, or with a new key. */
export async function resend(console: ConsoleContext, id: string, withNewKey: boolean): Promise<SentRequest> {
  const recorded = keptRequest(console, id);
  const { url, body, file, isBodyDropped, entry } = recorded;
  if (file || isBodyDropped)
    throw new FieldError('Its body was not kept, because it is a file or too long. Send it with curl.');
  if (FORBIDDEN_METHODS.includes(entry.method)) throw new FieldError(`${entry.method} cannot be sent from here.`);
  const headers = headersOf(recorded);
  if (withNewKey) headers.set('idempotency-key', crypto.randomUUID());
  return send(console, url, entry.method, headers, body);
}

function headersOf({ headers: sent, address }: KeptRequest): Headers {
  const headers = new Headers([...sent].filter(([name]) => !OF_CONNECTION.test(name)));
  headers.set('x-forwarded-for', address);
  return headers;
}

async function send(
  { service: { state }, send: fetch }: ConsoleContext,
  url: string,
  method: string,
  headers: HeadersInit,
  body: BodyInit | undefined,
): Promise<SentRequest> {
  const hasBody = body && method !== 'GET' && method !== 'HEAD';
  const request = new Request(url, { method, headers, redirect: 'manual', ...(hasBody && { body }) });
  const response = await fetch(request).catch(() => undefined);
  const id = response?.headers.get('x-request-id') ?? state.log.at(-1)?.id ?? '';
  return { id, status: state.log.find((entry) => entry.id === id)?.status ?? response?.status ?? 0 };
}
