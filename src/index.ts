/**
 * The client, its errors, and the types of resources and options. Runs in Node, browsers, Deno, Bun and workers.
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
} from './client/auth/index.ts';
export type {
  ApiPromise,
  CallAdditions,
  CreateOptions,
  EndEvent,
  Envelope,
  Fetch,
  FetchOptions,
  Hooks,
  JsonRpcMessage,
  JsonRpcNotification,
  JsonRpcRequest,
  JsonRpcResponse,
  RequestEvent,
  RequestOptions,
  ResponseEvent,
  RetryEvent,
  WaitEnd,
  WaitEvent,
  WaitInfo,
  WaitingEvent,
  WaitStep,
  WithResponse,
} from './client/http/index.ts';
export type {
  AppInfo,
  ClientOptions,
  OperationOverrides,
  SharedWaits,
  TunableOptions,
  WaitsOptions,
} from './client/index.ts';
export {
  AudienceClient,
  apiToken,
  type FreeRequestOptions,
  type LoginTokenOptions,
  loginToken,
  mcpToken,
  type OpenApiDocument,
  type OpenApiOptions,
  openApiDocument,
  type TokenSourceOptions,
} from './client/index.ts';
export type {
  UpdateInfo,
  UpdateSource,
  WaitOptions,
  WatchOptions,
} from './client/polling/index.ts';
export type { Priority } from './client/rate-limit/index.ts';
export { type AcquireOptions, memoryLimiter, type RateLimiter } from './client/rate-limit/index.ts';
export { explainActivation } from './client/resources/index.ts';
export type * from './client/resources/namespaces.ts';
export type { Activation, ActivationCreate, Datastream, FrequencyFilters } from './client/schemas/activation.ts';
export type {
  AnalysisType,
  Audience,
  AudienceCreate,
  AudienceDataset,
  DatasetCreate,
  Eligibility,
  EligibilityNotice,
  EligibilityReason,
} from './client/schemas/audience.ts';
export type { Cohort, CohortCreate } from './client/schemas/cohort.ts';
export type {
  CohortStatusId,
  Creator,
  Identifier,
  LifecycleStatusId,
  NamedId,
  OpenUnion,
  Status,
  UploadKind,
} from './client/schemas/common.ts';
export type {
  Estimate,
  LookalikeConfig,
  LookalikeCreate,
  Project,
  ProjectCreate,
  Schedule,
  ScheduleCreate,
} from './client/schemas/open-resources.ts';
export type { StandardIssue, StandardResult, StandardSchema } from './client/schemas/standard-schema.ts';
export type { UploadRequest, UploadReservation } from './client/schemas/upload-reservation.ts';
export type { BudgetWindow, BuildBudget, Usage } from './client/schemas/usage-report.ts';
export type { EventType, WebhookEndpoint } from './client/schemas/webhook-endpoint.ts';
export type {
  ByteReader,
  ByteStream,
  TransferOptions,
  UploadData,
  UploadOptions,
  UploadProgress,
} from './client/storage/index.ts';
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
  FieldErrors,
  JobErrorDetails,
  JobResources,
  JobState,
  SlotState,
  Upload,
  WebhookRefusal,
} from './errors/error-details.ts';
export { FileError } from './errors/file-errors.ts';
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
export type { ContractCheck, ContractOperation, Paging, ServiceContract } from './spec/contract.ts';
export type { IdLike, JobKind, Progress, Statuses } from './spec/job-status.ts';
export {
  type Bucket,
  CLAIM_WINDOW,
  RATE_LIMITS,
  type RateLimit,
  type RateLimits,
  UPLOAD_SIZES,
} from './spec/limits.ts';
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
export type { Optional } from './util/input-types.ts';
export type { JsonObject } from './util/json.ts';
export type { LogFields, Logger, LogLevel } from './util/log.ts';
export type { Backoff } from './util/retry.ts';
export { parseTimestamp } from './util/timestamps.ts';
