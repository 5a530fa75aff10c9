/** @module audience-activation */

export { AudienceClient, type FreeRequestOptions } from './client.ts';
export {
  type AnyApiError,
  ApiError,
  type ApiErrorDetails,
  AuthenticationError,
  BuildBudgetError,
  ConflictError,
  type FieldErrors,
  NotAcceptableError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  ServerError,
  ValidationError,
} from './errors/api.ts';
export {
  type AnyAudienceError,
  AudienceError,
  ConfigurationError,
  type Created,
  type CreateOutcome,
  type Details as ErrorDetails,
  ERROR_CODES,
  type ErrorCode,
  type SlotState,
  type Upload,
} from './errors/base.ts';
export { type CallDetails, ConnectionError, ResponseError, TimeoutError } from './errors/call.ts';
export { FileError } from './errors/file.ts';
export {
  type AnyJobError,
  type AnyWaitTimeoutError,
  JobCancelledError,
  JobError,
  type JobErrorDetails,
  JobFailedError,
  type JobKind,
  JobNeedsInfoError,
  type JobResources,
  type JobState,
  ResultsNotReadyError,
  WaitTimeoutError,
} from './errors/job.ts';
export { OAuthError, ReauthorizationRequiredError } from './errors/oauth.ts';
export { type WebhookRefusal, WebhookVerificationError } from './errors/webhook.ts';
export {
  type ActivationRemark,
  type ActivationVerdict,
  type ExplainOptions,
  explainActivation,
} from './explain-activation.ts';
export type { Optional, QueryOf, RequestBody } from './input-types.ts';
export { type Bucket, CLAIM_WINDOW, RATE_LIMITS, type RateLimit, type RateLimits, UPLOAD_SIZES } from './limits.ts';
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
} from './operations.ts';
export type { ClientOptions, TunableOptions, WaitsOptions } from './options.ts';
export type { OperationOverrides } from './overrides.ts';
export type { Activations } from './resources/activations.ts';
export type { Audiences } from './resources/audiences.ts';
export type { Auth, ExpiringToken, Revocation } from './resources/auth.ts';
export type { Cohorts, ImportOptions } from './resources/cohorts.ts';
export type { Estimates } from './resources/estimates.ts';
export type { Lookalikes } from './resources/lookalikes.ts';
export type { Mcp } from './resources/mcp.ts';
export type { ListFields, ListParams, Page, PagePromise } from './resources/page.ts';
export type { Projects } from './resources/projects.ts';
export type { Reference, ReferenceDataset } from './resources/reference.ts';
export type { CreateAndWaitOptions, JobResource, ListedJobResource, ListedResource } from './resources/resource.ts';
export type { ActivationResult, Download, DownloadOptions, DownloadProgress } from './resources/results.ts';
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
export type { StandardIssue, StandardResult, StandardSchema } from './schemas/standard.ts';
export type { UploadRequest, UploadReservation } from './schemas/upload.ts';
export type { BudgetWindow, BuildBudget, Usage } from './schemas/usage.ts';
export type { EventType, WebhookEndpoint } from './schemas/webhook-endpoint.ts';
export { parseTimestamp } from './timestamp.ts';
export { apiToken, type LoginTokenOptions, loginToken, mcpToken, type TokenSourceOptions } from './token-sources.ts';
export type { ApiPromise, WithResponse } from './transport/api-promise.ts';
export type { Envelope, JsonObject } from './transport/envelope.ts';
export type {
  JsonRpcMessage,
  JsonRpcNotification,
  JsonRpcRequest,
  JsonRpcResponse,
} from './transport/json-rpc.ts';
export type { Priority } from './transport/lane.ts';
export { type AcquireOptions, memoryLimiter, type RateLimiter } from './transport/limiter.ts';
export type { LogFields, Logger, LogLevel } from './transport/log.ts';
export type { IssuedToken } from './transport/mint.ts';
export type { Backoff } from './transport/retry.ts';
export type { RetryBudgetOptions } from './transport/retry-budget.ts';
export type { Fetch, FetchOptions } from './transport/send.ts';
export type {
  CreateOptions,
  Hooks,
  RequestEvent,
  RequestOptions,
  ResponseEvent,
  RetryEvent,
} from './transport/settings.ts';
export {
  type Credentials,
  memoryTokenStore,
  type StoredToken,
  type TokenInput,
  type TokenSource,
  type TokenStore,
} from './transport/tokens.ts';
export type { TransferOptions } from './transport/transfer.ts';
export type { UploadOptions, UploadProgress } from './transport/upload.ts';
export type { ByteReader, ByteStream, UploadData } from './transport/upload-source.ts';
export type { UpdateSource } from './waiting/job.ts';
export type { IdLike, UpdateInfo, WaitOptions, WatchOptions } from './waiting/wait-options.ts';
