import type { ServiceContract } from '../../spec/contract.ts';
import type { OperationName } from '../../spec/operations.ts';
import type { JsonObject } from '../../spec/wire-values.ts';
import { isMissing, type Reply } from './evidence.ts';
import type { Findings, Kind } from './findings.ts';
import type { Paths } from './paths.ts';
import type { Probe } from './probe.ts';

/** State that the steps of a check share. */
export interface Session {
  readonly probe: Probe;
  readonly findings: Findings;
  readonly paths: Paths;
  /** The contract in effect. The check tries its settings first. */
  readonly expected: ServiceContract;
  /** Rows of each list that could be read. */
  readonly rows: Map<Kind, readonly JsonObject[]>;
}

/** Evidence for an operation that the check does not send at the path of the contract. */
export const HELD_BACK =
  "The check does not send the contract's request, because that request could change the account.";

/** Returns the envelope path from which the client reads the payload of an operation. */
export const placeOf = ({ expected }: Session, name: OperationName): string =>
  expected.operations?.[name]?.data ?? 'data';

/** Returns why a response is no evidence about a path. */
export function reasonOf({ status, envelope }: Reply): string {
  if (status === 0) return 'The service did not respond.';
  if (status === 401 || status === 403)
    return `The token is not permitted to use this path, or the path does not exist (${status}).`;
  if (isMissing(status)) return 'The resources in the list no longer exist.';
  return envelope ? 'The response contains no resource of this kind.' : `The service responds with ${status}.`;
}

/** Records the envelope path of an operation's payload. */
export function notePlace(session: Session, name: OperationName, place: string): void {
  const known = ['data', placeOf(session, name)];
  if (known.every((one) => one === place)) return;
  const text = `The payload is at \`${place}\` of the response.`;
  session.findings.prove(`data:${name}`, place, known, text, { operations: { [name]: { data: place } } });
}
