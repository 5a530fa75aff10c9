import type { Paging, ServiceContract } from '../../spec/contract.ts';
import { type OperationName, operations } from '../../spec/operations.ts';
import { type Candidate, type Candidates, isAssumed, settingOf } from './candidates.ts';
import { envelopeOf, type Found, invalidFields, isMissing, type Kind, type Reply, type Row } from './evidence.ts';
import type { Findings } from './findings.ts';
import type { Probe, ProbeRequest } from './probe.ts';
import type { Payload } from './shapes.ts';

/** State that the steps of a check share. */
export interface Session {
  readonly probe: Probe;
  readonly findings: Findings;
  readonly candidates: Candidates;
  /** Payloads that the client would decode. */
  readonly payloads: Payload[];
  /** Rows of the lists that work. */
  readonly rows: Map<Kind, readonly Row[]>;
  /** Resources that were read one by one. */
  readonly resources: Map<Kind, Row>;
  /** How lists are paged; `undefined` if no way was found. */
  paging: Paging | undefined;
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
  /** Returns what the envelope of a success lacks; `undefined` if that proves nothing. */
  lack?(reply: Reply): string | undefined;
}

/** Result of a search. */
export interface SearchResult<T> {
  readonly value?: T;
  /** Fields of the body of a create that the service refuses, at the right path. */
  readonly refused?: readonly string[];
  /** Response that has ended the search: also that to a create which may have had an effect. */
  readonly reply?: Reply;
  /** Where the payload is in that response. */
  readonly place?: string;
}

/**
 * Tries the candidates of an operation until a response shows what is searched, and notes the result. A create that may
 * have had an effect is the last one.
 */
export async function findPath<T>(
  session: Session,
  name: OperationName,
  { send, judge, evidence, lack = () => undefined }: Search<T>,
): Promise<SearchResult<T>> {
  const { candidates, findings, probe } = session;
  const id = `path:${name}`;
  const isCreate = /\.(?:create|reserve)$/.test(name);
  let assumed: Reply | undefined;
  let difference: string | undefined;
  if (candidates.isHeldBack(name)) return {};
  for (const candidate of candidates.of(name)) {
    const reply = await send(candidate);
    const match = await judge(reply, candidate);
    if (match) {
      noteWay(session, name, candidate, evidence(match.value), assumed);
      notePlace(session, name, match);
      return { value: match.value, reply, place: match.place };
    }
    const refused = isCreate ? invalidFields(reply) : [];
    if (refused.length > 0) {
      noteWay(session, name, candidate, 'A 422 names fields of the body.', assumed);
      return { refused, reply };
    }
    const refusal = refusalOf(session, reply, candidate);
    const lacking = envelopeOf(reply) && !probe.isLikeUnknown(reply) ? lack(reply) : undefined;
    if (refusal) candidates.miss();
    if (isAssumed(name, candidate)) {
      assumed = reply;
      if (refusal === 'missing') difference = refusalText(reply);
      else if (lacking !== undefined) difference = `responds (${reply.status}) ${lacking}`;
    }
    if (!refusal && isCreate) {
      if (reply.status >= 200 && reply.status < 300) candidates.works(name, candidate);
      if (lacking === undefined) findings.unclear(id, reasonOf(reply));
      else findings.set(id, 'differs', `${requestOf(name)} responds (${reply.status}) ${lacking}.`, { breaks: true });
      return { reply };
    }
    candidates.redirect(name, candidate, reply);
  }
  if (difference !== undefined) {
    await probe.assertResponsive();
    findings.set(id, 'differs', `${requestOf(name)} ${difference}, and no other path works.`, { breaks: true });
  } else findings.unclear(id, assumed ? reasonOf(assumed) : 'Nothing in the account shows it.');
  return {};
}

const requestOf = (name: OperationName): string => `\`${operations[name].method} ${operations[name].path}\``;

/** Returns the predicate of a sentence about a refused request. */
function refusalText({ status }: Reply): string {
  if (isMissing(status)) return `is refused (${status})`;
  return status >= 300 ? `is redirected (${status})` : `responds (${status}) without the envelope`;
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

/** Notes the way by which an operation works. */
function noteWay(
  { findings, candidates }: Session,
  name: OperationName,
  candidate: Candidate,
  evidence: string,
  assumed: Reply | undefined,
): void {
  const id = `path:${name}`;
  const { method, path, idField } = candidate;
  candidates.works(name, candidate);
  const works = `\`${method} ${path}\` works: ${evidence.charAt(0).toLowerCase()}${evidence.slice(1)}`;
  const text = assumed ? `${requestOf(name)} ${refusalText(assumed)}; ${works}` : works;
  if (isAssumed(name, candidate)) findings.set(id, 'confirmed', evidence);
  else if (idField) {
    // A path without the id is of no use as data: the id needs a function.
    const members = `path: '${path}', body: (_, { id }) => ({ ${idField}: id })`;
    const codes = [{ operation: name, members }];
    findings.set(id, 'differs', `${text} The id is in the body, as \`${idField}\`.`, { codes });
  } else findings.set(id, 'differs', text, { setting: settingOf(name, candidate) });
}

/** Notes where the payload of an operation is. */
export function notePlace({ findings }: Session, name: OperationName, { place }: Found<unknown>): void {
  if (place === 'data' || place === '') return;
  const setting: ServiceContract = { operations: { [name]: { data: place } } };
  findings.set(`data:${name}`, 'differs', `The payload is at \`${place}\` of the response.`, { setting });
}
