/** Kinds of resource that a worker job produces and a wait can await (specification, "States and transitions"). */
export type JobKind = 'audience' | 'lookalike' | 'estimate' | 'activation' | 'cohort';

/** State of a job, as {@link jobState} returns it. */
export type JobState = 'running' | 'completed' | 'needs-info' | 'failed' | 'cancelled';

/** State by kind and status id, such as `audience 106`. */
export type Statuses = Readonly<Record<string, JobState>>;

/**
 * Status ids of audiences, lookalikes, estimates and activations that the specification names ("States and
 * transitions"). Every 4xx id is an error. To branch on the end of a job, use {@link jobState}.
 */
export const AUDIENCE_STATUS = {
  /** The job has completed. */
  completed: 104,
  /** An activation is being delivered. */
  dataStreaming: 105,
  /** The job has ended: it cannot be completed as defined. The reason is visible in the console only. */
  additionalInfo: 107,
  /** A lookalike was cancelled while it was running. Of other resources, an error. */
  cancelled: 400,
} as const;

/** Status ids of cohorts that the specification names ("States and transitions"). 1 to 3 have no names. */
export const COHORT_STATUS = {
  /** The import has completed. */
  completed: 4,
  /** The import has failed. */
  notAvailable: 5,
} as const;

/** Fields of the resource of any job. */
export interface JobResource {
  /** Id of the resource. */
  readonly id: number;
  /** Status of the job. Final statuses are 104, 107 and 4xx. Cohorts have other numbers. */
  readonly status: {
    /** Number that decides the state of the job. */
    readonly id: number;
    /** Name for people, such as `Completed`. */
    readonly name: string;
  };
  /** `true` for lookalikes, which end at 400 when they are cancelled. */
  readonly is_lookalike?: unknown;
}

/** Returns a status as messages show it; its name may be missing. */
export const statusText = ({ id, name }: JobResource['status']): string => (name ? `${id} ${name}` : String(id));

/** The fields of a resource that decide the state of its job. */
export interface StatusFields {
  /** Status of the job. */
  readonly status: {
    /** Number that decides the state of the job. */
    readonly id: number;
  };
  /** `true` for lookalikes, which end at 400 when they are cancelled. */
  readonly is_lookalike?: unknown;
}

/**
 * Returns the state of a job by the status of its resource. Status ids that the specification does not name count as
 * running. If a contract describes your service, use `client.jobState`, which applies the `statuses` of the contract.
 *
 * @param kind Kind of the job, such as `audience`.
 * @param resource Audience, estimate, activation or cohort, as read or received with a webhook event.
 * @param statuses Maps additional status ids to states, like the `statuses` of a contract.
 * @throws {TypeError} if `kind` is another one, or the resource has no `status.id`.
 * @example
 * const audience = await client.audiences.get(42);
 * console.log(jobState('audience', audience)); // completed
 */
export function jobState(kind: JobKind, resource: StatusFields, statuses?: Statuses): JobState {
  const { status, is_lookalike } = resource;
  const id = status?.id;
  if (!JOB_KINDS.includes(kind)) throw new TypeError(`\`kind\` must be ${JOB_KINDS.join(', ')}, not ${kind}.`);
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

/** Returns what `statuses` says about an id. A lookalike is an audience. */
const namedState = (kind: JobKind, id: number, statuses: Statuses): JobState | undefined =>
  statuses[`${kind} ${id}`] ?? (kind === 'lookalike' ? statuses[`audience ${id}`] : undefined);

/** An id, or an object with one. */
export type IdLike =
  | number
  | {
      /** Id of the resource. */
      readonly id: number;
    };

/** Returns the id of a target. A promise, which only callers without types pass, is returned for errors to name it. */
export const idOf = (target: IdLike): number => (hasId(target) ? target.id : target);

const hasId = (target: IdLike): target is Exclude<IdLike, number> =>
  typeof target === 'object' && target !== null && !('then' in target);

/** Fields of an audience that the service writes as `1`, `0` or a boolean. */
export const AUDIENCE_FLAGS: readonly string[] = ['is_activation_allowed'];
