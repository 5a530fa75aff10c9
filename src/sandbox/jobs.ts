import { type Clock, wireTime } from './clock.ts';
import type { Mutable } from './state.ts';

/** What a rule about jobs is told. */
export interface JobInfo {
  readonly kind: 'audience';
  readonly id: number;
  readonly name: string;
}

/** How jobs run. */
export interface JobOptions {
  /** Milliseconds of sandbox time a job takes. @default 600000 */
  readonly duration?: number | ((job: JobInfo) => number);
  /** Status id a job ends at: 104, 107 or a 4xx. @default 104 */
  readonly outcome?: number | ((job: JobInfo) => number);
}

/** A resource with a job behind it. */
interface JobResource {
  readonly id: number;
  readonly name: string;
  readonly status: { readonly id: number; readonly name: string };
  readonly updated_at: string;
}

/** The worker of the sandbox. */
export interface Jobs {
  /** Starts the job of a resource just created. */
  start(kind: 'audience', resource: Mutable<JobResource>): void;
  /** Ends a job now, at the given status. */
  finish(kind: 'audience', id: number, status: number): void;
  /** Forgets the job of a deleted resource. */
  drop(kind: 'audience', id: number): void;
}

const TEN_MINUTES = 600_000;

/** Names of statuses; those other than 104, 105, 107 and 400 are not specified and made up here. */
const STATUS_NAMES: Readonly<Record<number, string>> = {
  100: 'Queued',
  102: 'Building',
  104: 'Completed',
  105: 'DataStreaming',
  107: 'Additional Info',
  400: 'Stopped',
};

/** A status as resources show it. */
export const statusOf = (id: number): { id: number; name: string } => ({
  id,
  name: STATUS_NAMES[id] ?? (id >= 400 ? 'Error' : 'Running'),
});

/** A job is queued for this share of its time. */
const QUEUED_SHARE = 0.1;
const COMPLETED = 104;
const BUILDING = 102;

/** A worker on the sandbox's clock. */
export function createJobs(clock: Clock, { duration = TEN_MINUTES, outcome = COMPLETED }: JobOptions): Jobs {
  const running = new Map<string, { resource: Mutable<JobResource>; stop: (() => void)[] }>();

  function enter(resource: Mutable<JobResource>, status: number): void {
    resource.status = statusOf(status);
    resource.updated_at = wireTime(clock.now());
  }

  function drop(kind: 'audience', id: number): void {
    for (const stop of running.get(`${kind} ${id}`)?.stop ?? []) stop();
    running.delete(`${kind} ${id}`);
  }

  function finish(kind: 'audience', id: number, status: number): void {
    const job = running.get(`${kind} ${id}`);
    if (!job) throw new Error(`No job of ${kind} ${id} is running.`);
    drop(kind, id);
    enter(job.resource, status);
  }

  return {
    finish,
    drop,
    start(kind, resource) {
      const info: JobInfo = { kind, id: resource.id, name: resource.name };
      const takes = typeof duration === 'function' ? duration(info) : duration;
      const end = typeof outcome === 'function' ? outcome(info) : outcome;
      const began = clock.now();
      const building = clock.at(began + takes * QUEUED_SHARE, () => enter(resource, BUILDING));
      const ending = clock.at(began + takes, () => finish(kind, resource.id, end));
      running.set(`${kind} ${resource.id}`, { resource, stop: [building, ending] });
    },
  };
}
