import { listTokens } from '../tokens.ts';
import { FieldError, NotFoundError } from './action.ts';
import type { ConsoleContext } from './console-context.ts';

/** The outcome of a request that was sent from a page. */
export interface SentRequest {
  /** Id in the log. */
  readonly id: string;
  /** HTTP status; 0 without a response. */
  readonly status: number;
}

/** Headers that follow from a connection. */
const OF_CONNECTION: readonly string[] = [
  'host',
  'connection',
  'keep-alive',
  'content-length',
  'transfer-encoding',
  'expect',
  'upgrade',
  'te',
];

/** Methods that `fetch` cannot send. */
const FORBIDDEN_METHODS: readonly string[] = ['CONNECT', 'TRACE', 'TRACK'];

/** Sends a request of the log again: with its token, its body and its idempotency key, or with a new key. */
export async function resend(console: ConsoleContext, id: string, withNewKey: boolean): Promise<SentRequest> {
  const entry = console.service.state.log.find((candidate) => candidate.id === id);
  const recorded = entry && console.recorder.find(entry);
  if (!recorded) throw new NotFoundError(`The details of the request ${id} are not kept.`);
  const { url, headers: sent, address, body, file, isBodyDropped } = recorded;
  if (file || isBodyDropped)
    throw new FieldError('Its body was not kept, because it is a file or too long. Send it with curl.');
  if (FORBIDDEN_METHODS.includes(entry.method)) throw new FieldError(`${entry.method} cannot be sent from here.`);
  const headers = new Headers(sent);
  for (const name of OF_CONNECTION) headers.delete(name);
  headers.set('x-forwarded-for', address);
  if (withNewKey) headers.set('idempotency-key', crypto.randomUUID());
  const hasBody = body?.length && entry.method !== 'GET' && entry.method !== 'HEAD';
  return send(
    console,
    new Request(url, { method: entry.method, headers, redirect: 'manual', ...(hasBody && { body }) }),
  );
}

/** Sends the first request of somebody who has just begun: the create of an audience, in the name of the first account. */
export function sendFirst(console: ConsoleContext): Promise<SentRequest> {
  const { service, sandbox, addresses } = console;
  const [record] = service.state.accounts.values();
  if (!record) throw new NotFoundError('Create an account first.');
  const token = listTokens(service, record, 'api').at(-1)?.value ?? sandbox.accounts.get(record.email).token('api');
  const headers = { accept: 'application/json', 'content-type': 'application/json', authorization: `Bearer ${token}` };
  const body = JSON.stringify({ name: 'Visitors' });
  return send(console, new Request(`${addresses().api}/api/v2/audiences/create`, { method: 'POST', headers, body }));
}

async function send({ service, send: fetch }: ConsoleContext, request: Request): Promise<SentRequest> {
  const { state } = service;
  const response = await fetch(request).catch(() => undefined);
  const id = response?.headers.get('x-request-id') ?? state.log.at(-1)?.id ?? '';
  return { id, status: state.log.find((entry) => entry.id === id)?.status ?? response?.status ?? 0 };
}
