import type { Scheduled } from '../clock.ts';
import { statusOf } from '../jobs.ts';
import type { Service, Task } from '../service.ts';

/** A task that is due at a time of the sandbox's clock, in words. */
export interface DueTask {
  readonly time: number;
  /** Rank among the tasks of the same time. */
  readonly order: number;
  readonly description: string;
  /** Set for a job: its resource, and what several jobs do that do the same. */
  readonly job?: { readonly subject: string; readonly event: string };
}

/** Returns the tasks that will have an effect, the next one first. */
export function dueTasks(service: Service): DueTask[] {
  return service.clock.tasks.flatMap((scheduled) => {
    const described = describe(service, scheduled);
    return described ? [{ time: scheduled.time, order: scheduled.order, ...described }] : [];
  });
}

/** Returns the first task that will have an effect. */
export function nextTask(service: Service): DueTask | undefined {
  for (const scheduled of service.clock.tasks) {
    const described = describe(service, scheduled);
    if (described) return { time: scheduled.time, order: scheduled.order, ...described };
  }
  return undefined;
}

/** Describes a task; `undefined` if it has become void. */
function describe(
  { jobs, state }: Service,
  { task }: Scheduled<Task>,
): Pick<DueTask, 'description' | 'job'> | undefined {
  if (task.type === 'delivery') {
    const { event, attempt } = task;
    return { description: `Attempt ${attempt} to deliver ${event.type} to webhook endpoint ${event.endpoint.id}` };
  }
  if (task.type === 'replay') {
    const { account, schedule } = task;
    return account.schedules.has(schedule.id) ? { description: `Schedule ${schedule.id} builds again` } : undefined;
  }
  if (task.type === 'upload-cleanup') {
    return state.uploads.has(task.reference) ? { description: `Upload ${task.reference} is deleted` } : undefined;
  }
  const job = jobs.saved.running.get(task.id);
  if (!job) return undefined;
  const { id, name } = statusOf(task.type === 'job-end' ? jobs.endStatus(job.kind, job.outcome.status) : task.status);
  const [one, several] = task.type === 'job-end' ? ['ends at', 'end at'] : ['reaches', 'reach'];
  const subject = `${job.kind} ${task.id}`;
  return {
    description: `The job of ${subject} ${one} ${id} ${name}`,
    job: { subject, event: `${several} ${id} ${name}` },
  };
}
