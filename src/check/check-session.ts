import type { OperationName } from '../spec/operations.ts';
import { type Candidate, type Candidates, isAssumed, settingOf } from './candidates.ts';
import {
  envelopeOf,
  type Found,
  invalidFields,
  isErrorEnvelope,
  isMissing,
  type Kind,
  type Reply,
  type Row,
} from './evidence.ts';
import type { Findings } from './findings.ts';
import type { Probe, ProbeRequest } from './probe.ts';

/** State that the steps of a check share. */
export interface Session {
  readonly probe: Probe;
  readonly findings: Findings;
  readonly candidates: Candidates;
  /** Rows of the lists that work. */
  readonly rows: Map<Kind, readonly Row[]>;
  /** Resources that were read one by one. */
  readonly resources: Map<Kind, Row>;
  onStep(text: string): void;
}

/** Returns a name that nothing in the account or in the paths of the service has. */
export const madeUpName = (): string => `check-${crypto.randomUUID().replaceAll('-', '')}`;

/** An id that no resource has. */
export const NO_ID = 2_147_483_646;

/** How the path of an operation is searched. */
interface Search<T> {
  /** Sends the request of a candidate. */
  send(candidate: Candidate): Promise<Reply>;
  /** Returns what a response shows and where, or `undefined` if it does not belong to the operation. */
  judge(reply: Reply, candidate: Candidate): Found<T> | undefined | Promise<Found<T> | undefined>;
  /** Why the response confirms the path. */
  evidence(value: T): string;
}

/** Result of a search. */
export interface SearchResult<T> {
  readonly value?: T;
  /** Fields of the body of a create that the service refuses, at the right path. */
  readonly refused?: readonly string[];
  /** Response that has ended the search: also that to a create which may have had an effect. */
  readonly reply?: Reply;
}

/**
 * Tries the candidates of an operation until a response shows what is searched, and notes the result. A create that may
 * have had an effect is the last one.
 */
export async function findPath<T>(
  session: Session,
  name: OperationName,
  { send, judge, evidence }: Search<T>,
): Promise<SearchResult<T>> {
  const { candidates, findings } = session;
  const id = `path:${name}`;
  const path = pathOf(name);
  let isRefused = false;
  let unclear = 'Nothing in the account shows it.';
  for (const candidate of candidates.of(name)) {
    const reply = await send(candidate);
    const match = await judge(reply, candidate);
    if (match) {
      noteWay(session, name, candidate, evidence(match.value));
      notePlace(session, name, match);
      return { value: match.value, reply };
    }
    const isCreate = /\.(?:create|reserve)$/.test(name);
    const refused = isCreate ? invalidFields(reply) : [];
    if (refused.length > 0) {
      noteWay(session, name, candidate, 'A 422 names fields of the body.');
      return { refused, reply };
    }
    const refusal = refusalOf(session, reply, candidate);
    if (refusal) candidates.miss();
    if (isAssumed(name, candidate)) {
      isRefused = refusal === 'missing';
      unclear = reasonOf(reply);
    }
    if (!refusal && isCreate) {
      findings.unclear(id, reasonOf(reply));
      return { reply };
    }
    candidates.redirect(name, candidate, reply);
  }
  if (isRefused)
    findings.set(id, 'differs', 'The assumed request is refused as unknown, and none of the others works.', path);
  else findings.unclear(id, unclear);
  return {};
}

/**
 * Returns what a response without the searched content says of a path: it does not exist; or the same as for paths that
 * do not exist, which proves nothing. `undefined` if it belongs to something else, or shows nothing.
 */
function refusalOf({ probe }: Session, reply: Reply, { method, path }: Candidate): 'missing' | 'denied' | undefined {
  const { status, format } = reply;
  const isLikeUnknown = probe.isLikeUnknown(reply);
  // The 404 of a resource says nothing of the path.
  if (status === 404 && method === 'GET' && path.includes('{id}') && !isLikeUnknown) return undefined;
  if (isMissing(status) || (status >= 300 && status < 400)) return 'missing';
  if (status > 0 && status < 500 && isLikeUnknown) return 'denied';
  if (status < 200 || status >= 400 || envelopeOf(reply)) return undefined;
  // A page instead of a response to a create: nothing was created.
  return method === 'GET' || format === 'html' ? 'missing' : undefined;
}

/** Returns why a response shows nothing about a path. */
export function reasonOf(reply: Reply): string {
  const { status } = reply;
  if (status === 0) return 'No response.';
  if (status === 401 || status === 403) return `The token may not use it, or the path does not exist (${status}).`;
  if (status >= 500) return `The service failed (${status}).`;
  if (isMissing(status)) return 'The ids of the list are gone.';
  if (envelopeOf(reply)) return 'The response holds nothing that belongs to this operation.';
  return `Refused with ${status}.`;
}

/** Sends the GET of a candidate. */
export const read =
  ({ probe }: Session, why: string, request: Partial<ProbeRequest> = {}) =>
  ({ path }: Pick<Candidate, 'path'>): Promise<Reply> =>
    probe.send({ method: 'GET', path, why, ...request });

/** Notes whether a response is as assumed; none, and a failure of the service, show nothing. */
export function noteReply(
  { findings }: Session,
  id: string,
  reply: Reply,
  isAsAssumed: boolean,
  /** Subject and predicate of a sentence about the response that is assumed. */
  [subject, verb]: readonly [subject: string, verb: string],
  override?: string,
): void {
  const { status, format } = reply;
  if (isAsAssumed) findings.set(id, 'confirmed', `${subject} ${verb}.`);
  else if (status === 0 || status >= 500) findings.unclear(id, reasonOf(reply));
  else {
    const body = format === 'empty' ? 'no body' : `a body of ${format}`;
    findings.set(id, 'differs', `${subject} gets ${status} with ${body}.`, override);
  }
}

/** Notes how an id that does not exist is refused. */
export function noteNotFound(session: Session, reply: Reply): void {
  const isAsAssumed = reply.status === 404 && isErrorEnvelope(reply);
  const sentence = ['An id that does not exist', 'gets 404 in the envelope of an error'] as const;
  if (session.findings.stateOf('errors.404') === 'not-checked')
    noteReply(session, 'errors.404', reply, isAsAssumed, sentence);
}

/** Returns the code for an operation whose path is not known. */
export const pathOf = (name: OperationName): string => `operations: { '${name}': { path: '…' } }`;

/** Notes the way by which an operation works. */
function noteWay({ findings, candidates }: Session, name: OperationName, candidate: Candidate, evidence: string): void {
  const id = `path:${name}`;
  const { path, idField } = candidate;
  candidates.works(name, candidate);
  if (isAssumed(name, candidate)) findings.set(id, 'confirmed', evidence);
  else if (idField) {
    // A path without the id is of no use as data: the id needs a function.
    const override = `operations: { '${name}': { path: '${path}', body: (_, { id }) => ({ ${idField}: id }) } }`;
    findings.set(id, 'differs', `${evidence} The id is in the body, as \`${idField}\`.`, override);
  } else findings.set(id, 'differs', evidence, settingOf(name, candidate));
}

/** Notes where the payload of an operation is. */
export function notePlace({ findings }: Session, name: OperationName, { place }: Found<unknown>): void {
  if (place === 'data') return;
  const setting = { operations: { [name]: { data: place } } };
  findings.set(`data:${name}`, 'differs', `The payload is at ${place} of the response.`, setting);
}
