export type { ActivationResult, Download, DownloadOptions, DownloadProgress } from './activation-results.ts';
export { Activations } from './activations.ts';
export { Audiences, audienceJobs } from './audiences.ts';
export { Auth, type ExpiringToken, type IssuedToken, issueToken, type Revocation } from './auth.ts';
export { Cohorts, type ImportOptions } from './cohorts.ts';
export { Estimates } from './estimates.ts';
export {
  type ActivationRemark,
  type ActivationVerdict,
  type ExplainOptions,
  explainActivation,
} from './explain-activation.ts';
export { Lookalikes } from './lookalikes.ts';
export { Mcp } from './mcp.ts';
export type { ListFields, ListParams, Page, PagePromise } from './page.ts';
export { Projects } from './projects.ts';
export { Reference, type ReferenceDataset } from './reference.ts';
export type { CreateAndWaitOptions, JobNamespace, ListedJobNamespace, ListedNamespace } from './resource.ts';
export { Schedules } from './schedules.ts';
export { Reservations, type UploadInput, Uploads } from './uploads.ts';
export { readUsage, type UsageParams, UsageReports } from './usage.ts';
export { type JobEvent, Waits, type WaitTarget } from './waits.ts';
export { Webhooks } from './webhooks.ts';
