import { FieldError, NotFoundError } from './action.ts';
import type { ConsoleContext } from './console-context.ts';
import type { KeptRequest } from './recorder.ts';

export interface SentRequest {
  readonly id: string;
  readonly status: number;
}

const OF_CONNECTION = /^(?:host|connection|keep-alive|content-length|transfer-encoding|expect|upgrade|te)$/;

export const BODY_NOT_KEPT =
  'The request cannot be sent again: its body was a file or longer than 1 MiB, so the sandbox did not keep it';

export const FORBIDDEN_METHODS: readonly string[] = ['CONNECT', 'TRACE', 'TRACK'];

/** Returns whether the recorder has kept everything that the request sent. A read has no body. */
export const isComplete = ({ file, isBodyDropped, entry }: KeptRequest): boolean =>
  !file && (!isBodyDropped || entry.method === 'GET');

/** Sends a logged request again, with the same token and body, and with the same idempotency key or a new one. */
export async function resend(console: ConsoleContext, id: string, withNewKey: boolean): Promise<SentRequest> {
  const { state } = console.service;
  const find = (wanted: string) => state.log.find((entry) => entry.id === wanted);
  const entry = find(id);
  const recorded = entry && console.recorder.find(entry);
  if (!recorded) throw new NotFoundError(`The request ${id} does not exist, or its details are not kept.`);
  const { url, body, address } = recorded;
  const { method } = entry;
  if (!isComplete(recorded)) throw new FieldError(`${BODY_NOT_KEPT}.`);
  if (FORBIDDEN_METHODS.includes(method)) throw new FieldError(`The console cannot send ${method} requests.`);
  const headers = new Headers(recorded.headers.filter(([name]) => !OF_CONNECTION.test(name)));
  headers.set('x-forwarded-for', address);
  if (withNewKey) headers.set('idempotency-key', crypto.randomUUID());
  const hasBody = body && method !== 'GET' && method !== 'HEAD';
  const request = new Request(url, { method, headers, redirect: 'manual', ...(hasBody && { body }) });
  const response = await console.send(request).catch(() => undefined);
  const sent = response?.headers.get('x-request-id') ?? state.log.at(-1)?.id ?? '';
  return { id: sent, status: find(sent)?.status ?? response?.status ?? 0 };
}
