import type { ServiceContract } from '../spec/contract.ts';
import { type OperationName, operations } from '../spec/operations.ts';
import { type Candidate, type Candidates, hasLiteralId, isAssumed, namesResource } from './candidates.ts';
import {
  envelopeOf,
  type Found,
  fingerprint,
  isErrorEnvelope,
  isMissing,
  type Kind,
  type Reply,
  type Row,
} from './evidence.ts';
import type { Findings } from './findings.ts';
import { isWritePath, type Probe, type ProbeRequest } from './probe.ts';

/** Length of a random name in hex digits. */
const NAME_BYTES = 8;

/** Returns a name that nothing in the account or in the paths of the service has. */
export function madeUpName(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(NAME_BYTES));
  return `check-${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/** An id that no resource has. */
export const NO_ID = 2_147_483_646;

/** State that the steps of a check share. */
export interface Session {
  readonly probe: Probe;
  readonly findings: Findings;
  readonly candidates: Candidates;
  /** Path of the base URL, which paths of the service begin after. */
  readonly basePath: string;
  /** Refusals of candidates after which no more are guessed. */
  readonly maxMisses: number;
  /** Rows of the lists that work. */
  readonly rows: Map<Kind, readonly Row[]>;
  /** Resources that were read one by one. */
  readonly resources: Map<Kind, Row>;
  /** Operations that were tried. */
  readonly tried: Set<OperationName>;
  /** Ways to call operations that responses have confirmed. */
  readonly working: Map<OperationName, Candidate>;
  /** Refused candidates so far. */
  misses: number;
  /** True if a path that does not exist has an empty list: then empty lists prove nothing. */
  hasListsEverywhere: boolean;
  /** Says that something is left of the check, for people. */
  left?: string;
  onStep(text: string): void;
}

/** Response to a candidate, with the content that was searched. */
interface Match<T> {
  readonly candidate: Candidate;
  readonly reply: Reply;
  readonly result: T;
}

/** Result of trying the candidates of an operation. */
export interface Attempts<T> {
  readonly match?: Match<T> | undefined;
  /** True if the assumed request was refused as one to a path that does not exist. */
  readonly isRefused: boolean;
  /** Why the assumed request shows nothing. */
  readonly unclear?: string | undefined;
  /** Set if a write has ended the attempts, because it may have had an effect. */
  readonly ended?: Reply | undefined;
}

/** How to try the candidates of an operation. */
interface Trial<T> {
  /** Sends the request of a candidate. */
  send(candidate: Candidate): Promise<Reply>;
  /** Returns what a response shows, or `undefined`. */
  judge(reply: Reply, candidate: Candidate): T | undefined | Promise<T | undefined>;
  /** Returns whether a 404 is that of a resource, which says nothing of the path. @default false */
  isGone?(reply: Reply): boolean;
  /** True for a write that can be sent to one path after another, whatever the responses are. @default false */
  readonly isRepeatable?: boolean;
}

/** Tries the candidates of an operation until a response shows what is searched. Guesses end after a number of refusals. */
export async function tryCandidates<T>(
  session: Session,
  name: OperationName,
  { send, judge, isGone, isRepeatable = false }: Trial<T>,
): Promise<Attempts<T>> {
  const { candidates } = session;
  session.tried.add(name);
  const queue = [...candidates.of(name)];
  const tried = new Set<string>();
  let isRefused = false;
  let unclear: string | undefined;
  let misses = 0;
  for (let candidate = queue.shift(); candidate; candidate = queue.shift()) {
    const key = `${candidate.method} ${candidate.path} ${candidate.idField ?? ''}`;
    if (tried.has(key)) continue;
    tried.add(key);
    if (candidate.source === 'guess' && session.misses >= session.maxMisses) return { isRefused, unclear };
    const reply = await send(candidate);
    const result = await judge(reply, candidate);
    if (result !== undefined) return { match: { candidate, reply, result }, isRefused, unclear };
    const verdict = isGone?.(reply) ? 'foreign' : verdictOf(session, reply, candidate);
    if (isAssumed(name, candidate)) {
      isRefused = verdict === 'missing';
      unclear = isRefused ? undefined : reasonOf(reply);
    }
    if (verdict === 'missing' || verdict === 'denied') {
      session.misses++;
      misses++;
    }
    if (verdict === 'unusable' && !isRepeatable) return { isRefused, unclear, ended: reply };
    const target = redirectOf(name, reply, candidate);
    if (target) queue.unshift(target);
  }
  if (misses > 1) candidates.exhaust(name);
  return { isRefused, unclear };
}

/**
 * Returns what a response without the searched content says of a path: it does not exist; the same as for paths that do
 * not exist, which proves nothing; it belongs to something else; or nothing, and another attempt might do harm.
 */
function verdictOf(
  { probe }: Session,
  reply: Reply,
  { method }: Candidate,
): 'missing' | 'denied' | 'foreign' | 'unusable' {
  const { status, format } = reply;
  if (isMissing(status)) return 'missing';
  if (status === 0 || status >= 500) return 'unusable';
  if (status >= 300 && status < 400) return 'missing';
  if (probe.unknown.has(fingerprint(reply))) return 'denied';
  if (status >= 400) return 'unusable';
  if (envelopeOf(reply)) return method === 'GET' ? 'foreign' : 'unusable';
  // A page instead of a response to a create: nothing was created.
  return method === 'GET' || format === 'html' ? 'missing' : 'unusable';
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

/** Returns the target of a redirect on the service's own origin as a candidate; it is not followed. */
function redirectOf(name: OperationName, { status, redirect }: Reply, candidate: Candidate): Candidate | undefined {
  const { method, path } = candidate;
  if (!redirect || redirect === path || !namesResource(name, redirect)) return undefined;
  // 301 to 303 change a POST to a GET.
  const isAllowed =
    method === 'GET' ? !isWritePath(redirect) : (status === 307 || status === 308) && !hasLiteralId(redirect);
  return isAllowed ? { method, path: redirect, source: 'published' } : undefined;
}

/** Sends the GET of a candidate. */
export const read =
  ({ probe }: Session, why: string, request: Partial<ProbeRequest> = {}) =>
  ({ path }: Pick<Candidate, 'path'>): Promise<Reply> =>
    probe.send({ method: 'GET', path, why, ...request });

/** Notes the result of trying the candidates of an operation. */
export function notePath<T>(
  { findings, candidates, working }: Session,
  name: OperationName,
  { match, isRefused, unclear, ended }: Attempts<T>,
  evidence: string,
): void {
  const id = `path:${name}`;
  if (!match) {
    if (isRefused)
      findings.set(
        id,
        'differs',
        'The assumed request is refused as unknown, and none of the others works.',
        `operations: { '${name}': { path: '…' } }`,
      );
    else findings.unclear(id, unclear ?? (ended ? reasonOf(ended) : 'Nothing in the account shows it.'));
    return;
  }
  const { candidate } = match;
  working.set(name, candidate);
  candidates.learn(name, candidate);
  if (isAssumed(name, candidate)) findings.set(id, 'confirmed', evidence);
  else if (candidate.idField) {
    // A path without the id is of no use as data: the id needs a function.
    const { path, idField } = candidate;
    const override = `operations: { '${name}': { path: '${path}', body: (_, { id }) => ({ ${idField}: id }) } }`;
    findings.set(id, 'differs', `${evidence} The id is in the body, as \`${idField}\`.`, override);
  } else findings.set(id, 'differs', evidence, settingOf(name, candidate));
}

