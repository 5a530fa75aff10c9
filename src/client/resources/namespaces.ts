// Public exports of this folder: the namespaces of the client, and the types of their arguments and results.
export type { ActivationResult, Download, DownloadOptions, DownloadProgress } from './activation-results.ts';
export { Activations } from './activations.ts';
export { Audiences } from './audiences.ts';
export { Auth, type ExpiringToken, type IssuedToken, type Revocation } from './auth.ts';
export { Cohorts, type ImportOptions } from './cohorts.ts';
export { Estimates } from './estimates.ts';
export type { ActivationRemark, ActivationVerdict, ExplainOptions } from './explain-activation.ts';
export { Lookalikes } from './lookalikes.ts';
export { Mcp } from './mcp.ts';
export type { ListParams, Page, PagePromise } from './page.ts';
export { Projects } from './projects.ts';
export { Reference, type ReferenceDataset } from './reference.ts';
export type { CreateAndWaitOptions, JobNamespace, ListedJobNamespace, ListedNamespace, Namespace } from './resource.ts';
export { Schedules } from './schedules.ts';
export { type ReserveOptions, type UploadFileOptions, type UploadInput, Uploads } from './uploads.ts';
export { type UsageParams, UsageReports } from './usage.ts';
export { type JobEvent, Waits, type WaitTarget } from './waits.ts';
export { Webhooks } from './webhooks.ts';
