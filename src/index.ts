/**
 * The client, its errors, and the types of resources and options. Runs in Node, browsers, Deno, Bun and Workers.
 *
 * @module audience-activation
 */

export {
  type Credentials,
  memoryTokenStore,
  type StoredToken,
  type TokenInput,
  type TokenSource,
  type TokenStore,
} from './client/auth/token-source.ts';
export { AudienceClient, type FreeRequestOptions } from './client/client.ts';
export type { AppInfo, ClientOptions, TunableOptions, WaitsOptions } from './client/client-options.ts';
export type {
  CallAdditions,
  EndEvent,
  RequestEvent,
  ResponseEvent,
  RetryEvent,
  WaitingEvent,
} from './client/http/hooks.ts';
export type { CreateOptions, RequestOptions } from './client/http/request-options.ts';
export type { Fetch, FetchOptions } from './client/http/send.ts';
export type { ApiPromise, WithResponse } from './client/http/transport.ts';
export { type OpenApiDocument, type OpenApiOptions, openApiDocument } from './client/openapi-document.ts';
export type { OperationOverrides } from './client/operation-overrides.ts';
export type { UpdateSource } from './client/polling/job.ts';
export type { Hooks, WaitEnd, WaitEvent, WaitInfo, WaitStep } from './client/polling/wait-events.ts';
export type { UpdateInfo, WaitOptions, WatchOptions } from './client/polling/wait-options.ts';
export type { AcquireOptions, Priority, RateLimiter } from './client/rate-limit/permits.ts';
export { memoryLimiter } from './client/rate-limit/rate-limiter.ts';
export { explainActivation } from './client/resources/explain-activation.ts';
export type * from './client/resources/namespaces.ts';
export type { StandardIssue, StandardResult, StandardSchema } from './client/schemas/standard-schema.ts';
export type { TransferOptions } from './client/storage/transfer.ts';
export type { UploadOptions, UploadProgress } from './client/storage/upload.ts';
export type { ByteReader, ByteStream, UploadData } from './client/storage/upload-source.ts';
export {
  apiToken,
  type LoginTokenOptions,
  loginToken,
  mcpToken,
  type TokenSourceOptions,
} from './client/token-sources.ts';
export {
  type AnyApiError,
  ApiError,
  AuthenticationError,
  BuildBudgetError,
  ConflictError,
  NotAcceptableError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  ServerError,
  ValidationError,
} from './errors/api-errors.ts';
export { type AnyAudienceError, AudienceError, ConfigurationError } from './errors/audience-error.ts';
export { ConnectionError, ResponseError, TimeoutError } from './errors/call-errors.ts';
export { ERROR_CODES, type ErrorCode } from './errors/error-codes.ts';
export type {
  ApiErrorDetails,
  CallDetails,
  Created,
  CreateOutcome,
  Details as ErrorDetails,
  DownloadedFile,
  FailedDownload,
  FieldErrors,
  JobErrorDetails,
  JobResources,
  SlotState,
  Upload,
  WebhookRefusal,
} from './errors/error-details.ts';
export { DownloadError, FileError } from './errors/file-errors.ts';
export {
  type AnyJobError,
  type AnyWaitTimeoutError,
  JobCancelledError,
  JobError,
  JobFailedError,
  JobNeedsInfoError,
  ResultsNotReadyError,
  WaitTimeoutError,
} from './errors/job-errors.ts';
export { JournalError } from './errors/journal-errors.ts';
export { OAuthError, ReauthorizationRequiredError } from './errors/oauth-errors.ts';
export { WebhookVerificationError } from './errors/webhook-errors.ts';
export type { Activation, ActivationCreate, Datastream, FrequencyFilters } from './spec/activation.ts';
export type {
  AnalysisType,
  Audience,
  AudienceCreate,
  AudienceDataset,
  DatasetCreate,
  Eligibility,
  EligibilityNotice,
  EligibilityReason,
} from './spec/audience.ts';
export type { Cohort, CohortCreate } from './spec/cohort.ts';
export type { ContractCheck, ContractOperation, Paging, ResultLinks, ServiceContract } from './spec/contract.ts';
export {
  AUDIENCE_STATUS,
  COHORT_STATUS,
  type IdLike,
  type JobKind,
  type JobResource,
  type JobState,
  jobState,
  type Statuses,
  type StatusFields,
} from './spec/job-status.ts';
export type { JsonRpcMessage, JsonRpcNotification, JsonRpcRequest, JsonRpcResponse } from './spec/json-rpc-messages.ts';
export {
  type Bucket,
  CLAIM_WINDOW,
  RATE_LIMITS,
  type RateLimit,
  type RateLimits,
  UPLOAD_SIZES,
} from './spec/limits.ts';
export type {
  Estimate,
  LookalikeConfig,
  LookalikeCreate,
  Project,
  ProjectCreate,
  Schedule,
  ScheduleCreate,
} from './spec/open-resources.ts';
export {
  type Method,
  type Operation,
  type OperationName,
  type OperationOverride,
  operations,
  type PathParams,
  type Query,
  type QueryValue,
  type Reads,
  type RetryPolicy,
} from './spec/operations.ts';
export type { UploadRequest, UploadReservation } from './spec/upload-reservation.ts';
export type { BudgetWindow, BuildBudget, Usage } from './spec/usage-report.ts';
export type { EventType, WebhookEndpoint } from './spec/webhook-endpoint.ts';
export type {
  BodyOf,
  CohortStatusId,
  Creator,
  Envelope,
  Identifier,
  JsonObject,
  LifecycleStatusId,
  NamedId,
  OpenUnion,
  Optional,
  OptionalFields,
  Status,
  UploadKind,
} from './spec/wire-values.ts';
export type { LogFields, Logger, LogLevel } from './util/log.ts';
export type { Backoff } from './util/retry.ts';
export { parseTimestamp } from './util/timestamps.ts';
