import { ApiError, NotFoundError, PermissionError, ServerError } from '../errors/api-errors.ts';
import { ConnectionError, ResponseError, TimeoutError } from '../errors/call-errors.ts';
import type { ApiErrorDetails } from '../errors/error-details.ts';
import { AttemptFailure } from '../http/response-errors.ts';
import { statusFailureOf } from '../http/retry-policy.ts';
import { surelyNotSent } from '../http/send.ts';
import type { Redactor } from '../util/redact.ts';
import type { StorageAnswer } from './storage-request.ts';

/** What every error of a transfer tells about it. */
export interface TransferFacts {
  readonly operation: 'uploads.send' | 'activations.download';
  readonly method: 'PUT' | 'GET';
  readonly url: URL;
  readonly attempts: number;
}

/** The longest part of a code or a message of storage that an error shows, in characters. */
const SHOWN = 200;

/** A shorter value of a presigned query, and a shorter part of one, is not a secret: an algorithm, a number of seconds. */
const LEAST_SECRET = 16;

/** With a longer query, which storage refuses, an error shows nothing of the answer. Characters. */
const LONGEST_QUERY = 65_536;

/** The headers of storage that an error shows. */
const SHOWN_HEADERS =
  /^(?:content-length|content-type|date|retry-after|server|x-amz-id-2|x-amz-request-id|x-goog-.*|x-ms-request-id)$/;

const character = (code: string, base: number): string => String.fromCharCode(Number.parseInt(code, base));

/** Returns the letters and digits of a text, in lower case: the same for every spelling in URLs, XML and JSON. */
function plain(text: string): string {
  return text
    .replace(/&(?:amp;)*(?:#(\d+)|#x([\da-f]+)|[a-z]+);/gi, (_, decimal = '', hex = '') =>
      decimal ? character(decimal, 10) : character(hex, 16),
    )
    .replace(/(?:%(?:25)*|\\u00)([\da-f]{2})/gi, (_, code) => character(code, 16))
    .replace(/[^\da-z]/gi, '')
    .toLowerCase();
}

/** Every part of a text that is long enough for a secret. */
const partsOf = (text: string): string[] =>
  Array.from({ length: Math.max(0, text.length - LEAST_SECRET + 1) }, (_, at) => text.slice(at, at + LEAST_SECRET));

/** Returns what hides a text that may repeat the presigned query, or a part of it. The work is linear in both. */
function queryRedactor({ search, searchParams }: URL): (text: string) => string {
  if (search.length > LONGEST_QUERY) return () => '[redacted]';
  const values = [...searchParams].map(([name, value]) => value || name).filter(({ length }) => length >= LEAST_SECRET);
  const secrets = values.map(plain);
  const parts = new Set(secrets.flatMap(partsOf));
  // What is short without its punctuation is looked for as a whole.
  const short = new Set(secrets.filter(({ length }) => length < LEAST_SECRET));
  return (text) => {
    const letters = plain(text);
    const repeats = partsOf(letters).some((part) => parts.has(part)) || [...short].some((one) => letters.includes(one));
    return repeats ? '[redacted]' : text;
  };
}

/** Returns the code and the message of an error of storage, which are safe to show; nothing of any other text. */
function describe(text: string, hideQuery: (text: string) => string, redactor: Redactor): string {
  const elements = [/<Code>([^<]*)<\/Code>/, /<Message>([^<]*)<\/Message>/];
  return elements
    .map((element) => element.exec(text)?.[1] ?? '')
    .filter((part) => part !== '')
    .map((part) => redactor.text(hideQuery(part), SHOWN))
    .join(': ');
}

/** Storage refused, by a status other than 2xx. */
export function statusFailure(answer: StorageAnswer, facts: TransferFacts, redactor: Redactor): AttemptFailure {
  const { operation, method, url, attempts } = facts;
  const failure = statusFailureOf(answer.status, answer.headers);
  const { retryAfter: wait } = failure;
  const hideQuery = queryRedactor(url);
  const headers = new Headers();
  for (const [name, value] of redactor.headers(answer.headers)) {
    if (SHOWN_HEADERS.test(name)) headers.set(name, hideQuery(value));
  }
  const body = describe(answer.text, hideQuery, redactor);
  const details: ApiErrorDetails = {
    status: answer.status,
    operation,
    method,
    path: url.pathname,
    attempts,
    headers,
    body,
    ...(wait !== undefined && { retryAfter: Math.ceil(wait / 1000), retryAt: new Date(Date.now() + wait) }),
  };
  const message = `${operation} failed: storage answered ${answer.status}${body ? ` (${body})` : ''}.`;
  const error = statusError(message, details);
  return new AttemptFailure(failure, error);
}

function statusError(message: string, details: ApiErrorDetails): ApiError {
  if (details.status === 403) return new PermissionError(message, details);
  if (details.status === 404) return new NotFoundError(message, details);
  return details.status >= 500 ? new ServerError(message, details) : new ApiError(message, details);
}

/** Storage pointed elsewhere. */
export function redirectFailure({ operation, attempts }: TransferFacts, status = 0): AttemptFailure {
  const message = `${operation} was redirected by storage; redirects are never followed.`;
  const details = { code: 'redirect-refused', status, operation, attempts, body: '' } as const;
  return new AttemptFailure({ kind: 'final', outcome: 'unknown' }, new ResponseError(message, details));
}

/** The connection was refused, cut or reset. `done` says how far the transfer was. */
export function lostFailure(thrown: unknown, facts: TransferFacts, redactor: Redactor, done = ''): AttemptFailure {
  const { operation, attempts, url } = facts;
  const notSent = surelyNotSent(thrown);
  const raw = redactor.cause(thrown);
  const hideQuery = queryRedactor(url);
  const cause = new Error(hideQuery(raw.message));
  const inner = raw.cause instanceof Error ? hideQuery(raw.cause.message) : '';
  const what = notSent ? 'could not reach storage' : `lost the connection to storage${done}`;
  const error = new ConnectionError(`${operation} ${what}: ${inner || cause.message}`, { operation, attempts, cause });
  return new AttemptFailure({ kind: notSent ? 'not-sent' : 'lost' }, error);
}

/** Nothing has moved for `idleTimeout`. */
export function idleFailure(ms: number, { operation, attempts }: TransferFacts, done = ''): AttemptFailure {
  const message = `${operation} moved no byte for ${ms} ms${done} (\`idleTimeout\`).`;
  const error = new TimeoutError(message, { code: 'idle-timeout', operation, attempts });
  return new AttemptFailure({ kind: 'lost' }, error);
}
