/** Kinds of resource that a worker job produces and a wait can await (specification, "States and transitions"). */
export type JobKind = 'audience' | 'lookalike' | 'estimate' | 'activation' | 'cohort';

/** Progress of a job. */
export type Progress = 'running' | 'completed' | 'needs-info' | 'failed' | 'cancelled';

/** Progress by kind and status id, such as `audience 106`. */
export type Statuses = Readonly<Record<string, Progress>>;

/** Status ids that decide the progress of a job (specification, "States and transitions"). */
export const COMPLETED = 104;
const ADDITIONAL_INFO = 107;
const STOPPED = 400;
const COHORT_COMPLETED = 4;
const COHORT_NOT_AVAILABLE = 5;

/** The fields of a resource that its job's progress depends on. */
export interface JobResource {
  /** Id of the resource. */
  readonly id: number;
  /** Status of the job. */
  readonly status: {
    /** Number that decides the progress. */
    readonly id: number;
    /** Name for people, such as `Completed`. */
    readonly name: string;
  };
  /** `true` for lookalikes, which end at 400 when they are cancelled. */
  readonly is_lookalike?: unknown;
}

/** Returns a status as messages show it; its name may be missing. */
export const statusText = ({ id, name }: JobResource['status']): string => (name ? `${id} ${name}` : String(id));

/**
 * Returns the progress of a job by the status of its resource; ids that neither `statuses` nor the specification has
 * count as running. Pure.
 */
export function progressOf(kind: JobKind, { status, is_lookalike }: JobResource, statuses?: Statuses): Progress {
  const named = statuses && namedProgress(kind, status.id, statuses);
  if (named) return named;
  if (kind === 'cohort') {
    if (status.id === COHORT_COMPLETED) return 'completed';
    return status.id === COHORT_NOT_AVAILABLE ? 'failed' : 'running';
  }
  if (status.id === COMPLETED) return 'completed';
  if (status.id === ADDITIONAL_INFO) return 'needs-info';
  if (status.id === STOPPED && is_lookalike === true) return 'cancelled';
  return status.id >= 400 && status.id < 500 ? 'failed' : 'running';
}

/** Returns what `statuses` says about an id. A lookalike is an audience. */
const namedProgress = (kind: JobKind, id: number, statuses: Statuses): Progress | undefined =>
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
