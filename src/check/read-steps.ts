import { type OperationName, operations } from '../spec/operations.ts';
import { isObject } from '../util/json.ts';
import type { Candidate } from './candidates.ts';
import {
  formOf,
  madeUpName,
  NO_ID,
  noteNotFound,
  notePath,
  notePlace,
  read,
  reasonOf,
  type Session,
  tryCandidates,
} from './check-session.ts';
import {
  envelopeOf,
  type Found,
  fingerprint,
  fits,
  invalidFields,
  isMissing,
  KINDS,
  type Kind,
  objectWith,
  type Row,
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
  const { probe, findings, working } = session;
  const webhooks = await probe.send({ method: 'GET', path: WEBHOOKS, why: 'documented read' });
  const usage = await probe.send({ method: 'GET', path: USAGE, why: 'documented read' });
  const list = rowsIn(envelopeOf(webhooks));
  const report = objectWith(envelopeOf(usage), ['build_budget']);
  const replies = [webhooks, usage];
  if (!list && !report) {
    const isDenied = replies.every(({ status }) => status === 401 || status === 403);
    const isSilent = replies.every(({ status }) => status === 0);
    if (isDenied) throw new Stop('The service refuses the token.', STOPPED.authentication);
    throw new Stop(
      isSilent
        ? 'The service cannot be reached at this address.'
        : 'Neither of the two documented reads responds as documented: the address is probably that of something else.',
      STOPPED.unexpected,
    );
  }
  findings.set('service', 'confirmed', 'A documented read succeeds with this token, in the envelope.');
  for (const [name, result, reply] of [
    ['webhooks.list', list, webhooks],
    ['usage.get', report, usage],
  ] as const) {
    if (result) {
      findings.set(`path:${name}`, 'confirmed', 'Responds as documented.');
      working.set(name, { method: 'GET', path: operations[name].path, source: 'assumed' });
      notePlace(session, name, result);
    } else if (invalidFields(reply)?.includes('yearmonth')) {
      findings.set(`path:${name}`, 'confirmed', 'A 422 names the month, which is missing.');
      working.set(name, { method: 'GET', path: operations[name].path, source: 'assumed' });
    } else if (isMissing(reply.status))
      findings.set(
        `path:${name}`,
        'differs',
        `Refused with ${reply.status}.`,
        `operations: { '${name}': { path: '…' } }`,
      );
    else findings.unclear(`path:${name}`, reasonOf(reply));
  }
  probe.trial = { method: 'GET', path: list ? WEBHOOKS : USAGE, why: 'does the service still respond?' };
}

/** A path that certainly does not exist, and a request without a token. */
export async function checkRefusals(session: Session): Promise<void> {
  const { probe, findings } = session;
  const path = `/api/v2/${madeUpName()}/index`;
  const unknown = await probe.send({ method: 'GET', path, why: 'a path that does not exist, to compare refusals' });
  probe.unknown.add(fingerprint(unknown));
  session.hasListsEverywhere = rowsIn(envelopeOf(unknown)) !== undefined;
  const trial = session.working.has('webhooks.list') ? WEBHOOKS : USAGE;
  const denied = await probe.send({
    method: 'GET',
    path: trial,
    token: 'none',
    why: 'a documented read without a token',
  });
  const isDocumented = isObject(denied.body) && typeof denied.body.message === 'string';
  if (denied.status === 401 && isDocumented)
    findings.set('errors.401', 'confirmed', 'A request without a token is refused with 401 and a message.');
  else if (denied.status > 0 && denied.status < 500)
    findings.set('errors.401', 'differs', `A request without a token gets ${formOf(denied)}.`);
}

/** The lists, by rows with the fields of their kind. */
export async function checkLists(session: Session): Promise<void> {
  for (const kind of KINDS) {
    const name = `${kind}.list` as const;
    session.onStep(`List of ${kind}`);
    const attempts = await tryCandidates(session, name, {
      send: read(session, `list of ${kind}`),
      async judge(reply, candidate): Promise<Found<readonly Row[]> | undefined> {
        const list = rowsIn(envelopeOf(reply));
        if (!list) return undefined;
        if (list.value.length > 0) return list.value.every((row) => fits(kind, row)) ? list : undefined;
        return (await isRefusedBeside(session, candidate)) ? list : undefined;
      },
    });
    const { match } = attempts;
    const isEmpty = match?.result.value.length === 0;
    const evidence = isEmpty
      ? 'An empty list, and a made-up path beside it is refused.'
      : 'A list of rows with integer ids and fields of this kind.';
    notePath(session, name, attempts, evidence);
    if (!match) continue;
    session.rows.set(kind, match.result.value);
    if (!isEmpty) notePlace(session, name, match.result);
  }
}

/** Returns whether a made-up path beside an empty list is refused: some services respond so to every path. */
async function isRefusedBeside({ probe, hasListsEverywhere }: Session, { path }: Candidate): Promise<boolean> {
  if (hasListsEverywhere) return false;
  const beside = path.replace(/[^/]+$/, madeUpName());
  const reply = await probe.send({ method: 'GET', path: beside, why: 'a made-up path beside an empty list' });
  if (rowsIn(envelopeOf(reply))) return false;
  return true;
}

/** Single resources, by the ids of the lists. */
export async function checkGets(session: Session): Promise<void> {
  for (const kind of KINDS) {
    const rows = session.rows.get(kind) ?? [];
    // A lookalike may not be readable as an audience.
    const plain = rows.filter(({ is_lookalike }) => is_lookalike !== true);
    await checkGet(session, `${kind}.get`, kind, plain.length > 0 ? plain : rows);
  }
  const lookalikes = (session.rows.get('audiences') ?? []).filter(({ is_lookalike }) => is_lookalike === true);
  if (lookalikes.length > 0) await checkGet(session, 'lookalikes.get', 'audiences', lookalikes);
}

async function checkGet(
  session: Session,
  name: OperationName,
  kind: Kind,
  [first, second]: readonly Row[],
): Promise<void> {
  if (!first) return;
  session.onStep(`One of ${kind}`);
  let { id } = first;
  const attempts = await tryCandidates(session, name, {
    async send(candidate) {
      id = first.id;
      const reply = await read(session, `one of ${kind}`, { id })(candidate);
      if (!isMissing(reply.status) || !second || candidate.source === 'guess') return reply;
      id = second.id;
      return read(session, `another one of ${kind}`, { id })(candidate);
    },
    isGone: (reply) => reply.status === 404 && !session.probe.unknown.has(fingerprint(reply)),
    judge(reply) {
      const resource = resourceIn(envelopeOf(reply), id);
      return resource && fits(kind, resource.value) ? resource : undefined;
    },
  });
  notePath(session, name, attempts, 'The response has the id of a row of the list.');
  const { match } = attempts;
  if (!match) return;
  notePlace(session, name, match.result);
  if (name !== 'lookalikes.get') session.resources.set(kind, match.result.value);
}

/** The documented error of an id that does not exist. */
export async function checkNotFound(session: Session): Promise<void> {
  const { working } = session;
  const kind = KINDS.find((kind) => session.resources.has(kind));
  const candidate = kind && working.get(`${kind}.get`);
  if (!candidate) return;
  const reply = await read(session, 'an id that does not exist', { id: NO_ID })(candidate);
  noteNotFound(session, reply);
}
