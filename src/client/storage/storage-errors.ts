import { ApiError, NotFoundError, PermissionError, ServerError } from '../../errors/api-errors.ts';
import { ConnectionError, ResponseError, TimeoutError } from '../../errors/call-errors.ts';
import { abortable } from '../../util/abort.ts';
import { hiddenReason, isNotSent, reasonOf } from '../../util/fetch-errors.ts';
import type { Redactor } from '../../util/redact.ts';
import type { RequestEvent } from '../http/hooks.ts';
import { AttemptFailure } from '../http/response-errors.ts';
import { statusFailureOf } from '../http/retry-policy.ts';
import { limitAdvice, runtimeLimit } from '../http/runtime-limits.ts';

/** Maximum number of characters to read of an error's body. The code and the message are at its beginning. */
const MAX_ERROR_TEXT_LENGTH = 2_048;

/** Maximum number of characters of storage's error code, and of storage's message, in an error. */
const MAX_MESSAGE_LENGTH = 200;

/**
 * Minimum number of characters of a secret in a presigned query. Shorter values are an algorithm, a date or a number of
 * seconds.
 */
const MIN_SECRET_LENGTH = 16;

/** Response headers to show in errors, such as the request ids that the support of a storage provider asks for. */
const SHOWN_HEADERS =
  /^(?:content-length|content-type|date|retry-after|server|x-amz-id-2|x-amz-request-id|x-goog-.*|x-ms-request-id)$/;

/** Returns a redactor that also removes the long values of the presigned query, both URL-encoded and decoded. */
export function queryRedactor(redactor: Redactor, { search, searchParams }: URL): Redactor {
  const parts = [...search.slice(1).split(/[&=]/), ...[...searchParams].flat()];
  return redactor.with(parts.filter(({ length }) => length >= MIN_SECRET_LENGTH));
}

/** Returns the failure for a response with a status other than 2xx. */
export async function responseFailure(
  response: Response,
  request: RequestEvent,
  redactor: Redactor,
  signal: AbortSignal,
  advice?: string,
): Promise<AttemptFailure> {
  const { status, headers, type } = response;
  const { operation, method, path, attempt } = request;
  if (type === 'opaqueredirect' || (status >= 300 && status < 400)) {
    response.body?.cancel().catch(() => {});
    return redirectFailure(request, advice);
  }
  const failure = statusFailureOf(status, headers);
  const { retryAfter: wait } = failure;
  const body = codeAndMessage(await readErrorText(response, signal), redactor);
  const shownHeaders = new Headers([...redactor.headers(headers)].filter(([name]) => SHOWN_HEADERS.test(name)));
  const retry = wait !== undefined && { retryAfter: Math.ceil(wait / 1000), retryAt: new Date(Date.now() + wait) };
  const details = { status, operation, method, path, attempts: attempt, headers: shownHeaders, body, advice, ...retry };
  const ErrorClass = errorClass(status);
  const message = `${operation} failed: storage responded with ${status}${body && ` (${body})`}.`;
  return new AttemptFailure(failure, new ErrorClass(message, details));
}

function errorClass(status: number) {
  if (status === 403) return PermissionError;
  if (status === 404) return NotFoundError;
  return status >= 500 ? ServerError : ApiError;
}

/**
 * Returns the code and the message of storage's XML error. Omits its other elements, which may repeat the signature.
 */
function codeAndMessage(text: string, redactor: Redactor): string {
  return [/<Code>([^<]*)<\/Code>/, /<Message>([^<]*)<\/Message>/]
    .map((element) => redactor.text(element.exec(text)?.[1] ?? '', MAX_MESSAGE_LENGTH))
    .filter((part) => part !== '')
    .join(': ');
}

/** Reads the beginning of an error's body. If reading fails or is aborted, returns what has arrived. */
export async function readErrorText({ body }: Response, signal: AbortSignal): Promise<string> {
  const reader = body?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  try {
    while (reader && text.length < MAX_ERROR_TEXT_LENGTH) {
      const { done, value } = await abortable(reader.read(), signal);
      if (done) break;
      text += decoder.decode(value, { stream: true });
    }
  } catch {
    // Ignore the failure: only the status decides how the transfer continues.
  }
  reader?.cancel().catch(() => {});
  return text.slice(0, MAX_ERROR_TEXT_LENGTH);
}

export function redirectFailure({ operation, attempt }: RequestEvent, advice?: string): AttemptFailure {
  const message = `${operation} was redirected by storage, and the client does not follow the redirect.`;
  const details = { code: 'redirect-refused', status: 0, operation, attempts: attempt, body: '', advice } as const;
  return new AttemptFailure({ kind: 'final', outcome: 'unknown' }, new ResponseError(message, details));
}

/** Progress of an attempt before its connection was lost. */
interface LostAttempt {
  /** Text for the error, such as ` after 5 bytes`. */
  readonly progress: string;
  /** True if storage had started to respond. */
  readonly hasResponse: boolean;
}

/** Returns the failure for a connection that was refused, cut off or reset. */
export function lostFailure(
  thrown: unknown,
  { operation, attempt }: RequestEvent,
  redactor: Redactor,
  { progress, hasResponse }: LostAttempt,
): AttemptFailure {
  const notSent = isNotSent(thrown);
  const cause = redactor.cause(thrown);
  const limit = runtimeLimit(thrown);
  if (limit !== undefined) {
    const message = `${operation} transferred no byte${progress} within the \`${limit}\` of the runtime.`;
    const details = { operation, attempts: attempt, cause, advice: limitAdvice(limit) };
    const error = new TimeoutError(message, { code: 'idle-timeout', ...details });
    return new AttemptFailure({ kind: 'lost' }, error);
  }
  const what = notSent ? 'could not reach storage' : `lost the connection to storage${progress}`;
  const hidden = hasResponse ? undefined : hiddenReason(cause, 'storage');
  const text = hidden === undefined ? `${what}: ${reasonOf(cause)}` : `got no response from storage: ${hidden}`;
  const error = new ConnectionError(`${operation} ${text}`, {
    operation,
    attempts: attempt,
    cause,
  });
  return new AttemptFailure({ kind: notSent ? 'not-sent' : 'lost' }, error);
}

/** Returns the failure for an attempt that transferred no byte for `idleTimeout`. */
export function idleFailure(timeout: number, { operation, attempt }: RequestEvent, progress: string): AttemptFailure {
  const message = `${operation} transferred no byte for ${timeout} ms${progress} (\`idleTimeout\`).`;
  const error = new TimeoutError(message, { code: 'idle-timeout', operation, attempts: attempt });
  return new AttemptFailure({ kind: 'lost' }, error);
}
