import type { ServiceContract } from '../../spec/contract.ts';
import type { ExitCode } from '../terminal/exit-codes.ts';
import { checkPaging } from './check-paging.ts';
import { noteRequestId, noteStatuses } from './contents.ts';
import { type CheckLevel, type Finding, Findings, UNSEEN } from './findings.ts';
import { Paths } from './paths.ts';
import { Probe, type ProbeOptions, Stop } from './probe.ts';
import { checkReads } from './reads.ts';
import { mergeFindings } from './settings.ts';
import { type ConfirmDelete, checkWrites } from './writes.ts';

/** Options of {@link checkService}. */
export interface CheckOptions extends ProbeOptions {
  readonly level: CheckLevel;
  /** The contract in effect. The check tries its settings first. */
  readonly expected?: ServiceContract | undefined;
  /** Decides whether the check deletes projects of earlier checks. @default it keeps them */
  readonly confirmDelete?: ConfirmDelete | undefined;
}

export interface CheckReport {
  readonly level: CheckLevel;
  readonly findings: readonly Finding[];
  /** The contract in effect, with the settings that the check has found. */
  readonly contract: ServiceContract;
  /** A sentence for each setting of the contract in effect that the check has replaced or could not check. */
  readonly notes: readonly string[];
  readonly requests: { readonly read: number; readonly write: number };
  /** Set if the check ended early. */
  readonly stopped?: { readonly reason: string; readonly exitCode: ExitCode };
}

/**
 * Checks the assumptions about a service. Only reads, unless the level permits writes.
 *
 * @throws the reason of the signal, if it aborts.
 */
export async function checkService(options: CheckOptions): Promise<CheckReport> {
  const { level, expected = {}, confirmDelete = async () => false, ...probeOptions } = options;
  const findings = new Findings(level);
  const probe = new Probe(probeOptions);
  const session = { probe, findings, expected, paths: new Paths(expected), rows: new Map() };
  let stopped: CheckReport['stopped'];
  try {
    await checkReads(session);
    await checkPaging(session);
    noteStatuses(session);
    if (level === 'write') await checkWrites(session, confirmDelete);
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
    stopped = { reason: error.message, exitCode: error.exitCode };
    for (const { id, evidence } of findings.all)
      if (evidence === UNSEEN) findings.unclear(id, `The check ended early: ${error.message}`);
  } finally {
    await probe.close();
  }
  noteRequestId(session);
  const merged = mergeFindings(expected, findings.all, level, new Date(probe.now).toISOString().slice(0, 10));
  return { level, findings: findings.all, ...merged, requests: probe.sent, ...(stopped && { stopped }) };
}
