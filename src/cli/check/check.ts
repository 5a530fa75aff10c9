import type { ServiceContract } from '../../spec/contract.ts';
import { checkBaseUrl } from '../../util/base-url.ts';
import { Candidates, isAssumed, settingOf } from './candidates.ts';
import type { Session } from './check-session.ts';
import { type CheckLevel, type Finding, Findings, includes, JUDGED } from './findings.ts';
import { type Journal, memoryJournal } from './journal.ts';
import { checkRequestId, checkRows, checkStatuses } from './list-facts.ts';
import { leftText, OwnResources } from './own-resources.ts';
import { ASSUMED_PAGING, checkPaging } from './paging-steps.ts';
import { Probe, type ProbeOptions, type RequestLimits, Stop } from './probe.ts';
import { checkDocumentedReads, checkGets, checkLists, checkUsage } from './read-steps.ts';
import { mergeFindings } from './settings.ts';
import { noteShapes } from './shapes.ts';
import { checkWrites } from './write-steps.ts';

/** Hard limits of each level. */
export const REQUEST_LIMITS: Readonly<Record<CheckLevel, RequestLimits>> = {
  read: { read: 90, write: 0 },
  write: { read: 110, write: 30 },
  build: { read: 170, write: 40 },
};

/** Options of {@link checkService}. */
export interface CheckOptions extends ProbeOptions {
  /** Allows `http:` beyond this machine. @default false */
  readonly allowInsecure?: boolean | undefined;
  readonly level: CheckLevel;
  /** Keeps what the check is about to create. @default memory: what is left after a kill is not known */
  readonly journal?: Journal | undefined;
  /** Refused paths after which no more are guessed. @default 12 */
  readonly maxMisses?: number | undefined;
  /** Differences that an earlier check has found, which are tried first. */
  readonly expected?: ServiceContract | undefined;
}

/** Result of a check. */
export interface CheckReport {
  readonly level: CheckLevel;
  readonly findings: readonly Finding[];
  /** The differences, as settings of client, command, OpenAPI document and sandbox. */
  readonly contract: ServiceContract;
  readonly requests: RequestLimits;
  /** Set if the check has ended early. */
  readonly stopped?: { readonly reason: string; readonly exitCode: number };
  /** Set if something that the check has created is left: what, where, and what to do. */
  readonly left?: string;
}

/**
 * Finds out which assumptions about a service hold. Reads only, unless the level permits more.
 *
 * @throws the reason of the signal, if it aborts.
 */
export async function checkService(options: CheckOptions): Promise<CheckReport> {
  const { level, maxMisses = 12, expected, signal, onProgress, journal = memoryJournal() } = options;
  const baseUrl = checkBaseUrl(options.baseUrl, options.allowInsecure ?? false);
  const findings = new Findings(level);
  const probe = new Probe({ ...options, baseUrl }, REQUEST_LIMITS[level]);
  const session: Session = {
    probe,
    findings,
    candidates: new Candidates(maxMisses, expected?.operations),
    payloads: [],
    rows: new Map(),
    resources: new Map(),
    paging: ASSUMED_PAGING,
    onStep: (text) => onProgress?.({ type: 'step', text }),
  };
  const own = new OwnResources(session, journal);
  let stopped: CheckReport['stopped'];
  try {
    await checkReads(session, options);
    if (includes(level, 'write')) await checkWrites(session, own, level);
  } catch (error) {
    if (signal?.aborted) await own.cleanUp();
    signal?.throwIfAborted();
    if (!(error instanceof Stop)) throw error;
    stopped = { reason: error.message, exitCode: error.exitCode };
    findings.stop(error.message);
  }
  checkRequestId(session);
  noteShapes(findings, session.payloads);
  if (!stopped) noteUntried(session);
  const left = own.lost ?? (await journal.load());
  return {
    level,
    findings: findings.all,
    contract: mergeFindings({}, findings.all, level, new Date(probe.now).toISOString().slice(0, 10)).contract,
    requests: probe.sent,
    ...(stopped && { stopped }),
    ...(left && { left: leftText(left) }),
  };
}

async function checkReads(session: Session, { expected }: CheckOptions): Promise<void> {
  await checkDocumentedReads(session);
  await checkUsage(session);
  await checkLists(session);
  await checkGets(session);
  await checkPaging(session, expected?.paging);
  checkRows(session);
  checkStatuses(session);
}

/** Notes paths that a check must not call, and those that were not called and follow from others. */
function noteUntried({ findings, candidates }: Session): void {
  const heldBack = 'The contract has a request that a check must not call: it could act on something of the account.';
  for (const name of JUDGED) {
    const id = `path:${name}`;
    const way = findings.stateOf(id) === 'not-checked' ? candidates.untried(name) : undefined;
    const setting = way && !isAssumed(name, way) ? { setting: settingOf(name, way) } : {};
    if (candidates.isHeldBack(name)) findings.unclear(id, heldBack);
    else if (way) findings.set(id, 'likely', 'Follows from the paths of other resources; it was not called.', setting);
  }
}
