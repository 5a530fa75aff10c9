import type { JobState, Statuses } from '../spec/job-status.ts';
import { type Clock, formatTimestamp } from './clock.ts';
import { MAX_DURATION_MS } from './service-limits.ts';
import type { AccountRecord } from './state.ts';

/** Kinds of worker jobs. */
export type JobKind = 'audience' | 'lookalike' | 'estimate' | 'activation' | 'cohort';

/** A job, as passed to the functions of `JobOptions`. */
export interface JobInfo {
  /** Kind of the job's resource. */
  readonly kind: JobKind;
  /** Id of the resource. */
  readonly id: number;
  /** Name or description of the resource, as created. */
  readonly name: string;
}

/** Numbers of devices that a build finds. */
export interface DeviceCounts {
  /** Unique EIDs, as in `eligibility.metrics.unique_eids`. */
  readonly eids: number;
  /** Unique SCIDs. Used for `AffinityTransactions` data only. @default a third of `eids` */
  readonly scids?: number | undefined;
}

/** The final status id of a job, or an object with further details. */
export type JobOutcome =
  | number
  | {
      /**
       * 104, 107, a 4xx status, or a final status of the contract; for cohorts, also 4 or 5. For cohorts, 104 means 4, and
       * 107 and 4xx mean 5.
       */
      readonly status: number;
      /** Reason for the outcome. Only the console and `sandbox.jobs.reason` show it. */
      readonly reason?: string | undefined;
      /** Duration of the job in milliseconds of the sandbox's clock. @default `duration` of `JobOptions` */
      readonly duration?: number | undefined;
    };

/** Rules for jobs. Durations are in milliseconds of the sandbox's clock. */
export interface JobOptions {
  /** Duration of a job. @default 600_000 ms (10 minutes) */
  readonly duration?: number | ((job: JobInfo) => number) | undefined;
  /** Outcome of a job. An outcome from `sandbox.jobs.next` takes precedence. @default 104 */
  readonly outcome?: JobOutcome | ((job: JobInfo) => JobOutcome) | undefined;
  /**
   * Devices that the build of an audience or an estimate finds. An audience created from a cohort has the cohort's
   * devices. @default a random number of EIDs from 2,000 to 101,999
   */
  readonly devices?: number | DeviceCounts | ((job: JobInfo) => number | DeviceCounts) | undefined;
}

export interface JobStart {
  readonly kind: JobKind;
  readonly name: string;
  readonly resource: { readonly id: number; status: { id: number; name: string }; [field: string]: unknown };
  readonly account: AccountRecord;
  /** Results of the job if it succeeds. */
  readonly result: JobResult;
}

/** Results of a successful job: counts of the devices of a build, of delivered rows, or of rows of an uploaded file. */
export interface JobResult {
  readonly eids?: number;
  readonly scids?: number;
  readonly identifier?: string;
  readonly rows?: number | undefined;
}

/** A running job, as plain data that can be saved. */
export interface RunningJob extends JobStart {
  outcome: Exclude<JobOutcome, number>;
}

/** Running jobs by resource id, queued outcomes by kind, and the reasons of ended jobs by resource id. */
export interface SavedJobs {
  readonly running: ReadonlyMap<number, RunningJob>;
  readonly next: ReadonlyMap<JobKind, JobOutcome[]>;
  readonly reasons: ReadonlyMap<number, { readonly kind: JobKind; readonly reason: string }>;
}

/** A scheduled change of a job. Has no effect once the job has ended. */
export type JobTask =
  | { readonly type: 'job-status'; readonly id: number; readonly status: number }
  | { readonly type: 'job-end'; readonly id: number };

export interface JobChange {
  readonly kind: JobKind;
  /** Id of the resource. */
  readonly id: number;
  readonly status: { readonly id: number; readonly name: string };
  /** Time of the change on the sandbox's clock, in milliseconds since 1970. */
  readonly at: number;
  /** Cause of the change: the progress of the job, a cancel request, or a call of `jobs.finish`. */
  readonly cause: 'job' | 'cancel' | 'finish';
  /** How the job ended. Set only at the end of the job. */
  readonly outcome?: 'completed' | 'needsInfo' | 'failed';
}

/** Functions that the worker calls when a job changes or ends. */
interface JobEffects {
  onChange(change: JobChange): void;
  onEnd(job: RunningJob, succeeded: boolean): void;
}

/** A status that a job enters after a share of its duration. */
interface Phase {
  readonly share: number;
  readonly status: number;
}

const DEFAULT_DURATION_MS = 600_000;

export const QUEUED = 100;
const COMPLETED = 104;
const PUBLISHING = 103;
const NEEDS_INFO = 107;
const STOPPED = 400;
const COHORT_COMPLETED = 4;
const COHORT_NOT_AVAILABLE = 5;

const build: readonly Phase[] = [
  { share: 0, status: QUEUED },
  { share: 0.1, status: 102 },
];

