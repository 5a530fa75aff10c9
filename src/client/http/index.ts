export { acquirePermit, handleRateLimit, sendAttempt } from './attempt.ts';
export { execute } from './call.ts';
export { CallObserver, debugLog, logRetry } from './call-observer.ts';
export { CallRecord, nextCallId } from './call-record.ts';
export { ClientState } from './client-state.ts';
export type { Envelope } from './envelope.ts';
export type {
  CallAdditions,
  EndEvent,
  Hooks,
  RequestEvent,
  ResponseEvent,
  RetryEvent,
  WaitEnd,
  WaitEvent,
  WaitInfo,
  WaitingEvent,
  WaitStep,
} from './hooks.ts';
export {
  isJsonRpcId,
  isJsonRpcResponse,
  type JsonRpcMessage,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
} from './json-rpc.ts';
export { keyProblem, type PreparedRequest } from './request.ts';
export {
  BACKGROUND,
  type CallOptions,
  CONFLICT_ADVICE,
  CREATE_OPTIONS,
  type CreateOptions,
  DEFAULTS,
  FIELD_OPTIONS,
  KEY_OPTIONS,
  PAGE_NUMBERS,
  REQUEST_OPTIONS,
  type RequestOptions,
  type Settings,
} from './request-options.ts';
export { AttemptFailure, localValidationError, messageOfFields, statusFailure } from './response-errors.ts';
export { type Failure, retryDelay, statusFailureOf } from './retry-policy.ts';
export {
  AttemptTimeout,
  customFetch,
  type Fetch,
  type FetchOptions,
  hiddenReason,
  isNotSent,
  OWN_FETCH_OPTIONS,
  platformFetch,
  type ReceivedResponse,
  readResponse,
  reasonOf,
} from './send.ts';
export {
  ApiPromise,
  type Decode,
  type DecodeContext,
  Transport,
  type TransportInput,
  type WithResponse,
} from './transport.ts';
export { type Waiting, waitToRetry } from './waiting.ts';
