import { type Clock, wireTime } from './clock.ts';
import type { Mutable } from './state.ts';

/** Kinds of job the worker runs. */
export type JobKind = 'audience' | 'lookalike' | 'estimate' | 'activation' | 'cohort';

/** What a rule about jobs is told. */
export interface JobInfo {
  readonly kind: JobKind;
  readonly id: number;
  /** Its name or description, as created. */
  readonly name: string;
}

/** How many devices a build finds. */
export interface Devices {
  readonly eids: number;
  /** For AffinityTransactions data only. */
  readonly scids?: number | undefined;
}

/** Devices that a build has found. */
export type FoundDevices = Readonly<Record<keyof Devices, number>>;

/** How a job ends: a status id, or one with more. */
export type JobOutcome =
  | number
  | {
      /** 104, 107 or a 4xx; cohorts end at 4 for 104, and at 5 for any other. */
      readonly status: number;
      /** Why it ended so, as the console tells; the API does not. */
      readonly reason?: string | undefined;
      /** Milliseconds of sandbox time this job takes. @default what `duration` says */
      readonly duration?: number | undefined;
    };

/** How jobs run. */
export interface JobOptions {
  /** Milliseconds of sandbox time a job takes. @default 600000 */
  readonly duration?: number | ((job: JobInfo) => number) | undefined;
  /** How a job ends; `sandbox.jobs.next` goes first. @default 104 */
  readonly outcome?: JobOutcome | ((job: JobInfo) => JobOutcome) | undefined;
  /** Devices an audience's build finds. @default some thousands; a third as many SCIDs */
  readonly devices?: number | Devices | ((job: JobInfo) => number | Devices) | undefined;
}

/** A resource with a job behind it. */
interface JobResource {
  readonly id: number;
  readonly status: { readonly id: number; readonly name: string };
}

/** A job as it is started. */
export interface JobStart {
  readonly kind: JobKind;
  readonly name: string;
  readonly resource: Mutable<JobResource & { readonly [more: string]: unknown }>;
  /** Runs when the job has ended well. */
  readonly completed?: () => void;
  /** Runs when the job has ended, after that. */
  readonly ended?: (succeeded: boolean) => void;
}

/** A phase begins after this share of the job's time. */
interface Phase {
  readonly share: number;
  readonly status: number;
}

const TEN_MINUTES = 600_000;

/** Where audiences, estimates and activations begin (made up) and end ("States and transitions"). */
export const QUEUED = 100;
export const COMPLETED = 104;
const NEEDS_INFO = 107;
const STOPPED = 400;
const PUBLISHING = 103;
const COHORT_COMPLETED = 4;
const COHORT_NOT_AVAILABLE = 5;

const build: readonly Phase[] = [
  { share: 0, status: QUEUED },
  { share: 0.1, status: 102 },
];

/** The way of each kind; ids other than 104, 105, 107, 400 and the cohort scale are made up here. */
const PHASES: Readonly<Record<JobKind, readonly Phase[]>> = {
  audience: build,
  estimate: build,
  lookalike: [...build, { share: 0.8, status: PUBLISHING }],
  activation: [...build, { share: 0.5, status: 105 }],
  cohort: [
    { share: 0, status: 1 },
    { share: 0.1, status: 2 },
    { share: 0.9, status: 3 },
  ],
};

const STATUS_NAMES: Readonly<Record<number, string>> = {
  1: 'Queued',
  2: 'Importing',
  3: 'Finishing',
  4: 'Completed',
  5: 'Not Available',
  100: 'Queued',
  102: 'Building',
  103: 'Publishing',
  104: 'Completed',
  105: 'DataStreaming',
  107: 'Additional Info',
  400: 'Stopped',
};

/** A status as resources show it. */
export const statusOf = (id: number): { id: number; name: string } => ({ id, name: STATUS_NAMES[id] ?? 'Error' });

/** What the console shows at 107 when nobody gave a reason. */
const UNKNOWN_REASON = 'The job cannot be done as requested.';

interface Running extends JobStart {
  readonly stops: readonly (() => void)[];
  end: Exclude<JobOutcome, number>;
}

/** The worker of the sandbox. */
export class Jobs {
  readonly #clock: Clock;
  readonly #options: JobOptions;
  readonly #running = new Map<number, Running>();
  readonly #next = new Map<JobKind, JobOutcome[]>();
  readonly #reasons = new Map<number, { readonly kind: JobKind; readonly why: string }>();

  constructor(clock: Clock, options: JobOptions) {
    this.#clock = clock;
    this.#options = options;
    const { outcome, duration } = options;
    if (outcome !== undefined && typeof outcome !== 'function') readOutcome('audience', outcome);
    if (typeof duration === 'number') readDuration(duration);
  }

