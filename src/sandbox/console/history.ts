import type { JobChange } from '../jobs.ts';
import type { Service, Task } from '../service.ts';
import { appendBounded, type Endpoint } from '../state.ts';
import { type DeliveryAttempt, isDisabled } from '../webhook-deliveries.ts';
import { isDelivered, MAX_ATTEMPTS } from './delivery-groups.ts';
import { type DueTask, describe, describeDelivery } from './due-tasks.ts';
import { findResource, resourceText } from './objects.ts';
import { count, counted } from './words.ts';

export interface StatusChange extends JobChange {
  /** Number of requests before the change. */
  readonly requests: number;
}

type Result =
  | NonNullable<JobChange['outcome']>
  | 'succeeded'
  | 'refused'
  | 'exhausted'
  | 'disabled'
  | 'resumed'
  | 'done';

export interface HappenedAt extends DueTask {
  readonly result: Result;
}

/** Records the statuses of jobs, deliveries and other events while a console is open. */
export class History {
  readonly #service: Service;
  readonly #jobs = new Map<number, StatusChange[]>();
  /** Endpoints whose disabling is among the events, and that have not been resumed. */
  readonly #disabled = new Set<Endpoint>();
  /** The latest events since the console was opened. */
  readonly all: HappenedAt[] = [];
  /** Number of events since the console was opened, those included that are not kept. */
  total = 0;
  readonly #actions = new Set<HappenedAt[]>();

  constructor(service: Service) {
    this.#service = service;
    service.observers.add({
      onTask: (task) => this.#addTask(task),
      onJob: (change) => this.#addChange(change),
      onDelivery: (attempt) => this.#addDelivery(attempt),
      onCall: ({ method, args: [id] }) => method === 'sandbox.webhooks.resume' && this.#addResume(id),
    });
  }

  /** Forgets everything, because a loaded state has replaced the current one. */
  clear(): void {
    this.#jobs.clear();
    this.#disabled.clear();
    this.all.length = 0;
    this.total = 0;
  }

  changesOf(id: number): readonly StatusChange[] {
    return this.#jobs.get(id) ?? [];
  }

  async during<T>(act: () => T): Promise<[Awaited<T>, readonly HappenedAt[]]> {
    const happened: HappenedAt[] = [];
    this.#actions.add(happened);
    try {
      return [await act(), happened];
    } finally {
      this.#actions.delete(happened);
    }
  }

  #add(details: Omit<HappenedAt, 'order'>): void {
    const event = { ...details, order: this.total++ };
    appendBounded(this.all, event, this.#service.limits.logLength);
    for (const happened of this.#actions) happened.push(event);
  }

  #addChange(change: JobChange): void {
    const { id, kind, at, outcome } = change;
    const changes = this.#jobs.get(id) ?? [];
    this.#jobs.set(id, [...changes, { ...change, requests: this.#service.state.requestCount }]);
    const [oldest = 0] = this.#jobs.keys();
    if (this.#jobs.size > this.#service.limits.logLength) this.#jobs.delete(oldest);
    if (outcome === undefined) return;
    const owner = findResource(this.#service, id)?.account;
    const description = `The job of ${resourceText(this.#service, id) || `${kind} ${id}`}`;
    this.#add({ time: at, lane: 'Jobs', description, href: `/resources/${id}`, owner, result: outcome });
  }

  /** Adds a task that has no result: a step of a job, a build of a schedule, or the end of an upload. */
  #addTask(task: Task): void {
    const due = task.type === 'delivery' || task.type === 'job-end' ? undefined : describe(this.#service, task);
    if (due) this.#add({ ...due, time: this.#service.clock.now(), result: 'done' });
  }

  #addDelivery({ event, delivery }: DeliveryAttempt): void {
    if (!delivery) return;
    const { endpoint } = event;
    const attempt = { ...describeDelivery(this.#service, event, delivery.attempt), time: delivery.at };
    const failed = delivery.attempt === MAX_ATTEMPTS ? 'exhausted' : 'refused';
    this.#add({ ...attempt, result: isDelivered({ delivery }) ? 'succeeded' : failed });
    if (!isDisabled(endpoint) || this.#disabled.has(endpoint)) return;
    this.#disabled.add(endpoint);
    this.#add({ ...attempt, description: endpoint.name, owner: endpoint.creator.company, result: 'disabled' });
  }

  #addResume(id: unknown): void {
    const endpoint = [...this.#disabled].find((one) => one.id === id);
    if (!endpoint) return;
    this.#disabled.delete(endpoint);
    const { name, creator } = endpoint;
    const time = this.#service.clock.now();
    this.#add({ time, lane: name, description: name, href: '/deliveries', owner: creator.company, result: 'resumed' });
  }
}

/** Returns whether each endpoint was last disabled or resumed, by its name. */
const endpointResults = (events: readonly HappenedAt[]): ReadonlyMap<string, Result> =>
  new Map(events.filter(({ result }) => /disabled|resumed/.test(result)).map(({ lane, result }) => [lane, result]));

const number = (events: readonly HappenedAt[], ...results: readonly Result[]): number =>
  events.filter(({ result }) => results.includes(result)).length;

export function totalsOf(events: readonly HappenedAt[]) {
  const completed = number(events, 'completed');
  const needsInfo = number(events, 'needsInfo');
  const failed = number(events, 'failed');
  return {
    jobs: { ended: completed + needsInfo + failed, completed, needsInfo, failed },
    deliveries: { succeeded: number(events, 'succeeded'), failed: number(events, 'refused', 'exhausted') },
    // An endpoint that was resumed since is not disabled.
    disabled: [...endpointResults(events)].flatMap(([name, result]) => (result === 'disabled' ? [name] : [])),
  };
}

export function happenedText(events: readonly HappenedAt[]): string {
  const { jobs, deliveries } = totalsOf(events);
  const { succeeded, failed } = deliveries;
  const results = [
    [jobs.completed, 'completed'],
    [jobs.needsInfo, 'Additional Info'],
    [jobs.failed, 'failed'],
  ] as const;
  const ended = results.flatMap(([number, text]) => (number > 0 ? [`${count(number)} ${text}`] : []));
  const exhausted = number(events, 'exhausted');
  const attempted = (number: number): string => counted(number, 'delivery attempt');
  const parts = [
    jobs.ended > 0 ? `${counted(jobs.ended, 'job')} ended (${ended.join(', ')})` : '',
    succeeded > 0 ? `${attempted(succeeded)} succeeded` : '',
    failed > 0 ? `${succeeded > 0 ? count(failed) : attempted(failed)} failed` : '',
    exhausted > 0 ? `${counted(exhausted, 'delivery', 'deliveries')} gave up` : '',
    ...[...endpointResults(events)].map(
      ([name, result]) => `${name} was ${result === 'disabled' ? 'switched off' : 'resumed'}`,
    ),
  ].filter(Boolean);
  return parts.join(', ') || (events.length > 0 ? 'nothing ended' : 'nothing was due');
}
