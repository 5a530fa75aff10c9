import type { JobKind } from '../errors/job.ts';
import { type Observed, type Progress, progressOf } from './outcome.ts';
import type { Source } from './source.ts';
import { Turn } from './turn.ts';

/** How an update was learnt of: a read of its own, a page of a list, or an event. */
export type UpdateSource = 'poll' | 'list' | 'webhook';

/** What came of one look at a resource. */
export interface Sighting<T> {
  readonly resource: T;
  readonly progress: Progress;
  readonly source: UpdateSource;
}

/** One wait, as far as its job is concerned. It leaves by itself when it has seen the job end. */
export interface Subscriber<T> {
  see(sighting: Sighting<T>): void;
  fail(error: unknown): void;
}

/** A job that is waited for, by one or by several. */
export class Job<T extends Observed> {
  readonly id: number;
  readonly source: Source<T>;
  readonly subscribers = new Set<Subscriber<T>>();
  /** Reads of its own. */
  readonly turn = new Turn();
  /** The page it was last found on. */
  page: number | undefined;
  /** When it was first asked for, or last not found where it had been. */
  since = performance.now();
  /** Something has happened to it: it is to be read now. */
  urgent = false;
  /** The resource as last seen. */
  resource: T | undefined;

  constructor(id: number, source: Source<T>) {
    this.id = id;
    this.source = source;
  }

  get kind(): JobKind {
    return this.source.kind;
  }

  /** Tells every wait what was seen; returns whether the job has ended. */
  see(resource: T, source: UpdateSource): boolean {
    this.urgent = false;
    this.resource = resource;
    const progress = progressOf(this.kind, resource);
    for (const subscriber of [...this.subscribers]) {
      // One may have left while another was told.
      if (this.subscribers.has(subscriber)) subscriber.see({ resource, progress, source });
    }
    return progress !== 'running';
  }

  /** Ends every wait. */
  fail(error: unknown): void {
    for (const subscriber of [...this.subscribers]) if (this.subscribers.has(subscriber)) subscriber.fail(error);
  }
}

/** `Y-m-d H:i:s`: such texts sort as their times do. */
const TIMESTAMP = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/;

/** Whether a state of a resource is from before another one, by the service's own timestamps. */
export function isOlder(state: unknown, than: unknown): boolean {
  const [one, other] = [updatedAt(state), updatedAt(than)];
  return one !== undefined && other !== undefined && one < other;
}

function updatedAt(resource: unknown): string | undefined {
  if (typeof resource !== 'object' || resource === null || !('updated_at' in resource)) return undefined;
  const time = resource.updated_at;
  return typeof time === 'string' && TIMESTAMP.test(time) ? time : undefined;
}
