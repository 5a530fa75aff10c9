/** @module audience-activation */

export {
  type Credentials,
  memoryTokenStore,
  type StoredToken,
  type TokenInput,
  type TokenSource,
  type TokenStore,
} from './auth/token-source.ts';
export { AudienceClient, type FreeRequestOptions } from './client/client.ts';
export type { ClientOptions, TunableOptions, WaitsOptions } from './client/client-options.ts';
export type { OperationOverrides } from './client/operation-overrides.ts';
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
export { OAuthError, ReauthorizationRequiredError } from './errors/oauth-errors.ts';
export { WebhookVerificationError } from './errors/webhook-errors.ts';
export type { Envelope } from './http/envelope.ts';
export type {
  JsonRpcMessage,
  JsonRpcNotification,
  JsonRpcRequest,
  JsonRpcResponse,
} from './http/json-rpc.ts';
export type {
  CreateOptions,
  Hooks,
  RequestEvent,
  RequestOptions,
  ResponseEvent,
  RetryEvent,
} from './http/request-options.ts';
export type { Fetch, FetchOptions } from './http/send.ts';
export type { ApiPromise, WithResponse } from './http/transport.ts';
export type { UpdateSource } from './polling/job.ts';
export type { UpdateInfo, WaitOptions, WatchOptions } from './polling/wait-options.ts';
export type { Priority } from './rate-limit/rate-limiter.ts';
export { type AcquireOptions, memoryLimiter, type RateLimiter } from './rate-limit/rate-limiter.ts';
export type { ActivationResult, Download, DownloadOptions, DownloadProgress } from './resources/activation-results.ts';
export type { Activations } from './resources/activations.ts';
export type { Audiences } from './resources/audiences.ts';
export type { Auth, ExpiringToken, IssuedToken, Revocation } from './resources/auth.ts';
export type { Cohorts, ImportOptions } from './resources/cohorts.ts';
export type { Estimates } from './resources/estimates.ts';
export {
  type ActivationRemark,
  type ActivationVerdict,
  type ExplainOptions,
  explainActivation,
} from './resources/explain-activation.ts';
export type { Lookalikes } from './resources/lookalikes.ts';
export type { Mcp } from './resources/mcp.ts';
export type { ListFields, ListParams, Page, PagePromise } from './resources/page.ts';
export type { Projects } from './resources/projects.ts';
export type { Reference, ReferenceDataset } from './resources/reference.ts';
export type { CreateAndWaitOptions, JobResource, ListedJobResource, ListedResource } from './resources/resource.ts';
export type { Schedules } from './resources/schedules.ts';
export type { UploadInput, Uploads } from './resources/uploads.ts';
export type { UsageParams, UsageReports } from './resources/usage.ts';
export type { JobEvent, Waits, WaitTarget } from './resources/waits.ts';
export type { Webhooks } from './resources/webhooks.ts';
export type { Activation, ActivationCreate, Datastream } from './schemas/activation.ts';
export type {
  AnalysisType,
  Audience,
  AudienceCreate,
  AudienceDataset,
  DatasetCreate,
  Eligibility,
  EligibilityNotice,
  EligibilityReason,
} from './schemas/audience.ts';
export type { Cohort, CohortCreate } from './schemas/cohort.ts';
export type {
  CohortStatusId,
  Creator,
  LifecycleStatusId,
  NamedId,
  OpenObject,
  OpenUnion,
  Status,
  UploadKind,
} from './schemas/common.ts';
export type { Estimate, LookalikeCreate, OpenCreate, Project, Schedule } from './schemas/open-resources.ts';
export type { StandardIssue, StandardResult, StandardSchema } from './schemas/standard-schema.ts';
export type { UploadRequest, UploadReservation } from './schemas/upload-reservation.ts';
export type { BudgetWindow, BuildBudget, Usage } from './schemas/usage-report.ts';
export type { EventType, WebhookEndpoint } from './schemas/webhook-endpoint.ts';
export type { IdLike, JobKind } from './spec/job-status.ts';
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
export type { TransferOptions } from './storage/transfer.ts';
export type { UploadOptions, UploadProgress } from './storage/upload.ts';
export type { ByteReader, ByteStream, UploadData } from './storage/upload-source.ts';
export type { Optional, QueryOf, RequestBody } from './util/input-types.ts';
export type { JsonObject } from './util/json.ts';
export type { LogFields, Logger, LogLevel } from './util/log.ts';
export type { Backoff, RetryBudgetOptions } from './util/retry.ts';
export { parseTimestamp } from './util/timestamps.ts';