/** Phases of each kind. The specification names only 105. The ids 100 to 103 and the names of 1 to 3 are assumed. */
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

/** Status names for the ids that a contract defines. */
const PROGRESS_NAMES: Readonly<Record<JobState, string>> = {
  running: 'Building',
  completed: 'Completed',
  'needs-info': 'Additional Info',
  failed: 'Error',
  cancelled: 'Stopped',
};

export const statusOf = (id: number): { id: number; name: string } => ({ id, name: STATUS_NAMES[id] ?? 'Error' });

/** Default reason of a job that ends with status 107. */
const DEFAULT_REASON = 'The job cannot be processed as requested.';

/** The sandbox's worker, which runs jobs. */
export class Jobs {
  readonly #clock: Pick<Clock<JobTask>, 'now' | 'schedule'>;
  readonly #options: JobOptions;
  readonly #statuses: Statuses;
  readonly #effects: JobEffects;
  readonly #running = new Map<number, RunningJob>();
  readonly #next = new Map<JobKind, JobOutcome[]>();
  readonly #reasons = new Map<number, { readonly kind: JobKind; readonly reason: string }>();

  /** @param statuses Job states by kind and status id, from the contract. */
  constructor(
    clock: Pick<Clock<JobTask>, 'now' | 'schedule'>,
    options: JobOptions,
    statuses: Statuses,
    effects: JobEffects,
  ) {
    this.#clock = clock;
    this.#options = options;
    this.#statuses = statuses;
    this.#effects = effects;
    const { outcome, duration } = options;
    if (outcome !== undefined && typeof outcome !== 'function') this.#readOutcome('audience', outcome);
    if (typeof duration === 'number') checkDuration(duration);
  }

