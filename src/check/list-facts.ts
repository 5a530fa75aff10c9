import { type JobKind, type Progress, progressOf } from '../spec/job-status.ts';
import { isObject } from '../util/json.ts';
import type { Session } from './check-session.ts';
import { KINDS, type Kind, type Row, wallTime } from './evidence.ts';

/** Kinds with jobs, by their namespace. */
const JOBS: Partial<Record<Kind, JobKind>> = { audiences: 'audience', activations: 'activation', cohorts: 'cohort' };

/** Time without a change after which a status is probably final. */
const UNCHANGED_MS = 7 * 86_400_000;

/** Names of statuses, by what they probably mean. */
const MEANINGS: readonly (readonly [RegExp, Progress])[] = [
  [/cancel|abort|stopped/i, 'cancelled'],
  [/fail|error|reject|invalid|expired|not available|denied/i, 'failed'],
  [/complet|finish|success|deliver|ready|done/i, 'completed'],
  [/info|review|attention|hold|needs|action/i, 'needs-info'],
];

interface Status {
  readonly id: number;
  readonly name: string;
}

function statusOf({ status }: Row): Status | undefined {
  if (!isObject(status) || typeof status.id !== 'number') return undefined;
  return { id: status.id, name: typeof status.name === 'string' ? status.name : '' };
}

/** Rows of lists for waits: whether they have the status that the GET has. */
export function checkRows({ findings, rows, resources }: Session): void {
  let compared = 0;
  for (const [kind, resource] of resources) {
    const row = rows.get(kind)?.find(({ id }) => id === resource.id);
    if (!JOBS[kind] || !row || !statusOf(resource)) continue;
    compared++;
    if (statusOf(row)) continue;
    findings.set('waits.via', 'differs', `Rows of ${kind} have no status, single ones have.`, {
      waits: { via: 'get' },
    });
    return;
  }
  if (compared > 0) findings.set('waits.via', 'confirmed', 'Rows have the status that single resources have.');
  else findings.unclear('waits.via', 'Needs a list with a row, and the same resource alone.');
}

/** Final statuses: resources that have not changed for 7 days have probably ended. */
export function checkStatuses({ findings, rows, probe }: Session): void {
  const ended = new Map<string, Status>();
  let old = 0;
  for (const kind of KINDS) {
    const job = JOBS[kind];
    for (const row of (job && rows.get(kind)) || []) {
      const status = statusOf(row);
      const changedAt = timeOf(row.updated_at);
      if (!job || !status || !(probe.now - changedAt > UNCHANGED_MS)) continue;
      old++;
      const jobKind = row.is_lookalike === true ? 'lookalike' : job;
      if (progressOf(jobKind, { ...row, status }) === 'running') ended.set(`${job} ${status.id}`, status);
    }
  }
  if (old === 0) {
    findings.unclear('statuses', 'Needs rows that have not changed for 7 days.');
    return;
  }
  if (ended.size === 0) {
    findings.set('statuses', 'likely', 'All rows that have not changed for 7 days have a status that is final.');
    return;
  }
  const statuses: Record<string, Progress> = {};
  for (const [key, { name }] of [...ended].sort())
    statuses[key] = MEANINGS.find(([pattern]) => pattern.test(name))?.[1] ?? 'failed';
  findings.set(
    'statuses',
    'differs',
    'Rows have not changed for 7 days and have another status, so it is probably final. What it means is a guess by its name.',
    { statuses },
  );
}

/** Returns a time in milliseconds; `NaN` if it is none. */
function timeOf(value: unknown): number {
  const wall = wallTime(value);
  return Number.isNaN(wall) && typeof value === 'string' ? Date.parse(value) : wall;
}
