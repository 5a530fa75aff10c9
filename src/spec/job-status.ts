/** Kinds of job that a program can wait for (specification, "States and transitions"). */
export type JobKind = 'audience' | 'lookalike' | 'estimate' | 'activation' | 'cohort';

/** State of a job, as {@link jobState} returns it. */
export type JobState = 'running' | 'completed' | 'needs-info' | 'failed' | 'cancelled';

/** Job states by kind of job and status id, such as `audience 106`. */
export type Statuses = Readonly<Record<string, JobState>>;

/**
 * Status ids of audiences, lookalikes, estimates and activations that the specification names ("States and
 * transitions"). All 4xx ids end the job. To branch on the end of a job, use {@link jobState}.
 */
export const AUDIENCE_STATUS = {
  /** The job has completed. */
  completed: 104,
  /** An activation is being delivered. */
  dataStreaming: 105,
  /** The job has ended because it cannot be completed as defined. Only the console shows the reason. */
  additionalInfo: 107,
  /** For a lookalike: cancelled while it was running. For other resources: an error. */
  cancelled: 400,
} as const;

/**
 * Status ids of cohorts that the specification names ("States and transitions"). With the ids 1 to 3, the job is
 * running.
 */
export const COHORT_STATUS = {
  /** The import has completed. */
  completed: 4,
  /** The import has failed. */
  notAvailable: 5,
} as const;

/** Fields that every job's resource has. */
export interface JobResource {
  /** Id of the resource. */
  readonly id: number;
  /** Status of the job. The final ids are 104, 107 and 4xx; for cohorts, 4 and 5. */
  readonly status: {
    /** Number that decides the state of the job. */
    readonly id: number;
    /** Name for people, such as `Completed`. */
    readonly name: string;
  };
  /** `true` for lookalikes, which end with status 400 when they are cancelled. */
  readonly is_lookalike?: unknown;
}

/** Returns a status as text, such as `104 Completed`. The service may omit the name. */
export const statusText = ({ id, name }: JobResource['status']): string => (name ? `${id} ${name}` : String(id));

/** The fields of a resource that decide the state of its job. */
export interface StatusFields {
  /** Status of the job. */
  readonly status: {
    /** Number that decides the state of the job. */
    readonly id: number;
  };
  /** `true` for lookalikes, which end with status 400 when they are cancelled. */
  readonly is_lookalike?: unknown;
}

/**
 * Returns the state of a job from the status of its resource. Status ids that the specification does not name count as
 * running. If a contract describes your service, use `client.jobState`, which applies the `statuses` of the contract.
 *
 * @param kind Kind of the job, such as `audience`.
 * @param resource Audience, estimate, activation or cohort, as read or received with a webhook event.
 * @param statuses Maps additional status ids to states, like the `statuses` of a contract.
 * @throws {TypeError} if `kind` is not a `JobKind`, or the resource has no numeric `status.id`.
 * @example
 * const audience = await client.audiences.get(42);
 * console.log(jobState('audience', audience)); // completed
 */
export function jobState(kind: JobKind, resource: StatusFields, statuses?: Statuses): JobState {
  const { status, is_lookalike } = resource;
  const id = status?.id;
  if (!JOB_KINDS.includes(kind)) throw new TypeError(`\`kind\` must be one of ${JOB_KINDS.join(', ')}, not ${kind}.`);
  if (typeof id !== 'number') throw new TypeError('`resource` must have a `status` with a number as `id`.');
  const named = statuses && namedState(kind, id, statuses);
  if (named) return named;
  if (kind === 'cohort') {
    if (id === COHORT_STATUS.completed) return 'completed';
    return id === COHORT_STATUS.notAvailable ? 'failed' : 'running';
  }
  if (id === AUDIENCE_STATUS.completed) return 'completed';
  if (id === AUDIENCE_STATUS.additionalInfo) return 'needs-info';
  if (id === AUDIENCE_STATUS.cancelled && is_lookalike === true) return 'cancelled';
  return id >= 400 && id < 500 ? 'failed' : 'running';
}

const JOB_KINDS: readonly JobKind[] = ['audience', 'lookalike', 'estimate', 'activation', 'cohort'];

/** Returns the state that `statuses` defines for an id. Entries for `audience` also apply to lookalikes. */
const namedState = (kind: JobKind, id: number, statuses: Statuses): JobState | undefined =>
  statuses[`${kind} ${id}`] ?? (kind === 'lookalike' ? statuses[`audience ${id}`] : undefined);

/** An id, or an object with an `id`. */
export type IdLike =
  | number
  | {
      /** Id of the resource. */
      readonly id: number;
    };

/** Returns the id of a target. Returns a promise unchanged, so that the error can say that the id is a promise. */
export const idOf = (target: IdLike): number => (hasId(target) ? target.id : target);

const hasId = (target: IdLike): target is Exclude<IdLike, number> =>
  typeof target === 'object' && target !== null && !('then' in target);

/** Fields of an audience that the client converts from `1` or `0` to booleans. */
export const AUDIENCE_FLAGS: readonly string[] = ['is_activation_allowed'];
