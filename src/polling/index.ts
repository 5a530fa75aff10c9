export type { JobRow, JobSource, UpdateSource } from './job.ts';
export { JobGroup } from './job-group.ts';
export { checkWaitOptions, Poller, type UpdateInfo, type WaitOptions, type WatchOptions } from './poller.ts';
export { Scheduler } from './scheduler.ts';
export type {
  Fleet,
  FleetHost,
  FleetTarget,
  JobName,
  SharedWaits,
} from './shared-waits.ts';
export { jobError } from './wait-errors.ts';
