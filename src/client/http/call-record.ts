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

/** The input of a call, which a method of a namespace creates. */
export interface CallInput extends RequestInput {
  readonly options?: CallOptions | undefined;
  /** The request, if the caller has already built it. */
  readonly request?: PreparedRequest;
  /** Returns the errors of the input, by field. If there is an error, the client sends nothing. */
  readonly validate?: () => FieldErrors;
  /** Secrets in the request besides its token and headers, to remove from error texts. */
  readonly secrets?: readonly unknown[];
}

/** The parts of a call that are known at its start. */
export interface CallParts {
  readonly state: ClientState;
  readonly settings: Settings;
  readonly operation: ResolvedOperation;
  readonly input: CallInput;
  /** The idempotency key, for operations that take a key. */
  readonly key: string | undefined;
}

let calls = 0;

/** Returns the id of a new call or transfer, unique in the process. */
export const nextCallId = (): string => `call_${++calls}`;

/** The input and the current state of a call. */
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
  /** Failed attempts. Created with the first failure. */
  history: RetryHistory | undefined;
  attempts = 0;
  /** True while the outcome of a sent request is unknown. */
  isInFlight = false;
  /** True if an attempt has succeeded. */
  isDone = false;
  /** Path of the request. Contains `{id}` until the request is built. */
  path: string;
  token: string | undefined;
  /** The error of the last failed attempt. */
  lastError: Error | undefined;
  /** What the call waits for before its next request. */
  waiting: Waiting | undefined;
  /** What the call waits for between attempts. After a 409, one object covers several attempts. */
  retryWait: Waiting | undefined;
  /** The error with which the call ended. */
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

  /** Id of the call, unique in the process. */
  get id(): string {
    this.#id ??= nextCallId();
    return this.#id;
  }

  /** Additional headers of this call, from its options and from the `around` hook. */
  get headers(): Readonly<Record<string, string>> | undefined {
    return this.observer ? { ...this.options.headers, ...this.observer.headers } : this.options.headers;
  }

  /** Redactor of the secrets of this call and of its client. */
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

  /** Outcome that the create request would have if the call ended now. */
  get outcome(): CreateOutcome {
    if (this.isDone) return 'done';
    return this.isInFlight ? 'unknown' : (this.history?.outcome ?? 'not-sent');
  }

  fail(failed: AttemptFailure): AttemptFailure {
    this.isInFlight = false;
    this.history ??= new RetryHistory(this.options.idempotencyKey !== undefined);
    this.history.onFailure(failed.failure);
    this.lastError = failed.error;
    return failed;
  }
}
