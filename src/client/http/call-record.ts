import type { CreateOutcome, FieldErrors } from '../../errors/error-details.ts';
import type { ResolvedOperation } from '../../spec/operations.ts';
import type { CallSite } from '../../util/call-site.ts';
import { type Redactor, secretHeaders } from '../../util/redact.ts';
import { CallObserver } from './call-observer.ts';
import type { ClientState } from './client-state.ts';
import type { RequestEvent } from './hooks.ts';
import type { PreparedRequest, RequestInput } from './request.ts';
import { BACKGROUND, type CallOptions, type Settings } from './request-options.ts';
import type { AttemptFailure } from './response-errors.ts';
import { RetryHistory } from './retry-policy.ts';
import type { Waiting } from './waiting.ts';

/** The input of a call, as its namespace describes it. */
export interface CallInput extends RequestInput {
  readonly options?: CallOptions | undefined;
  /** The request, if it has been built already. */
  readonly request?: PreparedRequest;
  /** Returns the errors of the input by field; if there are any, nothing is sent. */
  readonly validate?: () => FieldErrors;
  /** Secrets that the request contains besides its token and headers; they are removed from error texts. */
  readonly secrets?: readonly unknown[];
}

/** The parts of a call that are known when it is made. */
export interface CallParts {
  readonly state: ClientState;
  readonly settings: Settings;
  readonly operation: ResolvedOperation;
  readonly input: CallInput;
  /** The idempotency key, for operations that take one. */
  readonly key: string | undefined;
}

let calls = 0;

/** Returns the id of a new call or transfer, unique in the process. */
export const nextCallId = (): string => `call_${++calls}`;

/** One call: its input, and what has happened to it so far. */
export class CallRecord {
  readonly state: ClientState;
  readonly settings: Settings;
  readonly operation: ResolvedOperation;
  readonly input: CallInput;
  readonly key: string | undefined;
  readonly options: CallOptions;
  /** Calls the hooks, if there are any. */
  readonly observer: CallObserver | undefined;
  /**
   * True if the call counts against the build budget of the client's organization. With another token, the organization
   * may differ.
   */
  readonly usesBuildBudget: boolean;
  /** The stack of the caller, for errors. */
  readonly site: CallSite = {};
  /** Deadline of the call, on the monotonic clock. */
  readonly deadlineAt: number;
  /** Created with the first failure. */
  history: RetryHistory | undefined;
  /** Requests sent. */
  attempts = 0;
  /** True if a request has been sent whose outcome is not known yet. */
  isInFlight = false;
  /** True if an attempt has succeeded. */
  isDone = false;
  /** Path; its parameters are filled in once the request is built. */
  path: string;
  /** The token of the last attempt. */
  token: string | undefined;
  /** The error of the last failed attempt. */
  lastError: Error | undefined;
  /** The wait before the next request, while there is one. */
  waiting: Waiting | undefined;
  /** The wait between two attempts. After a 409, it lasts for several attempts. */
  retryWait: Waiting | undefined;
  /** The error that the call has ended with. */
  error: unknown;
  /** True if the `shouldRetry` hook refused a retry that the operation allows. */
  retryRefused = false;
  #id: string | undefined;

  constructor({ state, settings, operation, input, key }: CallParts) {
    this.state = state;
    this.settings = settings;
    this.operation = operation;
    this.input = input;
    this.options = input.options ?? {};
    this.key = key;
    Error.captureStackTrace?.(this.site, CallRecord);
    this.path = operation.path;
    this.usesBuildBudget = operation.startsJob && this.options.token === undefined;
    this.observer = settings.hooks.length > 0 ? new CallObserver(settings, () => this.event) : undefined;
    this.deadlineAt = performance.now() + (this.options.deadline ?? Number.POSITIVE_INFINITY);
  }

  /** Unique in the process. */
  get id(): string {
    this.#id ??= nextCallId();
    return this.#id;
  }

  /** Headers of this call alone, from its options and from the `around` hook. */
  get headers(): Readonly<Record<string, string>> | undefined {
    return this.observer ? { ...this.options.headers, ...this.observer.headers } : this.options.headers;
  }

  /** Removes the secrets of this call and of its client from error texts. */
  get redactor(): Redactor {
    const { token, history, input, options, settings } = this;
    const secrets = [token, options.token, history?.rejectedToken, ...(input.secrets ?? [])];
    return settings.redactor.with([...secrets, ...secretHeaders(this.headers)]);
  }

  /** The call and its current attempt, as hooks see them. */
  get event(): RequestEvent {
    const { id: callId, operation, settings, options, path, key, attempts: attempt } = this;
    const { name, method, path: pathTemplate, bucket } = operation;
    const { baseUrl, rateLimits } = settings;
    const rateLimit = rateLimits[bucket];
    const isPoll = options[BACKGROUND]?.isPoll ?? false;
    const facts = { callId, operation: name, method, baseUrl, path, pathTemplate, bucket, rateLimit, isPoll, attempt };
    return key === undefined ? facts : { ...facts, idempotencyKey: key };
  }

  /** Outcome of the create request if the call ended now. */
  get outcome(): CreateOutcome {
    if (this.isDone) return 'done';
    return this.isInFlight ? 'unknown' : (this.history?.outcome ?? 'not-sent');
  }

  /** Records a failed attempt; returns the failure. */
  fail(failed: AttemptFailure): AttemptFailure {
    this.isInFlight = false;
    this.history ??= new RetryHistory(this.options.idempotencyKey !== undefined);
    this.history.onFailure(failed.failure);
    this.lastError = failed.error;
    return failed;
  }
}