  /** Jobs that are running, oldest first. */
  get running(): JobInfo[] {
    return [...this.#running.values()].map(({ kind, name, resource }) => ({ kind, id: resource.id, name }));
  }

  /** Decides how the next job of a kind ends; several wait in line. */
  next(kind: JobKind, outcome: JobOutcome): void {
    readOutcome(kind, outcome);
    this.#next.set(kind, [...(this.#next.get(kind) ?? []), outcome]);
  }

  /** Starts the job of a resource just created. */
  start(job: JobStart): void {
    const { kind, resource, name } = job;
    const info: JobInfo = { kind, id: resource.id, name };
    const { duration = TEN_MINUTES, outcome } = this.#options;
    const told = this.#next.get(kind)?.shift() ?? (typeof outcome === 'function' ? outcome(info) : outcome);
    const end = readOutcome(kind, told ?? COMPLETED);
    const takes = readDuration(end.duration ?? (typeof duration === 'function' ? duration(info) : duration));
    const began = this.#clock.now();
    const [first, ...later] = PHASES[kind];
    if (first) this.#enter(job, first.status);
    const stops = later.map(({ share, status }) =>
      this.#clock.at(began + takes * share, () => this.#enter(job, status)),
    );
    const running: Running = { ...job, stops, end };
    stops.push(
      this.#clock.at(began + takes, () => this.finish(kind, resource.id, running.end.status, running.end.reason)),
    );
    this.#running.set(resource.id, running);
  }

  /** Ends a job now, at the given status. */
  finish(kind: JobKind, id: number, status: number, reason?: string): void {
    const job = this.#running.get(id);
    if (job?.kind !== kind) throw new Error(`No job of ${kind} ${id} is running.`);
    readOutcome(kind, status);
    const completes = status === COMPLETED || (kind === 'cohort' && status === COHORT_COMPLETED);
    this.drop(id);
    if (kind === 'cohort') this.#enter(job, completes ? COHORT_COMPLETED : COHORT_NOT_AVAILABLE);
    else this.#enter(job, status);
    const why = reason ?? (status === NEEDS_INFO ? UNKNOWN_REASON : undefined);
    if (why !== undefined) this.#reasons.set(id, { kind, why });
    if (completes) job.completed?.();
    job.ended?.(completes);
  }

  /** Why a job ended as it did; the console shows it, the API does not ("States and transitions"). */
  reason(kind: JobKind, id: number): string | undefined {
    const known = this.#reasons.get(id);
    return known?.kind === kind ? known.why : undefined;
  }

  /** Stops a running lookalike at 400; one that is publishing completes. Returns whether it was running. */
  cancel(id: number): boolean {
    const job = this.#running.get(id);
    if (job?.resource.status.id === PUBLISHING) job.end = { status: COMPLETED };
    else if (job) this.finish('lookalike', id, STOPPED);
    return job !== undefined;
  }

  /** Forgets the job of a deleted resource; ids are unique over all kinds. */
  drop(id: number): void {
    for (const stop of this.#running.get(id)?.stops ?? []) stop();
    this.#running.delete(id);
    this.#reasons.delete(id);
  }

  /** Devices that the build of an audience finds. */
  devices(info: JobInfo, random: number): FoundDevices {
    const { devices } = this.#options;
    const found = (typeof devices === 'function' ? devices(info) : devices) ?? 2_000 + Math.floor(random * 100_000);
    const { eids, scids = Math.floor(eids / 3) } = typeof found === 'number' ? { eids: found } : found;
    if (![eids, scids].every((count) => Number.isSafeInteger(count) && count >= 0))
      throw new Error(`An audience holds whole numbers of devices from 0, not ${eids} and ${scids}.`);
    return { eids, scids };
  }

  #enter({ resource }: JobStart, status: number): void {
    resource.status = statusOf(status);
    if ('updated_at' in resource) Object.assign(resource, { updated_at: wireTime(this.#clock.now()) });
  }
}

/** An outcome in its long form, if jobs of a kind can end so. */
function readOutcome(kind: JobKind, outcome: JobOutcome): Exclude<JobOutcome, number> {
  if (!Object.hasOwn(PHASES, kind)) throw new Error(`"${kind}" is no kind of job: ${Object.keys(PHASES).join(', ')}.`);
  const end = typeof outcome === 'number' ? { status: outcome } : outcome;
  const { status } = end;
  const ends =
    status === COMPLETED || status === NEEDS_INFO || (Number.isInteger(status) && status >= 400 && status < 500);
  if (ends || (kind === 'cohort' && (status === COHORT_COMPLETED || status === COHORT_NOT_AVAILABLE))) return end;
  throw new Error(`A job ends at 104, 107 or a 4xx status, a cohort also at 4 or 5; not at ${status}.`);
}

function readDuration(ms: number): number {
  if (ms >= 0 && ms < Number.POSITIVE_INFINITY) return ms;
  throw new Error(`A job takes milliseconds from 0, not ${ms}.`);
}
