export { isNewer, type JobRow, type JobSource, type JobUpdate, type Subscriber, type UpdateSource } from './job.ts';
export { JobGroup } from './job-group.ts';
export {
  checkWaitOptions,
  DEFAULT_WAIT_TIMEOUT_MS,
  Poller,
  type UpdateInfo,
  type WaitOptions,
  type WatchOptions,
} from './poller.ts';
export { type JobSubscription, Scheduler, type WaitObserver } from './scheduler.ts';
export { jobError } from './wait-errors.ts';
