export type { JobRow, JobSource, UpdateSource } from './job.ts';
export { JobGroup } from './job-group.ts';
export { Poller } from './poller.ts';
export { Scheduler } from './scheduler.ts';
export { jobError } from './wait-errors.ts';
export { checkWaitOptions, type UpdateInfo, type WaitOptions, type WatchOptions } from './wait-options.ts';