  get running(): JobInfo[] {
    return [...this.#running.values()].map(({ kind, name, resource }) => ({ kind, id: resource.id, name }));
  }

  get saved(): SavedJobs {
    return { running: this.#running, next: this.#next, reasons: this.#reasons };
  }

  /** Replaces the current jobs with saved jobs. */
  restore({ running, next, reasons }: SavedJobs): void {
    for (const map of [this.#running, this.#next, this.#reasons]) map.clear();
    for (const [id, job] of running) this.#running.set(id, job);
    for (const [kind, outcomes] of next) this.#next.set(kind, outcomes);
    for (const [id, reason] of reasons) this.#reasons.set(id, reason);
  }

  /** Queues the outcome of a future job of a kind. */
  next(kind: JobKind, outcome: JobOutcome): void {
    this.#readOutcome(kind, outcome);
    this.#next.set(kind, [...(this.#next.get(kind) ?? []), outcome]);
  }

  get queued(): { readonly kind: JobKind; readonly outcome: JobOutcome }[] {
    return [...this.#next].flatMap(([kind, outcomes]) => outcomes.map((outcome) => ({ kind, outcome })));
  }

  clearNext(): void {
    this.#next.clear();
  }

  start(job: JobStart): void {
    const { kind, resource, name } = job;
    const info: JobInfo = { kind, id: resource.id, name };
    const { duration: usual = DEFAULT_DURATION_MS, outcome: planned = COMPLETED } = this.#options;
    const outcome = this.#readOutcome(
      kind,
      this.#next.get(kind)?.shift() ?? (typeof planned === 'function' ? planned(info) : planned),
    );
    const duration = checkDuration(outcome.duration ?? (typeof usual === 'function' ? usual(info) : usual));
    const start = this.#clock.now();
    const [first, ...later] = PHASES[kind];
    if (first) this.#setStatus(job, first.status, 'job');
    const { id } = resource;
    for (const { share, status } of later) {
      this.#clock.schedule(start + duration * share, { type: 'job-status', id, status });
    }
    this.#clock.schedule(start + duration, { type: 'job-end', id });
    this.#running.set(id, { ...job, outcome });
  }

  run(task: JobTask): void {
    const job = this.#running.get(task.id);
    if (!job) return;
    if (task.type === 'job-status') this.#setStatus(job, task.status, 'job');
    else this.finish(job.kind, task.id, job.outcome.status, job.outcome.reason, 'job');
  }

  finish(kind: JobKind, id: number, status: number, reason?: string, cause: JobChange['cause'] = 'finish'): void {
    const job = this.#running.get(id);
    if (job?.kind !== kind) throw new Error(`No job of ${kind} ${id} is running.`);
    this.#readOutcome(kind, status);
    const succeeded = this.isCompleted(kind, status);
    this.drop(id);
    const outcome = succeeded ? 'completed' : status === NEEDS_INFO ? 'needsInfo' : 'failed';
    this.#setStatus(job, this.endStatus(kind, status), cause, outcome);
    const shown = reason ?? (status === NEEDS_INFO ? DEFAULT_REASON : undefined);
    if (shown !== undefined) this.#reasons.set(id, { kind, reason: shown });
    this.#effects.onEnd(job, succeeded);
  }

  /**
   * Returns why a job ended. The console shows this reason; the API does not (specification, "States and transitions").
   */
  reason(kind: JobKind, id: number): string | undefined {
    const entry = this.#reasons.get(id);
    return entry?.kind === kind ? entry.reason : undefined;
  }

  /**
   * Cancels a running lookalike, which ends with status 400, or with 104 if it is being published. Returns
   * whether the lookalike was running.
   */
  cancel(id: number): boolean {
    const job = this.#running.get(id);
    if (job?.resource.status.id === PUBLISHING) job.outcome = { status: COMPLETED };
    else if (job) this.finish('lookalike', id, STOPPED, undefined, 'cancel');
    return job !== undefined;
  }

  /** Removes the job of a resource. Resource ids are unique across all kinds. */
  drop(id: number): void {
    this.#running.delete(id);
    this.#reasons.delete(id);
  }

  /** Returns the devices that a build finds. `random` is in [0, 1). */
  countDevices(info: JobInfo, random: number): Readonly<Record<keyof DeviceCounts, number>> {
    const { devices } = this.#options;
    const counts = (typeof devices === 'function' ? devices(info) : devices) ?? 2_000 + Math.floor(random * 100_000);
    const { eids, scids = Math.floor(eids / 3) } = typeof counts === 'number' ? { eids: counts } : counts;
    if (![eids, scids].every((count) => Number.isSafeInteger(count) && count >= 0))
      throw new Error(`\`devices\` must be integers of 0 or more, not ${eids} EIDs and ${scids} SCIDs.`);
    return { eids, scids };
  }

  /** Returns the final status for an outcome. Converts it to the cohort scale for cohorts. */
  endStatus(kind: JobKind, status: number): number {
    if (kind !== 'cohort' || this.#named(kind, status)) return status;
    return this.isCompleted(kind, status) ? COHORT_COMPLETED : COHORT_NOT_AVAILABLE;
  }

  /** Returns whether a status means that a job has succeeded. */
  isCompleted(kind: JobKind, status: number): boolean {
    const named = this.#named(kind, status);
    if (named) return named === 'completed';
    return status === COMPLETED || (kind === 'cohort' && status === COHORT_COMPLETED);
  }

  /** Returns the state that the contract defines for a status. Entries for `audience` also apply to lookalikes. */
  #named(kind: JobKind, status: number): JobState | undefined {
    const { [`${kind} ${status}`]: own, [`audience ${status}`]: ofAudience } = this.#statuses;
    return own ?? (kind === 'lookalike' ? ofAudience : undefined);
  }

  /** Returns an outcome as an object. Throws for an unknown kind, an invalid duration, or a status that is not final. */
  #readOutcome(kind: JobKind, outcome: JobOutcome): Exclude<JobOutcome, number> {
    if (!Object.hasOwn(PHASES, kind))
      throw new Error(`\`kind\` of a job must be one of ${Object.keys(PHASES).join(', ')}, not "${kind}".`);
    const result = typeof outcome === 'number' ? { status: outcome } : outcome;
    const { status, duration } = result;
    if (duration !== undefined) checkDuration(duration);
    const named = this.#named(kind, status);
    if (named ? named !== 'running' : isFinal(kind, status)) return result;
    throw new Error(
      `\`status\` must be a final status: 104, 107, 4xx, for a cohort also 4 or 5, or a final status of the contract, not ${status}.`,
    );
  }

  /** Returns a status with its name, also for the ids that a contract defines. */
  statusOf(kind: JobKind, id: number): { id: number; name: string } {
    const named = this.#named(kind, id);
    return named ? { id, name: PROGRESS_NAMES[named] } : statusOf(id);
  }

  #setStatus(
    { kind, resource }: JobStart,
    status: number,
    cause: JobChange['cause'],
    outcome?: JobChange['outcome'],
  ): void {
    const at = this.#clock.now();
    resource.status = this.statusOf(kind, status);
    if ('updated_at' in resource) Object.assign(resource, { updated_at: formatTimestamp(at) });
    this.#effects.onChange({
      kind,
      id: resource.id,
      status: resource.status,
      at,
      cause,
      ...(outcome && { outcome }),
    });
  }
}

function checkDuration(ms: number): number {
  if (ms >= 0 && ms <= MAX_DURATION_MS) return ms;
  throw new Error(`\`duration\` of a job must be a number of milliseconds from 0 to 100 years, not ${ms}.`);
}

/** Returns whether a status is final for a kind (specification, "States and transitions"). */
const isFinal = (kind: JobKind, status: number): boolean =>
  status === COMPLETED ||
  status === NEEDS_INFO ||
  (Number.isInteger(status) && status >= 400 && status < 500) ||
  (kind === 'cohort' && (status === COHORT_COMPLETED || status === COHORT_NOT_AVAILABLE));