/** Returns how a candidate differs from the assumed request, for a contract. */
export function settingOf(name: OperationName, { method, path }: Candidate): ServiceContract {
  const assumed = operations[name];
  const change = { ...(method !== assumed.method && { method }), ...(path !== assumed.path && { path }) };
  return { operations: { [name]: change } };
}

/** Notes where the payload of an operation is. */
export function notePlace({ findings }: Session, name: OperationName, { place }: Found<unknown>): void {
  if (place === 'data') return;
  const setting = { operations: { [name]: { data: place } } };
  findings.set(`data:${name}`, 'differs', `The payload is at ${place} of the response.`, setting);
}

/** Describes a response without its content. */
export const formOf = ({ status, format }: Reply): string =>
  `${status} with ${format === 'empty' ? 'no body' : `a body of ${format}`}`;

/** Notes the error of an id that does not exist. */
export function noteNotFound({ findings }: Session, reply: Reply): void {
  if (findings.stateOf('errors.404') === 'confirmed') return;
  if (reply.status === 404 && isErrorEnvelope(reply))
    findings.set('errors.404', 'confirmed', 'An id that does not exist gets 404 in the envelope of an error.');
  else if (envelopeOf(reply) || (reply.status >= 400 && reply.status < 500))
    findings.set('errors.404', 'differs', `An id that does not exist gets ${formOf(reply)}.`);
}
