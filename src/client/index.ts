// For the other folders: what they use of the client. The package exports its own list, `src/index.ts`.
export type { StoredToken, TokenInput, TokenSource, TokenStore } from './auth/token-source.ts';
export { isUsableToken, readStoredToken } from './auth/token-source.ts';
export { AudienceClient, type FreeRequestOptions } from './client.ts';
export {
  type AppInfo,
  CLIENT_OPTIONS,
  type ClientOptions,
  type TunableOptions,
  type WaitsOptions,
} from './client-options.ts';
export { readTokens } from './client-tokens.ts';
export { createTransport } from './create-transport.ts';
export { acquirePermit, handleRateLimit, sendAttempt } from './http/attempt.ts';
export { execute } from './http/call.ts';
export { CallRecord } from './http/call-record.ts';
export { readConflict } from './http/conflict.ts';
export type { CallAdditions, EndEvent, RequestEvent, ResponseEvent, RetryEvent } from './http/hooks.ts';
export { isJsonRpcId } from './http/json-rpc.ts';
export type { PreparedRequest } from './http/request.ts';
export type { RequestOptions, Settings } from './http/request-options.ts';
export { CONFLICT_ADVICE, DEFAULTS } from './http/request-options.ts';
export { statusFailure } from './http/response-errors.ts';
export type { Failure } from './http/retry-policy.ts';
export { retryDelay, statusFailureOf } from './http/retry-policy.ts';
export type { Fetch, ReceivedResponse } from './http/send.ts';
export { AttemptTimeout, customFetch, hiddenReason, isNotSent, platformFetch, readResponse } from './http/send.ts';
export type { Transport } from './http/transport.ts';
export type { OperationOverrides } from './operation-overrides.ts';
export type { Hooks, WaitEvent } from './polling/wait-events.ts';
export type { PermitLog, Priority, RateLimiter } from './rate-limit/rate-limiter.ts';
export { RateLimitBucket, SlidingWindowLog } from './rate-limit/rate-limiter.ts';
export { mergeRateLimits } from './rate-limit/rate-limits.ts';
export type { Activations, DownloadOptions } from './resources/namespaces.ts';
export { activationResource } from './schemas/activation-schema.ts';
export { audienceResource } from './schemas/audience-schema.ts';
export { cohortResource } from './schemas/cohort-schema.ts';
export type { DecodeContext } from './schemas/decode.ts';
export { decodeList, decodeOne } from './schemas/decode.ts';
export { projectResource, scheduleResource } from './schemas/open-resource-schemas.ts';
export type { ResourceSchema } from './schemas/shared-schemas.ts';
export { webhookEndpointResource } from './schemas/webhook-endpoint-schema.ts';
export type { UploadOptions } from './storage/upload.ts';
export { apiToken, type LoginTokenOptions, loginToken, mcpToken, type TokenSourceOptions } from './token-sources.ts';
