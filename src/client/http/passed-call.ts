import type { ResolvedOperation } from '../../spec/operations.ts';
import { AbortScope, abortable } from '../../util/abort.ts';
import type { Redactor } from '../../util/redact.ts';
import { acquirePermit, handleRateLimit, sendAttempt } from './attempt.ts';
import { execute } from './call.ts';
import { CallRecord } from './call-record.ts';
import { checkedHeaders, type PreparedRequest } from './request.ts';
import { statusFailure } from './response-errors.ts';
import { AttemptTimeout, type ReceivedResponse, readResponse } from './send.ts';
import type { Transport } from './transport.ts';

/** The request, and the error statuses that the caller handles itself. */
export interface PassedCallInput {
  readonly operation: ResolvedOperation;
  readonly request: PreparedRequest;
  /** Aborts the call and, after that, reading the body of its response. */
  readonly signal: AbortSignal | undefined;
  /** Error statuses whose responses the call also passes on. */
  readonly passedStatuses: ReadonlySet<number>;
}

/**
 * A call that uses the token, the limits, the retries and the errors of the client, and passes on its response. Leaves
 * the body of a success unread, because the body may be a stream.
 */
export class PassedCall {
  readonly #input: PassedCallInput;
  readonly #call: CallRecord;
  readonly #scope: AbortScope;
  #cancelReason: Error | undefined;

  constructor({ state, settings }: Transport, input: PassedCallInput) {
    const { operation, request, signal } = input;
    this.#input = input;
    // `#open` also needs the caller's own signal: it must abort reading the body after this scope has been disposed.
    this.#scope = new AbortScope({ parents: [signal] });
    const options = { signal: this.#scope.signal };
    this.#call = new CallRecord({ state, settings, operation, input: { request, options }, key: undefined });
  }

  /** Sends the request. Resolves with the response to pass on. */
  async send(): Promise<Response> {
    try {
      return await execute(this.#call, (call, request, signal) => this.#attempt(call, request, signal));
    } finally {
      this.#scope.dispose();
    }
  }

  /**
   * Prevents retries, and aborts the call unless its request is in flight. Returns true if the request was never sent,
   * so that the service has nothing to cancel.
   */
  cancel(reason: Error): boolean {
    this.#cancelReason = reason;
    if (this.#call.isInFlight) return false;
    this.#scope.abort(reason);
    return this.#call.attempts === 0;
  }

  async #attempt(call: CallRecord, request: PreparedRequest, signal: AbortSignal): Promise<Response> {
    if (this.#cancelReason) this.#scope.abort(this.#cancelReason);
    signal.throwIfAborted();
    const { scope } = await acquirePermit(call, signal);
    const open = (timeout: number): Promise<ReceivedResponse> => this.#open(request, signal, timeout);
    const received = await sendAttempt(call, signal, open);
    const isPassed = this.#input.passedStatuses.has(received.status);
    if (!isPassed && !isSuccess(received.status)) {
      throw await handleRateLimit(call.fail(statusFailure(received, call)), call, scope, signal);
    }
    call.isInFlight = false;
    call.isDone = true;
    return isPassed ? redacted(received, call.redactor) : received.response;
  }

  /** Sends one request. `timeout` covers the body of an error response, but only the headers of a success. */
  async #open(
    { url, method, headers, body }: PreparedRequest,
    signal: AbortSignal,
    timeout: number,
  ): Promise<ReceivedResponse> {
    const { token, settings, observer, headers: added } = this.#call;
    const fetch = observer?.fetch ?? settings.fetch;
    const scope = new AbortScope({ parents: [signal], ms: timeout, reason: () => new AttemptTimeout() });
    const callerSignal = this.#input.signal;
    // Outlasts `scope`, because the caller's signal must also abort reading the body.
    const lasting = callerSignal ? AbortSignal.any([callerSignal, scope.signal]) : scope.signal;
    const init = {
      ...settings.fetchOptions,
      method,
      headers: { ...(added && checkedHeaders(added)), ...headers, authorization: `Bearer ${token}` },
      redirect: 'manual',
      signal: lasting,
      ...(body && { body }),
    } as const;
    try {
      const response = await abortable(fetch(url, init), scope.signal);
      const { status, headers: received } = response;
      if (isSuccess(status)) return { status, headers: received, text: '', response };
      return await abortable(readResponse(response, settings.maxResponseBytes), scope.signal);
    } finally {
      scope.dispose();
    }
  }
}

const isSuccess = (status: number): boolean => status >= 200 && status < 300;

/** Maximum length of an error body to pass on, in UTF-16 code units. */
const PASSED_ON_LIMIT = 65_536;

/** Returns an error response without secrets, because the caller's errors may quote the body. */
function redacted({ status, headers, text }: ReceivedResponse, redactor: Redactor): Response {
  const kept = redactor.headers(headers);
  // The body has been decoded and redacted, so its encoding and length may differ.
  for (const name of ['content-encoding', 'content-length']) kept.delete(name);
  return new Response(redactor.text(text, PASSED_ON_LIMIT), { status, headers: kept });
}
