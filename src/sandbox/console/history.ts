import type { JobChange } from '../jobs.ts';
import type { Service } from '../service.ts';
import type { Endpoint } from '../state.ts';
import { type Delivery, isDisabled } from '../webhook-deliveries.ts';
import { isDelivered, MAX_ATTEMPTS } from './delivery-groups.ts';
import { findResource, type Owner } from './objects.ts';
import { count, counted } from './words.ts';

/** A status of a job, and who set it. */
export interface StatusChange extends JobChange {
  /** `true` if a user of the console did it. */
  readonly inConsole: boolean;
  /** Number of requests before it. */
  readonly requests: number;
}

/** An event in the chart of the clock. */
export interface HappenedAt {
  readonly at: number;
  readonly what: 'jobs' | 'deliveries' | 'disabled';
  /** Kind and id of the job, or name of the endpoint. */
  readonly subject: string;
  readonly owner: Owner | undefined;
  readonly result: 'completed' | 'needsInfo' | 'failed' | 'succeeded' | 'exhausted' | 'disabled';
}

/** The time of an action, and the events during the action. */
export interface Advance {
  readonly from: number;
  to: number;
  readonly events: HappenedAt[];
}

/** Most jobs whose changes are kept. */
const MAX_JOBS = 10_000;

/** Most events that are kept. */
const MAX_EVENTS = 10_000;

/** Records the statuses of jobs and the effects of actions while a console is open. */
export class History {
  readonly #service: Service;
  readonly #jobs = new Map<number, StatusChange[]>();
  #isInConsole = false;
  /** The actions that are being done. */
  readonly #current = new Set<Advance>();
  /** The latest events since the console was opened. */
  #all: Advance;

  constructor(service: Service) {
    this.#service = service;
    this.#all = this.#begin();
    service.observers.add({
      onJob: (change) => this.#addChange(change),
      onDelivery: ({ event, delivery }) => {
        if (delivery) for (const { events } of this.#records()) addDelivery(events, event.endpoint, delivery);
      },
    });
  }

  /** Forgets everything, because a loaded state has replaced the current one. */
  clear(): void {
    this.#jobs.clear();
    this.#all = this.#begin();
  }

  #begin(): Advance {
    return { from: this.#service.clock.now(), to: 0, events: [] };
  }

  /** The latest events since the console was opened. */
  get all(): Advance {
    return { ...this.#all, to: this.#service.clock.now() };
  }

  /** Returns the recorded lines, including the actions in progress. */
  *#records(): Generator<Advance> {
    yield* this.#current;
    const { events } = this.#all;
    if (events.length >= MAX_EVENTS) {
      events.splice(0, MAX_EVENTS / 2);
      this.#all = { ...this.#all, from: events[0]?.at ?? this.#all.from };
    }
    yield this.#all;
  }

  /** Returns the statuses of a job, the first one first. */
  changesOf(id: number): readonly StatusChange[] {
    return this.#jobs.get(id) ?? [];
  }

  /** Executes an action of a console user. Later consequences do not count as theirs. */
  inConsole<T>(act: () => T): T {
    this.#isInConsole = true;
    try {
      return act();
    } finally {
      this.#isInConsole = false;
    }
  }

  /** Returns the events during an action. */
  async during(act: () => Promise<void>): Promise<Advance> {
    const { clock } = this.#service;
    const happened: Advance = { from: clock.now(), to: 0, events: [] };
    this.#current.add(happened);
    try {
      await act();
    } finally {
      this.#current.delete(happened);
    }
    happened.to = clock.now();
    return happened;
  }

  #addChange(change: JobChange): void {
    const { id, kind, at, outcome } = change;
    const inConsole = this.#isInConsole && change.cause === 'finish';
    const changes = this.#jobs.get(id) ?? [];
    this.#jobs.set(id, [...changes, { ...change, inConsole, requests: this.#service.state.requestCount }]);
    const [oldest = 0] = this.#jobs.keys();
    if (this.#jobs.size > MAX_JOBS) this.#jobs.delete(oldest);
    if (outcome === undefined) return;
    const owner = findResource(this.#service, id)?.account;
    for (const { events } of this.#records())
      events.push({ at, what: 'jobs', subject: `${kind} ${id}`, owner, result: outcome });
  }
}

function addDelivery(events: HappenedAt[], endpoint: Endpoint, delivery: Delivery): void {
  const { at, attempt } = delivery;
  const { name: subject, creator } = endpoint;
  const owner = creator.company;
  const failed = attempt === MAX_ATTEMPTS ? 'exhausted' : 'failed';
  events.push({ at, what: 'deliveries', subject, owner, result: isDelivered({ delivery }) ? 'succeeded' : failed });
  const isNoted = events.some((event) => event.what === 'disabled' && event.subject === subject);
  if (isDisabled(endpoint) && !isNoted) events.push({ at, what: 'disabled', subject, owner, result: 'disabled' });
}

/** Returns how many jobs ended, how many deliveries were attempted, and which endpoints were disabled. */
export function totalsOf({ events }: Advance) {
  const number = (what: string, ...results: readonly string[]): number =>
    events.filter((event) => event.what === what && results.includes(event.result)).length;
  const [completed, needsInfo, failed] = [
    number('jobs', 'completed'),
    number('jobs', 'needsInfo'),
    number('jobs', 'failed'),
  ];
  return {
    jobs: { ended: completed + needsInfo + failed, completed, needsInfo, failed },
    deliveries: { succeeded: number('deliveries', 'succeeded'), failed: number('deliveries', 'failed', 'exhausted') },
    disabled: events.filter(({ what }) => what === 'disabled').map(({ subject }) => subject),
  };
}

/** Returns the events as text. */
export function happenedText(advance: Advance): string {
  const { jobs, deliveries, disabled } = totalsOf(advance);
  const { succeeded, failed } = deliveries;
  const results = [
    [jobs.completed, 'completed'],
    [jobs.needsInfo, 'need information'],
    [jobs.failed, 'failed'],
  ] as const;
  const ended = results.flatMap(([number, text]) => (number > 0 ? [`${count(number)} ${text}`] : []));
  const attempted = (number: number): string => counted(number, 'delivery', 'deliveries');
  const parts = [
    jobs.ended > 0 ? `${counted(jobs.ended, 'job')} ended (${ended.join(', ')})` : '',
    succeeded > 0 ? `${attempted(succeeded)} succeeded` : '',
    failed > 0 ? `${succeeded > 0 ? count(failed) : attempted(failed)} failed` : '',
    disabled.length > 0 ? `${disabled.join(', ')} ${disabled.length === 1 ? 'is' : 'are'} switched off` : '',
  ].filter(Boolean);
  return parts.join(', ') || 'nothing was due';
}
