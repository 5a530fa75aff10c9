import { ApiError, type ApiErrorDetails, NotFoundError, PermissionError, ServerError } from '../errors/api.ts';
import { ConnectionError, ResponseError, TimeoutError } from '../errors/call.ts';
import { AttemptFailure } from './failures.ts';
import type { Redactor } from './redact.ts';
import { statusFailureOf } from './retry.ts';
import { surelyNotSent } from './send.ts';
import type { StorageAnswer } from './storage.ts';

/** What every error of a transfer tells about it. */
export interface TransferFacts {
  readonly operation: 'uploads.send' | 'activations.download';
  readonly method: 'PUT' | 'GET';
  readonly url: URL;
  readonly attempts: number;
}

/** How much of storage's own answer a message repeats. */
const TOLD = 200;

/** A shorter value of a presigned query is no secret: a date, an algorithm, a number of seconds. */
const LEAST_SIGNATURE = 16;

const NAMED: Readonly<Record<string, string>> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": 'apos' };

/** One character of a secret as URLs, XML and JSON may spell it. */
function spellings(character: string): string {
  if (/[A-Za-z0-9]/.test(character)) return character;
  const code = character.codePointAt(0) ?? 0;
  const literal = character.replace(/[^A-Za-z0-9\s]/g, '\\$&');
  const encoded = encodeURIComponent(character) === character ? `%${code.toString(16)}` : encodeURIComponent(character);
  const more = character === '+' ? ['\\s', '%20'] : [];
  const named = NAMED[character] ? [`&${NAMED[character]};`] : [];
  return `(?:${[`\\\\?${literal}`, encoded, `&#0*${code};`, `&#x0*${code.toString(16)};`, ...more, ...named].join('|')})`;
}

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** Storage likes to repeat the query it was given, whole or in parts, in whatever spelling. */
function withoutQuery(text: string, { search }: URL): string {
  const values = search
    .slice(1)
    .split('&')
    .map((pair) => decoded(pair.slice(pair.indexOf('=') + 1)));
  let clean = search.length > 1 ? text.replaceAll(search.slice(1), '[redacted]') : text;
  for (const value of values) {
    if (value.length < LEAST_SIGNATURE) continue;
    clean = clean.replace(new RegExp([...value].map(spellings).join(''), 'gi'), '[redacted]');
  }
  return clean;
}

/** Storage refused, by a status other than 2xx. */
export function statusFailure(answer: StorageAnswer, facts: TransferFacts, redactor: Redactor): AttemptFailure {
  const { operation, method, url, attempts } = facts;
  const failure = statusFailureOf(answer.status, answer.headers);
  const { retryAfter: wait } = failure;
  const headers = redactor.headers(answer.headers);
  for (const [name, value] of headers) headers.set(name, withoutQuery(value, url));
  const body = redactor.body(withoutQuery(answer.text, url));
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
  const told = /<Message>([^<]*)<\/Message>/.exec(body)?.[1];
  const error = statusError(
    `${operation} failed: storage answered ${answer.status}${told ? ` (${told.slice(0, TOLD)})` : ''}.`,
    details,
  );
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
  const cause = new Error(withoutQuery(raw.message, url));
  const inner = raw.cause instanceof Error ? withoutQuery(raw.cause.message, url) : '';
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
