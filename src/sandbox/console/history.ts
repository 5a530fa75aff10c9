import type { JobChange } from '../jobs.ts';
import type { Service, Task } from '../service.ts';
import type { Endpoint } from '../state.ts';
import { type Delivery, type DeliveryAttempt, isDisabled } from '../webhook-deliveries.ts';
import { deliveryHref, isDelivered, MAX_ATTEMPTS } from './delivery-groups.ts';
import { describe } from './due-tasks.ts';
import { deliveryText, findResource, type Owner, ownerOf, resourceText } from './objects.ts';
import { count, counted } from './words.ts';

export interface StatusChange extends JobChange {
  /** Number of requests before it. */
  readonly requests: number;
}

export interface HappenedAt {
  readonly at: number;
  readonly what: 'jobs' | 'deliveries' | 'endpoints' | 'tasks';
  /** Kind and id of the job, name of the endpoint, or kind of the task. */
  readonly subject: string;
  /** What happened to which resource. */
  readonly description: string;
  readonly href: string | undefined;
  readonly owner: Owner | undefined;
  readonly result: 'completed' | 'needsInfo' | 'failed' | 'succeeded' | 'exhausted' | 'disabled' | 'resumed' | 'done';
}

/** Maximum number of jobs whose statuses are kept, and of events. */
const MAX_KEPT = 10_000;

/** Records the statuses of jobs and the effects of actions while a console is open. */
export class History {
  readonly #service: Service;
  readonly #jobs = new Map<number, StatusChange[]>();
  /** Endpoints whose disabling is among the events, and that have not been resumed. */
  readonly #disabled = new Set<Endpoint>();
  #events: HappenedAt[] = [];

  constructor(service: Service) {
    this.#service = service;
    service.observers.add({
      onTask: (task) => this.#addTask(task),
      onJob: (change) => this.#addChange(change),
      onDelivery: ({ event, delivery }) => delivery && this.#addDelivery(event, delivery),
      onCall: ({ method, args: [id] }) => method === 'sandbox.webhooks.resume' && this.#addResume(id),
    });
  }

  /** Forgets everything, because a loaded state has replaced the current one. */
  clear(): void {
    this.#jobs.clear();
    this.#disabled.clear();
    this.#events = [];
  }

  /** The latest events since the console was opened. */
  get all(): readonly HappenedAt[] {
    return this.#events;
  }

  /** Returns the statuses of a job, the first one first. */
  changesOf(id: number): readonly StatusChange[] {
    return this.#jobs.get(id) ?? [];
  }

  /** Does something; returns its result, and what happened meanwhile. */
  async during<T>(act: () => T): Promise<[Awaited<T>, readonly HappenedAt[]]> {
    const seen = new Set(this.#events);
    const result = await act();
    return [result, this.#events.filter((event) => !seen.has(event))];
  }

  #add(event: HappenedAt): void {
    this.#events.push(event);
    if (this.#events.length > MAX_KEPT) this.#events.splice(0, MAX_KEPT / 2);
  }

  #addChange(change: JobChange): void {
    const { id, kind, at, outcome } = change;
    const changes = this.#jobs.get(id) ?? [];
    this.#jobs.set(id, [...changes, { ...change, requests: this.#service.state.requestCount }]);
    const [oldest = 0] = this.#jobs.keys();
    if (this.#jobs.size > MAX_KEPT) this.#jobs.delete(oldest);
    if (outcome === undefined) return;
    const subject = `${kind} ${id}`;
    const owner = findResource(this.#service, id)?.account;
    const description = `The job of ${resourceText(this.#service, id) || subject}`;
    this.#add({ at, what: 'jobs', subject, description, href: `/resources/${id}`, owner, result: outcome });
  }

  /** Adds what has no result: a step of a job, a build of a schedule, or the end of an upload. */
  #addTask(task: Task): void {
    const due = task.type === 'delivery' || task.type === 'job-end' ? undefined : describe(this.#service, task);
    if (!due) return;
    const { lane: subject, description, href, owner } = due;
    this.#add({ at: this.#service.clock.now(), what: 'tasks', subject, description, href, owner, result: 'done' });
  }

  #addDelivery(event: DeliveryAttempt['event'], delivery: Delivery): void {
    const { endpoint } = event;
    const { at, attempt } = delivery;
    const shared = { at, subject: endpoint.name, href: deliveryHref(event), owner: ownerOf(this.#service, event) };
    const failed = attempt === MAX_ATTEMPTS ? 'exhausted' : 'failed';
    const description = deliveryText(this.#service, event, attempt);
    this.#add({ ...shared, what: 'deliveries', description, result: isDelivered({ delivery }) ? 'succeeded' : failed });
    if (!isDisabled(endpoint) || this.#disabled.has(endpoint)) return;
    this.#disabled.add(endpoint);
    this.#add({
      ...shared,
      what: 'endpoints',
      description: endpoint.name,
      owner: endpoint.creator.company,
      result: 'disabled',
    });
  }

  #addResume(id: unknown): void {
    const endpoint = [...this.#disabled].find((one) => one.id === id);
    if (!endpoint) return;
    this.#disabled.delete(endpoint);
    const { name: subject, creator } = endpoint;
    const shared = { at: this.#service.clock.now(), subject, description: subject, owner: creator.company };
    this.#add({ ...shared, what: 'endpoints', href: '/deliveries', result: 'resumed' });
  }
}

const endpointResults = (events: readonly HappenedAt[]): ReadonlyMap<string, HappenedAt['result']> =>
  new Map(events.flatMap(({ what, subject, result }) => (what === 'endpoints' ? [[subject, result] as const] : [])));

export function totalsOf(events: readonly HappenedAt[]) {
  const number = (what: string, ...results: readonly string[]): number =>
    events.filter((event) => event.what === what && results.includes(event.result)).length;
  const completed = number('jobs', 'completed');
  const needsInfo = number('jobs', 'needsInfo');
  const failed = number('jobs', 'failed');
  return {
    jobs: { ended: completed + needsInfo + failed, completed, needsInfo, failed },
    deliveries: { succeeded: number('deliveries', 'succeeded'), failed: number('deliveries', 'failed', 'exhausted') },
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
  const exhausted = events.filter(({ result }) => result === 'exhausted').length;
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
