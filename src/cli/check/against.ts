import type { ServiceContract } from '../../spec/contract.ts';
import { operations } from '../../spec/operations.ts';
import type { CheckReport } from './check.ts';
import { ASSUMED_PAGING } from './check-paging.ts';
import { isCheckedAt, JUDGED } from './findings.ts';

/** Something that is not as an earlier check has found it. */
export interface Change {
  /** Id of the finding. */
  readonly id: string;
  readonly was: string;
  readonly is: string;
}

/** Result of comparing a check with an earlier one. */
export interface Comparison {
  readonly changes: readonly Change[];
  /** Findings that an earlier check had, and that could not be checked this time. */
  readonly unchecked: readonly string[];
}

/** Compares a check with the contract that an earlier one has written. What only a higher level checks is left out. */
export function compare({ findings, contract, level }: CheckReport, earlier: ServiceContract): Comparison {
  const { confirmed = [], likely = [] } = earlier.checked ?? {};
  const assumed = foundTexts({});
  const before = foundTexts(earlier);
  const now = foundTexts(contract);
  const changes: Change[] = [];
  const unchecked: string[] = [];
  for (const { id, state, setting, evidence } of findings) {
    const was = before[id] ?? 'as assumed';
    const wasFound = confirmed.includes(id) || (before[id] !== assumed[id] && !likely.includes(id));
    if (state === 'not-checked' || state === 'likely') {
      if (wasFound && isCheckedAt(level, id)) unchecked.push(id);
    } else if (state === 'differs' && !setting) {
      // An operation that never worked may still be refused.
      if (wasFound) changes.push({ id, was, is: id.startsWith('path:') ? 'refused' : evidence });
    } else if (before[id] !== now[id]) changes.push({ id, was, is: now[id] ?? evidence });
  }
  // Rows with a status may be gone, so only additional rows are a change.
  const fresh = Object.keys(contract.statuses ?? {}).filter((key) => earlier.statuses?.[key] === undefined);
  if (fresh.length > 0) changes.push({ id: 'statuses', was: 'not final', is: fresh.join(', ') });
  return { changes, unchecked };
}

/** Returns what a contract says, and what it leaves as assumed, as texts by the ids of findings. */
export function foundTexts(contract: ServiceContract): Readonly<Record<string, string>> {
  const { paging = ASSUMED_PAGING, waits, serverTimeZone, requestIdHeader } = contract;
  const { style, param, size, next, maxSize = 'as documented' } = paging;
  const ofOperations = JUDGED.flatMap((name) => {
    const { method, path, retry, data } = { data: undefined, ...operations[name], ...contract.operations?.[name] };
    return [
      [`path:${name}`, `${method} ${path}`],
      [`data:${name}`, data ?? 'data'],
      [`idempotency:${name}`, `retry: ${retry}`],
    ];
  });
  return {
    ...Object.fromEntries(ofOperations),
    paging: [style === param ? param : `${style} by ${param}`, size, next].filter(Boolean).join(', '),
    'page-size': `${maxSize}`,
    'waits.via': waits?.via ?? 'list',
    'time-zone': serverTimeZone ?? 'UTC',
    'request-id-header': requestIdHeader ?? 'x-request-id',
  };
}
