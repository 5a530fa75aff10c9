import { type OperationName, operations } from '../../spec/operations.ts';
import { isObject, valueAt } from '../../util/json.ts';
import type { Candidate } from './candidates.ts';
import { findPath, madeUpName, notePlace, read, reasonOf, type Session } from './check-session.ts';
import {
  envelopeOf,
  type Found,
  fits,
  invalidFields,
  isErrorEnvelope,
  isMissing,
  KINDS,
  type Kind,
  type Reply,
  type Row,
  reportIn,
  resourceIn,
  rowsIn,
} from './evidence.ts';
import { STOPPED, Stop } from './probe.ts';

const WEBHOOKS = operations['webhooks.list'].path;
const USAGE = operations['usage.get'].path;

/**
 * The two documented reads: they prove address, token and envelope. Later, one of them shows whether the service still
 * responds.
 *
 * @throws {Stop} if neither responds as documented.
 */
export async function checkDocumentedReads(session: Session): Promise<void> {
  const { probe, findings } = session;
  const webhooks = await probe.send({ method: 'GET', path: WEBHOOKS, why: 'documented read' });
  const usage = await probe.send({ method: 'GET', path: USAGE, why: 'documented read' });
  const list = rowsIn(envelopeOf(webhooks));
  const report = reportIn(envelopeOf(usage));
  if (!list && !report) throw stopAfter([webhooks, usage]);
  findings.set('service', 'confirmed', 'A documented read succeeds with this token, in the envelope.');
  noteDocumented(session, 'webhooks.list', webhooks, list);
  noteDocumented(session, 'usage.get', usage, report);
  if (list) session.payloads.push({ namespace: 'webhooks', data: list.value, verb: 'list' });
  if (report) noteBudget(session, report.value.build_budget);
  const why = 'a path that does not exist, to compare refusals';
  probe.unknown = await probe.send({ method: 'GET', path: `/api/v2/${madeUpName()}/index`, why });
  probe.trial = { method: 'GET', path: list ? WEBHOOKS : USAGE, why: 'does the service still respond?' };
}

function stopAfter(replies: readonly Reply[]): Stop {
  if (replies.every(({ status }) => status === 401 || status === 403))
    return new Stop('The service refuses the token.', STOPPED.authentication);
  const isSilent = replies.every(({ status }) => status === 0);
  const other =
    'Neither of the two documented reads responds as documented: the address is probably that of something else.';
  return new Stop(isSilent ? 'The service cannot be reached at this address.' : other, STOPPED.unexpected);
}

function noteDocumented(session: Session, name: OperationName, reply: Reply, match: Found<unknown> | undefined): void {
  const { findings, candidates } = session;
  const id = `path:${name}`;
  if (match || invalidFields(reply).includes('yearmonth')) {
    findings.set(id, 'confirmed', match ? 'Responds as documented.' : 'A 422 names the month, which is missing.');
    candidates.works(name, operations[name]);
    if (match) notePlace(session, name, match);
  } else if (isMissing(reply.status))
    findings.set(id, 'differs', `Refused with ${reply.status}, although it is documented.`, { breaks: true });
  else findings.unclear(id, reasonOf(reply));
}

const WINDOW = "{ limit: complete('limit'), used: complete('used') }";
const BUDGET = `data: (usage) => ({ ...Object(usage), build_budget: { hour: ${WINDOW}, day: ${WINDOW} } })`;

/** Notes whether a build budget has the assumed fields. */
function noteBudget({ findings }: Session, budget: unknown): void {
  const isWindow = (value: unknown): boolean =>
    isObject(value) && Number.isInteger(value.limit) && Number.isInteger(value.used);
  const id = 'usage.build_budget';
  const codes = [{ operation: 'usage.get', members: BUDGET }] as const;
  if (isObject(budget) && isWindow(budget.hour) && isWindow(budget.day))
    findings.set(id, 'confirmed', '`hour` and `day` have `limit` and `used`.');
  else if (budget === undefined) findings.set(id, 'differs', 'The report has no `build_budget`.', { codes });
  else findings.set(id, 'differs', '`hour` and `day`, each with `limit` and `used`, are missing.', { codes });
}

const MONTH = "query: ({ yearmonth, ...query }) => ({ ...query, yearmonth: complete('yearmonth') })";

