import type { RunningJob } from './jobs.ts';
import { ACTIVATIONS } from './routes/activation-routes.ts';
import { AUDIENCES, ESTIMATES, LOOKALIKES } from './routes/audience-routes.ts';
import { COHORTS } from './routes/cohort-routes.ts';
import { PROJECTS, SCHEDULES } from './routes/project-routes.ts';
import { addResource, type ResourceType } from './routes/resource-routes.ts';
import type { Service, Task } from './service.ts';
import type { ReplayTask } from './state.ts';

/** All types of resources. */
export const RESOURCE_TYPES: readonly ResourceType[] = [
  AUDIENCES,
  LOOKALIKES,
  ESTIMATES,
  ACTIVATIONS,
  COHORTS,
  PROJECTS,
  SCHEDULES,
];

export function runTask(service: Service, task: Task): void {
  if (task.type === 'delivery') service.webhooks.run(task);
  else if (task.type === 'replay') replay(service, task);
  else if (task.type === 'upload-cleanup') service.state.uploads.delete(task.reference);
  else service.jobs.run(task);
}

/**
 * Starts a build of a schedule, and schedules the next build. These builds do not count against the build budget
 * (specification, "Build budget").
 */
function replay(service: Service, task: ReplayTask): void {
  const { clock } = service;
  const { account, schedule, definition, interval } = task;
  if (!account.schedules.has(schedule.id)) return;
  clock.schedule(clock.now() + interval, task);
  const type = RESOURCE_TYPES.find(({ name }) => name === definition.name);
  const draft = type?.draft(service, definition.body, account);
  // The datasets may have become too old, or the audience may have been deleted.
  if (!type || !draft || 'errors' in draft) return;
  // The sandbox has not kept the file, only its number of rows.
  const result = { rows: definition.rows, ...draft.result };
  addResource(service, type, { ...draft, result }, account, definition);
  schedule.replays = Number(schedule.replays) + 1;
}

/**
 * Adds the result of a job that succeeded to its resource. Sends the webhook event, if jobs of this kind have events.
 */
export function endJob(service: Service, { kind, resource, account, result }: RunningJob, succeeded: boolean): void {
  const type = RESOURCE_TYPES.find((other) => other.kind === kind);
  if (succeeded) type?.complete?.(service, resource, result);
  const data = type?.show ? type.show(service, resource, service.state.storageUrl) : resource;
  service.webhooks.sendJobEvent(account.company, kind, succeeded, service.localTimes(data));
}
