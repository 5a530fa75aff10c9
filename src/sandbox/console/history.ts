import type { JobChange } from '../jobs.ts';
import type { Service } from '../service.ts';
import type { Endpoint } from '../state.ts';
import { type Delivery, isDisabled } from '../webhook-deliveries.ts';
import { isDelivered, MAX_ATTEMPTS } from './delivery-groups.ts';
import { count, counted } from './words.ts';

/** A status that a job had, and who has changed it. */
export interface StatusChange extends JobChange {
  /** `true` if somebody has done it in the console. */
  readonly inConsole: boolean;
  /** Number of requests before it. */
  readonly requests: number;
}

/** Totals of an action: how many jobs ended, how many deliveries were attempted, which endpoints were disabled. */
interface Happened {
  readonly jobs: { ended: number; completed: number; needsInfo: number; failed: number };
  readonly deliveries: { succeeded: number; failed: number };
  /** Names of the endpoints that the service has disabled. */
  readonly disabled: string[];
}

/** One time at which something happened, in lines of the clock's page. */
export interface HappenedAt {
  readonly at: number;
  readonly what: 'jobs' | 'deliveries' | 'disabled';
  readonly subject: string;
  readonly result: 'completed' | 'needsInfo' | 'failed' | 'succeeded' | 'exhausted' | 'disabled';
}

/** The latest advance of the clock. */
export interface Advance extends Happened {
  readonly from: number;
  to: number;
  readonly events: HappenedAt[];
}

/** Most jobs whose changes are kept, and most events of an advance. */
const MAX_JOBS = 10_000;
const MAX_EVENTS = 1_000;

/** The statuses of jobs, and what an action does, while a console is open. */
export class History {
  readonly #service: Service;
  readonly #jobs = new Map<number, StatusChange[]>();
  #isInConsole = false;
  /** Totals of the actions that are being done. */
  readonly #current = new Set<Advance>();
  /** The latest advance, by an action of the console. */
  latest: Advance | undefined;

  constructor(service: Service) {
    this.#service = service;
    service.observers.add({
      onJob: (change) => this.#addChange(change),
      onDelivery: ({ event, delivery }) => {
        if (delivery) for (const happened of this.#current) addDelivery(happened, event.endpoint, delivery);
      },
    });
  }

  /** Forgets everything: another state has replaced the present one. */
  clear(): void {
    this.#jobs.clear();
    this.latest = undefined;
  }

  /** Returns the statuses of a job, the first one first. */
  changesOf(id: number): readonly StatusChange[] {
    return this.#jobs.get(id) ?? [];
  }

  /** Does something in the name of whoever uses the console; what follows from it later is not theirs. */
  inConsole<T>(act: () => T): T {
    this.#isInConsole = true;
    try {
      return act();
    } finally {
      this.#isInConsole = false;
    }
  }

  /** Returns what happens while something is done. */
  async during(act: () => Promise<void>): Promise<Advance> {
    const from = this.#service.clock.now();
    const happened: Advance = {
      from,
      to: from,
      jobs: { ended: 0, completed: 0, needsInfo: 0, failed: 0 },
      deliveries: { succeeded: 0, failed: 0 },
      disabled: [],
      events: [],
    };
    this.#current.add(happened);
    try {
      await act();
    } finally {
      this.#current.delete(happened);
    }
    happened.to = this.#service.clock.now();
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
    for (const happened of this.#current) {
      happened.jobs.ended++;
      happened.jobs[outcome]++;
      addEvent(happened, { at, what: 'jobs', subject: kind, result: outcome });
    }
  }
}

function addDelivery(happened: Advance, endpoint: Endpoint, delivery: Delivery): void {
  const { at, attempt } = delivery;
  const subject = endpoint.name;
  const isGood = isDelivered({ delivery });
  happened.deliveries[isGood ? 'succeeded' : 'failed']++;
  const result = isGood ? 'succeeded' : attempt === MAX_ATTEMPTS ? 'exhausted' : 'failed';
  addEvent(happened, { at, what: 'deliveries', subject, result });
  if (!isDisabled(endpoint) || happened.disabled.includes(subject)) return;
  happened.disabled.push(subject);
  addEvent(happened, { at, what: 'disabled', subject, result: 'disabled' });
}

function addEvent({ events }: Advance, event: HappenedAt): void {
  if (events.length < MAX_EVENTS) events.push(event);
}

const DELIVERIES = ['delivery', 'deliveries'] as const;

const JOB_RESULTS = [
  ['completed', 'completed'],
  ['needsInfo', 'need information'],
  ['failed', 'failed'],
] as const;

/** Returns what has happened, in words. */
export function happenedText({ jobs, deliveries, disabled }: Happened): string {
  const { succeeded, failed } = deliveries;
  const results = JOB_RESULTS.flatMap(([name, text]) => (jobs[name] > 0 ? [`${count(jobs[name])} ${text}`] : []));
  const ended = counted(jobs.ended, 'job');
  const isOne = disabled.length === 1;
  const parts = [
    jobs.ended > 0 ? `${ended} ended (${results.join(', ')})` : '',
    succeeded > 0 ? `${counted(succeeded, ...DELIVERIES)} succeeded` : '',
    failed > 0 ? `${succeeded > 0 ? count(failed) : counted(failed, ...DELIVERIES)} failed` : '',
    disabled.length > 0 ? `${disabled.join(', ')} ${isOne ? 'is' : 'are'} switched off` : '',
  ].filter(Boolean);
  return parts.length > 0 ? parts.join(', ') : 'nothing was due';
}