/** The usage report of a month: its format, and the error of a wrong one. */
export async function checkUsage({ probe, findings, candidates, onStep }: Session): Promise<void> {
  const id = 'usage.yearmonth';
  if (!candidates.working('usage.get')) return;
  onStep('Usage report');
  const ask = (shift: number, why: string): Promise<Reply> => {
    const date = new Date(probe.now);
    date.setUTCMonth(date.getUTCMonth() + shift, 1);
    return probe.send({ method: 'GET', path: USAGE, query: { yearmonth: date.toISOString().slice(0, 7) }, why });
  };
  const isRefusal = ({ status }: Reply): boolean => status === 400 || status === 404 || status === 422;
  const past = await ask(-1, 'a past month');
  if (!isRefusal(past) && !envelopeOf(past)) return findings.unclear(id, reasonOf(past));
  const refused = isRefusal(past) ? past : await ask(2, 'a future month');
  if (envelopeOf(refused))
    return findings.unclear(id, 'The service accepts a future month: it may ignore the parameter.');
  if (!isRefusal(refused)) return findings.unclear(id, reasonOf(refused));
  if (refused === past) {
    await probe.assertResponsive();
    const codes = [{ operation: 'usage.get', members: MONTH }] as const;
    findings.set(id, 'differs', 'A past month as YYYY-MM is refused.', { codes });
  } else findings.set(id, 'confirmed', 'A past month as YYYY-MM succeeds, a future one is refused.');
  if (isErrorEnvelope(refused) && invalidFields(refused).length > 0)
    findings.set('errors.422', 'confirmed', 'A refused month gets 422, and `errors` names the parameter.');
  else findings.set('errors.422', 'differs', `A refused month gets ${refused.status} without \`errors\` that name it.`);
}

/** The lists, by rows with the fields of their kind. */
export async function checkLists(session: Session): Promise<void> {
  for (const kind of KINDS) {
    session.onStep(`List of ${kind}`);
    const { value: rows } = await findPath(session, `${kind}.list`, {
      lack(reply) {
        const list = rowsIn(envelopeOf(reply));
        if (list) return list.value.length > 0 ? 'with rows of another kind' : undefined;
        return 'without rows that have an `id`, at a place that the check knows';
      },
      send: read(session, `list of ${kind}`),
      async judge(reply, candidate): Promise<Found<readonly Row[]> | undefined> {
        const list = rowsIn(envelopeOf(reply));
        const isRight =
          list?.value.length === 0
            ? await isRefusedBeside(session, candidate)
            : list?.value.every((row) => fits(kind, row));
        return isRight ? list : undefined;
      },
      evidence: (rows) =>
        rows.length === 0
          ? 'An empty list, and a made-up path beside it is refused.'
          : 'A list of rows with ids and fields of this kind.',
    });
    if (!rows) continue;
    session.rows.set(kind, rows);
    if (rows.length > 0) session.payloads.push({ namespace: kind, data: rows, verb: 'list' });
  }
}

/** Returns whether a made-up path beside an empty list is refused: some services respond so to every path. */
async function isRefusedBeside({ probe }: Session, { path }: Candidate): Promise<boolean> {
  if (rowsIn(envelopeOf(probe.unknown))) return false;
  const beside = path.replace(/[^/]+$/, madeUpName());
  const reply = await probe.send({ method: 'GET', path: beside, why: 'a made-up path beside an empty list' });
  return rowsIn(envelopeOf(reply)) === undefined;
}

/** Single resources, by the ids of the lists. */
export async function checkGets(session: Session): Promise<void> {
  for (const kind of KINDS) {
    const rows = session.rows.get(kind) ?? [];
    // A lookalike may not be readable as an audience.
    const plain = rows.filter(({ is_lookalike }) => is_lookalike !== true);
    const resource = await checkGet(session, `${kind}.get`, kind, plain.length > 0 ? plain : rows);
    if (resource) session.resources.set(kind, resource);
  }
  const lookalikes = (session.rows.get('audiences') ?? []).filter(({ is_lookalike }) => is_lookalike === true);
  await checkGet(session, 'lookalikes.get', 'audiences', lookalikes);
}

async function checkGet(
  session: Session,
  name: OperationName,
  kind: Kind,
  [first, second]: readonly Row[],
): Promise<Row | undefined> {
  if (!first) return undefined;
  session.onStep(`One of ${kind}`);
  let { id } = first;
  const result = await findPath(session, name, {
    lack: (reply) => (resourceIn(envelopeOf(reply)) ? 'with another resource' : 'without the resource'),
    async send(candidate) {
      id = first.id;
      const reply = await read(session, `one of ${kind}`, { id })(candidate);
      if (!isMissing(reply.status) || !second || candidate.isGuess) return reply;
      id = second.id;
      return read(session, `another one of ${kind}`, { id })(candidate);
    },
    judge(reply) {
      const resource = resourceIn(envelopeOf(reply), id);
      return resource && fits(kind, resource.value) ? resource : undefined;
    },
    evidence: () => 'The response has the id of a row of the list.',
  });
  const { value, reply, place = 'data' } = result;
  if (value) session.payloads.push({ namespace: kind, data: valueAt(reply?.body, place.split('.')), verb: 'get' });
  return value;
}
