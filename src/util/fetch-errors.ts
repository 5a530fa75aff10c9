import { isSameHost } from './loopback.ts';
import { MAX_CAUSE_DEPTH } from './redact.ts';
import { isServerRuntime } from './runtime.ts';

/** Error of reading a body. The request has reached the service, even if `cause` is a connection error. */
export class BodyError extends Error {
  override readonly name = 'BodyError';
}

/** System calls that precede the first byte of a request. */
const SYSCALLS_BEFORE_SENDING: ReadonlySet<unknown> = new Set(['connect', 'getaddrinfo']);

/**
 * Codes of errors before the first byte of a request: failed connections (Node, Bun), failed TLS handshakes, untrusted
 * certificates, and options that undici refuses.
 */
const CODES_BEFORE_SENDING =
  /^(?:UND_ERR_CONNECT_TIMEOUT|UND_ERR_INVALID_ARG|ECONNREFUSED|ENOTFOUND|ConnectionRefused|FailedToOpenSocket)$|WRONG_VERSION_NUMBER|PROTOCOL_VERSION|HANDSHAKE_FAILURE|UNRECOGNIZED_NAME|INSUFFICIENT_SECURITY|NO_APPLICATION_PROTOCOL|INAPPROPRIATE_FALLBACK|CERT|SELF_SIGNED|UNABLE_TO_VERIFY/;

/** Codes of alerts about the client's certificate, which arrive after the request was sent (TLS 1.3). */
const CODES_AFTER_SENDING = /ALERT_\w*CERTIFICATE/;

/** Message of undici and Node's `fetch` if a proxy refuses the tunnel to the service. */
const PROXY_REFUSAL = /^Proxy response \(\d+\) !== 200 when HTTP Tunneling/;

/** Message of `fetch` for the ports that it blocks, such as 6000 (Fetch Standard, "Port blocking"). */
const BAD_PORT = 'bad port';

/** Errors that look like a failed connection, although a request may have been sent. */
const MAYBE_SENT = new WeakSet<Error>();

/**
 * Returns whether a failed `fetch` certainly sent nothing. Returns `false` in browsers, which do not report this.
 *
 * @param address Address that the error must name, if set.
 */
export function isNotSent(error: unknown, address?: string, depth = 0): boolean {
  if (!(error instanceof Error) || error instanceof BodyError || MAYBE_SENT.has(error)) return false;
  if (depth > MAX_CAUSE_DEPTH) return false;
  if (precedesSending(error)) return address === undefined || namesAddress(error, address);
  if (error instanceof AggregateError && error.errors.length > 0)
    return error.errors.every((inner) => isNotSent(inner, address, depth + 1));
  return isNotSent(error.cause, address, depth + 1);
}

function precedesSending(error: Error): boolean {
  if ('syscall' in error && SYSCALLS_BEFORE_SENDING.has(error.syscall)) return true;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (CODES_BEFORE_SENDING.test(code) && !CODES_AFTER_SENDING.test(code)) return true;
  // Deno names the failed step only in the message.
  const { message } = error;
  return message === BAD_PORT || message.includes('client error (Connect)') || PROXY_REFUSAL.test(message);
}

/** Messages of V8, JavaScriptCore, SpiderMonkey and this package about a programming error. */
const MISTAKE = /is not (?:a |an |iterable)|is (?:undefined|null)\b|^(?:Cannot |can't access|`fetch` must)/;

/**
 * Returns whether a user's `fetch` failed because of a programming error, so that a retry does not help. The request
 * may have been sent.
 */
export function isMistake(error: unknown): boolean {
  if (error instanceof ReferenceError || error instanceof RangeError) return true;
  return error instanceof TypeError && !error.cause && MISTAKE.test(error.message);
}

/** Messages of `fetch` in Chromium, Firefox and Safari, which hide from pages why there is no response. */
const HIDDEN_REASON = /^(?:Failed to fetch|NetworkError when attempting to fetch resource|Load failed)/;

/**
 * Returns possible reasons why `fetch` received no response from `server` in a browser. Returns `undefined` for any
 * other failure.
 */
export function hiddenReason({ message }: Error, server: string): string | undefined {
  if (isServerRuntime || !HIDDEN_REASON.test(message)) return undefined;
  if (navigator.onLine === false) return 'the device is offline';
  return `the connection failed, or ${server} does not allow requests from this origin (CORS)`;
}

/** Returns why `fetch` failed. In Node, the message is only "fetch failed", and the reason is the deepest cause. */
export function reasonOf(error: Error): string {
  if (error.message !== 'fetch failed') return error.message.trim();
  let deepest = error;
  for (let inner: unknown = error; inner instanceof Error; ) {
    deepest = inner;
    inner = inner instanceof AggregateError ? inner.errors[0] : inner.cause;
  }
  const { message } = deepest;
  if (message === BAD_PORT) return `\`fetch\` refuses to connect to this port ("${BAD_PORT}"). Use another port`;
  return PROXY_REFUSAL.test(message)
    ? `${message}. The proxy refused the connection: check its credentials and its rules`
    : message.trim();
}

/**
 * Returns whether a system error is about a connection to the host of `address`, and to its port if the error names
 * one.
 */
function namesAddress(error: Error, address: string): boolean {
  const url = new URL(address);
  const { hostname, host, address: ip, port }: Readonly<Record<string, unknown>> = { ...error };
  const expectedPort = url.port || (url.protocol === 'https:' ? '443' : '80');
  const isNamed = [hostname, host, ip].some((name) => typeof name === 'string' && isSameHost(name, url));
  return isNamed && (port === undefined || String(port) === expectedPort);
}

/** Marks an error of a request that may have been sent, and returns it. */
export function markSent(error: unknown): unknown {
  if (error instanceof Error) MAYBE_SENT.add(error);
  return error;
}
