import type { Activation } from '../spec/activation.ts';
import type { Audience } from '../spec/audience.ts';
import type { Cohort } from '../spec/cohort.ts';
import type { Estimate } from '../spec/open-resources.ts';
import type { RunningJob } from './jobs.ts';
import { completeActivation, showActivation } from './routes/activation-routes.ts';
import { completeAudience, showAudience } from './routes/audience-routes.ts';
import { completeCohort } from './routes/cohort-routes.ts';
import { replay } from './routes/project-routes.ts';
import type { Service, Task } from './service.ts';
import type { Mutable } from './state.ts';

/** Executes a task that is due. */
export function runTask(service: Service, task: Task): void {
  if (task.type === 'delivery') service.webhooks.run(task);
  else if (task.type === 'replay') replay(service, task);
  else if (task.type === 'upload-cleanup') service.state.uploads.delete(task.reference);
  else service.jobs.run(task);
}

/** Shows the result of a job that has ended, and sends its event. */
export function endJob(service: Service, { kind, resource, account, result }: RunningJob, succeeded: boolean): void {
  const { state, webhooks } = service;
  // The resource of a job is of the type that belongs to its kind.
  const shown: unknown = resource;
  let data = shown;
  if (kind === 'activation') {
    const activation = shown as Mutable<Activation>;
    if (succeeded) completeActivation(service, activation, result);
    data = showActivation(service, activation, state.storageUrl);
  } else if (kind === 'cohort') {
    if (succeeded) completeCohort(service, shown as Mutable<Cohort>, result);
  } else if (kind === 'estimate') {
    if (succeeded) (shown as Mutable<Estimate>).unique_eids = result.eids ?? 0;
  } else {
    const audience = shown as Mutable<Audience>;
    if (succeeded) completeAudience(audience, result);
    data = showAudience(service, audience);
  }
  webhooks.sendJobEvent(account.company, kind, succeeded, service.localTimes(data));
}
