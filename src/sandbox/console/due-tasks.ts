import type { Scheduled } from '../clock.ts';
import { statusOf } from '../jobs.ts';
import type { Service, Task } from '../service.ts';

/** A task that is due at a time of the sandbox's clock, in words. */
export interface DueTask {
  readonly time: number;
  /** Rank among the tasks of the same time. */
  readonly order: number;
  readonly description: string;
  /** Its resource or event, and the words for several that do the same, such as "jobs end at 104 Completed". */
  readonly subject: string;
  readonly event: string;
}

/** The effect of a task, in words. */
type Description = Pick<DueTask, 'description' | 'subject' | 'event'>;

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
function describe({ jobs, state }: Service, { task }: Scheduled<Task>): Description | undefined {
  if (task.type === 'delivery') {
    const { event, attempt } = task;
    const { name, id } = event.endpoint;
    return {
      description: `Attempt ${attempt} to deliver ${event.type} to ${name} (webhook endpoint ${id})`,
      subject: event.id,
      event: `deliveries to ${name} are attempted again`,
    };
  }
  if (task.type === 'replay') {
    const { account, schedule } = task;
    const subject = `schedule ${schedule.id}`;
    if (!account.schedules.has(schedule.id)) return undefined;
    return { description: `Schedule ${schedule.id} builds again`, subject, event: 'schedules build again' };
  }
  if (task.type === 'upload-cleanup') {
    const { reference } = task;
    if (!state.uploads.has(reference)) return undefined;
    return { description: `Upload ${reference} is deleted`, subject: reference, event: 'uploads are deleted' };
  }
  const job = jobs.saved.running.get(task.id);
  if (!job) return undefined;
  const { id, name } = statusOf(task.type === 'job-end' ? jobs.endStatus(job.kind, job.outcome.status) : task.status);
  const [one, several] = task.type === 'job-end' ? ['ends at', 'end at'] : ['reaches', 'reach'];
  const subject = `${job.kind} ${task.id}`;
  return {
    description: `The job of ${subject} ${one} ${id} ${name}`,
    subject,
    event: `jobs ${several} ${id} ${name}`,
  };
}
