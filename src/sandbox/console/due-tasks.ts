import type { Scheduled } from '../clock.ts';
import type { Service, Task } from '../service.ts';
import type { DeliveryAttempt } from '../webhook-deliveries.ts';
import { deliveryHref } from './delivery-groups.ts';
import { type Owner, ownerOf, resourceText, subjectIdOf } from './objects.ts';

interface Description {
  readonly description: string;
  /** Lane of the chart of the clock: the name of an endpoint, or of the kind of task. */
  readonly lane: string;
  readonly owner: Owner | undefined;
  readonly href?: string | undefined;
}

/** A task that is due at a time of the sandbox's clock; `order` is its rank among the tasks of the same time. */
export type DueTask = Description & Pick<Scheduled<Task>, 'time' | 'order'>;

/**
 * Yields the scheduled tasks, the next task first. Omits tasks of ended jobs, deleted schedules and deleted uploads.
 */
export function* dueTasks(service: Service): Generator<DueTask, undefined> {
  for (const { time, order, task } of service.clock.tasks) {
    const description = describe(service, task);
    if (description) yield { time, order, ...description };
  }
}

export const nextTask = (service: Service): DueTask | undefined => dueTasks(service).next().value;

/** Returns what a task does; `undefined` if its job has ended, or if its schedule or upload is deleted. */
export function describe(service: Service, task: Task): Description | undefined {
  const { jobs, state } = service;
  if (task.type === 'delivery') return describeDelivery(service, task.event, task.attempt);
  if (task.type === 'replay') {
    const { account, schedule } = task;
    if (!account.schedules.has(schedule.id)) return undefined;
    const description = `Schedule ${schedule.id} builds again`;
    return { description, lane: 'Schedules', owner: account, href: `/resources/${schedule.id}` };
  }
  if (task.type === 'upload-cleanup') {
    const { reference } = task;
    const upload = state.uploads.get(reference);
    if (!upload) return undefined;
    const owner = [...state.accounts.values()].find(({ id }) => id === upload.accountId);
    return { description: `Upload ${reference} is deleted`, lane: 'Uploads', owner };
  }
  const job = jobs.saved.running.get(task.id);
  if (!job) return undefined;
  const status = task.type === 'job-end' ? jobs.endStatus(job.kind, job.outcome.status) : task.status;
  const { id, name } = jobs.statusOf(job.kind, status);
  const verb = task.type === 'job-end' ? 'Ends at' : 'Reaches';
  const subject = resourceText(service, task.id) || `${job.kind} ${task.id}`;
  const description = `${verb} ${id} ${name}: ${subject}`;
  return { description, lane: 'Jobs', owner: job.account, href: `/resources/${task.id}` };
}

/** Describes a delivery attempt. Its number includes the attempts before a redelivery. */
export function describeDelivery(service: Service, event: DeliveryAttempt['event'], attempt: number): Description {
  const { type, endpoint, id, order, manual } = event;
  const isEarlier = ({ event: other }: DeliveryAttempt): boolean =>
    other.id === id && other.endpoint === endpoint && other.order < order;
  const earlier = manual ? service.webhooks.attempts.filter(isEarlier).length : 0;
  const subject = resourceText(service, subjectIdOf(event));
  const description = `Attempt ${attempt + earlier} to ${endpoint.name}: ${type}${subject && ` of ${subject}`}`;
  return { description, lane: endpoint.name, owner: ownerOf(service, event), href: deliveryHref(event) };
}
