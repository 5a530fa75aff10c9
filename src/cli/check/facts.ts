import { type JobKind, type JobState, jobState } from '../../spec/job-status.ts';
import { isObject } from '../../util/json.ts';
import { isSameId, type Row } from './evidence.ts';
import type { Kind } from './findings.ts';
import type { Session } from './reads.ts';

/** Kinds with jobs, by their namespace. */
const JOBS: readonly (readonly [Kind, JobKind])[] = [
  ['audiences', 'audience'],
  ['activations', 'activation'],
  ['cohorts', 'cohort'],
];

/** Time without a change after which a status is probably final. The zone of its timestamp does not matter. */
const UNCHANGED_MS = 7 * 86_400_000;

/** Names of statuses, by what they probably mean. */
const MEANINGS: readonly (readonly [RegExp, JobState])[] = [
  [/cancel|abort|stopped/i, 'cancelled'],
  [/fail|error|reject|invalid|expired|not available|denied/i, 'failed'],
  [/complet|finish|success|deliver|ready|done/i, 'completed'],
  [/info|review|attention|hold|needs|action/i, 'needs-info'],
];

/** Returns the id and the name of the status of a resource; `undefined` if it has none. */
function statusOf({ status }: Row): { readonly id: number; readonly name: string } | undefined {
  return isObject(status) && typeof status.id === 'number' ? { id: status.id, name: String(status.name) } : undefined;
}

/** Rows of lists for waits: whether they have the status that the GET has. */
export function checkRows({ findings, rows, resources }: Session): void {
  const pairs = JOBS.flatMap(([kind]) => {
    const resource = resources.get(kind);
    const row = rows.get(kind)?.find(({ id }) => isSameId(id, resource?.id));
    return resource && row && statusOf(resource) ? [{ kind, row }] : [];
  });
  const without = pairs.find(({ row }) => !statusOf(row));
  if (pairs.length === 0) findings.unclear('waits.via', 'Needs a list with a row, and a GET of the same resource.');
  else if (!without) findings.set('waits.via', 'confirmed', 'Rows have the same status as single resources.');
  else {
    const evidence = `Rows of ${without.kind} have no status, single ones have.`;
    findings.set('waits.via', 'differs', evidence, { setting: { waits: { via: 'get' } } });
  }
}

/** Final statuses: resources that have not changed for 7 days have probably ended. */
export function checkStatuses({ findings, rows, probe, expected }: Session): void {
  const statuses: Record<string, JobState> = {};
  let old = 0;
  for (const [kind, job] of JOBS) {
    for (const row of rows.get(kind) ?? []) {
      const status = statusOf(row);
      if (!status || !(probe.now - Date.parse(String(row.updated_at)) > UNCHANGED_MS)) continue;
      old++;
      const key = `${job} ${status.id}` as const;
      const isRunning = jobState(row.is_lookalike === true ? 'lookalike' : job, { status }) === 'running';
      if (!isRunning || (expected.statuses?.[key] ?? 'running') !== 'running') continue;
      statuses[key] = MEANINGS.find(([pattern]) => pattern.test(status.name))?.[1] ?? 'failed';
    }
  }
  if (old === 0) findings.unclear('statuses', 'Needs rows that have not changed for 7 days.');
  else if (Object.keys(statuses).length === 0)
    findings.set('statuses', 'likely', 'All rows that have not changed for 7 days have a status that is final.');
  else {
    const evidence =
      'Rows that have not changed for 7 days have another status, so it is probably final. The check guesses its meaning from its name.';
    findings.set('statuses', 'differs', evidence, { setting: { statuses } });
  }
}

/** Names of headers with a request id. */
const ID_HEADER =
  /(?:^|-)(?:request|correlation|trace|transaction|req|call)-?(?:id|uuid)$|^traceparent$|^(?:x-)?rid$|^cf-ray$/;

/** The header with the request id: it has another value in each response. */
export function checkRequestId({ probe: { successes }, findings, expected }: Session): void {
  const id = 'request-id-header';
  const isUnique = (name: string): boolean => {
    const values = new Set(successes.map((headers) => headers.get(name)));
    return successes.length > 1 && values.size === successes.length && !values.has(null);
  };
  const assumed = 'x-request-id';
  const inEffect = (expected.requestIdHeader ?? assumed).toLowerCase();
  const likely = [...(successes[0]?.keys() ?? [])].filter((name) => ID_HEADER.test(name));
  const name = [inEffect, assumed, ...likely].find(isUnique);
  const evidence = 'Each successful response has another value in it.';
  const more = name === inEffect && name === assumed ? {} : { setting: { requestIdHeader: name } };
  if (name === undefined) findings.unclear(id, 'No header of the responses looks like a request id.');
  else findings.set(id, name === assumed ? 'confirmed' : 'differs', evidence, more);
}
