/** What runs waits, as a part of its own: see {@link WaitRoom}. */
export { JobGroup } from './job-group.ts';
export { Waiter } from './poller.ts';
export { Scheduler } from './scheduler.ts';
