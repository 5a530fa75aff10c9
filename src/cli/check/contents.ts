import { AudienceClient, ResponseError } from '../../index.ts';
import { type JobKind, jobState } from '../../spec/job-status.ts';
import type { JsonObject } from '../../spec/wire-values.ts';
import { isObject } from '../../util/json.ts';
import type { Session } from './check-session.ts';
import type { Findings, Kind } from './findings.ts';

/** Records whether the client can decode a payload. */
export async function noteShape(
  findings: Findings,
  namespace: Kind | 'webhooks',
  verb: 'list' | 'get',
  data: unknown,
): Promise<void> {
  const id = `shape:${namespace.slice(0, -1)}`;
  const fetch = async (): Promise<Response> => Response.json({ status: 'success', code: 200, message: '', data });
  const client = new AudienceClient({ baseUrl: 'http://localhost', token: 'none', logLevel: 'off', fetch });
  try {
    await (verb === 'list' || namespace === 'webhooks' ? client[namespace].list() : client[namespace].get(1));
    if (findings.stateOf(id) === 'differs') return;
    const state = verb === 'get' || namespace === 'webhooks' ? 'confirmed' : 'likely';
    findings.set(id, state, 'The client can read the responses.');
  } catch (error) {
    if (!ResponseError.isInstance(error)) throw error;
    findings.set(id, 'differs', `The client refuses the responses: ${error.message}`, { breaks: true });
  } finally {
    await client.close();
  }
}

const JOBS: Readonly<Partial<Record<Kind, JobKind>>> = {
  audiences: 'audience',
  activations: 'activation',
  cohorts: 'cohort',
};

const hasStatus = (row: JsonObject): boolean => isObject(row.status) && typeof row.status.id === 'number';

/** Records whether list rows have a status, as the single resource does. Waiting for jobs by reading lists needs it. */
export function noteWaits(findings: Findings, kind: Kind, row: JsonObject, resource: JsonObject): void {
  if (!hasStatus(resource) || !JOBS[kind]) return;
  const text = `Rows in the list of ${kind} have no status, unlike single ${kind}.`;
  if (!hasStatus(row)) findings.set('waits.via', 'differs', text, { setting: { waits: { via: 'get' } } });
  else if (findings.stateOf('waits.via') !== 'differs')
    findings.set('waits.via', 'confirmed', 'List rows have a status, as single resources do.');
}

/** Milliseconds without a change after which a status is probably final, regardless of the time zone. */
const UNCHANGED_MS = 7 * 86_400_000;

/** Records statuses that are probably final, because their resources have not changed for 7 days. */
export function noteStatuses({ findings, rows, probe, expected }: Session): void {
  const statuses = new Set<string>();
  for (const [kind, list] of rows)
    for (const row of list) {
      const job = JOBS[kind];
      const isOld = probe.now - Date.parse(String(row.updated_at)) > UNCHANGED_MS;
      if (!job || !isOld || !hasStatus(row)) continue;
      const { id } = Object(row.status);
      const state = jobState(row.is_lookalike === true ? 'lookalike' : job, { status: { id } }, expected.statuses);
      if (state === 'running') statuses.add(`\`${job} ${id}\``);
    }
  const text = `Rows with these statuses have not changed for 7 days: ${[...statuses].join(', ')}. Add the meaning of each status to \`statuses\` in the contract file.`;
  if (statuses.size > 0) findings.set('statuses', 'differs', text);
}

/** Pattern for the names of headers that may contain a request id. */
const ID_HEADER =
  /(?:^|-)(?:request|correlation|trace|transaction|req|call)-?(?:id|uuid)$|^traceparent$|^(?:x-)?rid$|^cf-ray$/;

/** Records the header with the request id: a header whose value differs in every response. */
export function noteRequestId({ probe: { successes }, findings, expected }: Session): void {
  const isUnique = (name: string): boolean => {
    const values = new Set(successes.map((headers) => headers.get(name)));
    return successes.length > 1 && values.size === successes.length && !values.has(null);
  };
  const inEffect = expected.requestIdHeader ?? 'x-request-id';
  // Keep the contract's header if some responses have it: other responses may come from a cache.
  if (!isUnique(inEffect) && expected.requestIdHeader && successes.some((headers) => headers.has(inEffect))) return;
  const likely = [...(successes[0]?.keys() ?? [])].filter((name) => ID_HEADER.test(name));
  const requestIdHeader = [inEffect, 'x-request-id', ...likely].find(isUnique);
  if (requestIdHeader === undefined) return;
  const known = ['x-request-id', inEffect];
  const text = `The value of \`${requestIdHeader}\` differs in each response.`;
  findings.prove('request-id-header', requestIdHeader, known, text, { requestIdHeader });
}
