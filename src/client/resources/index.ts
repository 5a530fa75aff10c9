export { audienceJobs } from './audiences.ts';
export { issueToken } from './auth.ts';
export { explainActivation } from './explain-activation.ts';
export * from './namespaces.ts';
export { Reservations } from './uploads.ts';
export { readUsage } from './usage.ts';
