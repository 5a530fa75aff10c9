/** The kinds of resource that a worker job produces, and that can be waited for ("States and transitions"). */
export type JobKind = 'audience' | 'lookalike' | 'estimate' | 'activation' | 'cohort';

/** How far a job is. */
export type Progress = 'running' | 'completed' | 'needs-info' | 'failed' | 'cancelled';

/** Status ids with a meaning of their own ("States and transitions"). */
export const COMPLETED = 104;
const ADDITIONAL_INFO = 107;
const STOPPED = 400;
const COHORT_COMPLETED = 4;
const COHORT_NOT_AVAILABLE = 5;

/** A resource as far as waiting is concerned. */
export interface Observed {
  readonly id: number;
  readonly status: { readonly id: number; readonly name: string };
  readonly is_lookalike?: unknown;
}

/** A status as texts show it; its name may be left out. */
export const statusText = ({ id, name }: Observed['status']): string => (name ? `${id} ${name}` : String(id));

/** What a resource's status says of its job. Unknown ids run on. Pure. */
export function progressOf(kind: JobKind, { status, is_lookalike }: Observed): Progress {
  if (kind === 'cohort') {
    if (status.id === COHORT_COMPLETED) return 'completed';
    return status.id === COHORT_NOT_AVAILABLE ? 'failed' : 'running';
  }
  if (status.id === COMPLETED) return 'completed';
  if (status.id === ADDITIONAL_INFO) return 'needs-info';
  if (status.id === STOPPED && is_lookalike === true) return 'cancelled';
  return status.id >= 400 && status.id < 500 ? 'failed' : 'running';
}
