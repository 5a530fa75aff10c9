import type { ContractOperation, Paging, ServiceContract } from '../spec/contract.ts';
import { type OperationName, operations } from '../spec/operations.ts';
import type { CheckReport } from './check.ts';
import { type CheckLevel, includes, JUDGED, levelOf } from './findings.ts';

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
  /** Findings that were confirmed, and could not be checked this time. */
  readonly unchecked: readonly string[];
}

/** Compares a check with the contract that an earlier one has written. What only a higher level checks is left out. */
export function compare(report: CheckReport, earlier: ServiceContract): Comparison {
  const { findings, contract, level } = report;
  const stateOf = (id: string) => findings.find((finding) => finding.id === id)?.state ?? 'not-checked';
  const isSeen = (id: string): boolean => stateOf(id) === 'confirmed' || stateOf(id) === 'differs';
  const { confirmed = [], likely = [] } = earlier.checked ?? {};
  const changes: Change[] = [];
  const add = (id: string, was: string, is: string): void => {
    if (isSeen(id) && was !== is) changes.push({ id, was, is });
  };
  const [before, now] = [earlier.operations, contract.operations];
  for (const name of JUDGED) {
    const id = `path:${name}`;
    const isRefused = findings.some((finding) => finding.id === id && finding.state === 'differs' && !finding.value);
    // What has never worked may still be refused.
    const hasWorked = confirmed.includes(id) || earlierDifference(earlier, id) !== undefined;
    if (!isRefused) add(id, requestText(name, before?.[name]), requestText(name, now?.[name]));
    else if (hasWorked) add(id, requestText(name, before?.[name]), 'refused');
    const places = [before?.[name]?.data ?? 'data', now?.[name]?.data ?? 'data'] as const;
    if (isSeen(id) && !isRefused && places[0] !== places[1])
      changes.push({ id: `data:${name}`, was: places[0], is: places[1] });
  }
  for (const name of ['projects.create', 'audiences.create'] as const) {
    const keyText = (operation: ContractOperation | undefined): string =>
      `retry: ${operation?.retry ?? 'idempotency-key'}`;
    add(`idempotency:${name}`, keyText(before?.[name]), keyText(now?.[name]));
  }
  add('paging', pagingText(earlier.paging), pagingText(contract.paging));
  const sizeText = ({ paging }: ServiceContract): string => `${paging?.maxSize ?? 'as documented'}`;
  add('page-size', sizeText(earlier), sizeText(contract));
  add('waits.via', earlier.waits?.via ?? 'list', contract.waits?.via ?? 'list');
  add('time-zone', earlier.serverTimeZone ?? 'UTC', contract.serverTimeZone ?? 'UTC');
  add('request-id-header', earlier.requestIdHeader ?? 'x-request-id', contract.requestIdHeader ?? 'x-request-id');
  // Rows with a status may be gone: only further ones are a change.
  const fresh = Object.entries(contract.statuses ?? {}).filter(([key]) => earlier.statuses?.[key] === undefined);
  if (fresh.length > 0) changes.push({ id: 'statuses', was: 'not final', is: fresh.map(([key]) => key).join(', ') });
  for (const id of confirmed) {
    const isNew = !changes.some((change) => change.id === id);
    const finding = findings.find((finding) => finding.id === id);
    if (isNew && finding?.state === 'differs' && earlierDifference(earlier, id) === undefined)
      changes.push({ id, was: 'as assumed', is: finding.evidence });
  }
  const expected = [
    ...confirmed,
    ...JUDGED.map((name) => `path:${name}`).filter((id) => earlierDifference(earlier, id)),
  ];
  const unchecked = [...new Set(expected)].filter((id) => isWithin(level, id) && !isSeen(id) && !likely.includes(id));
  return { changes, unchecked };
}

const isWithin = (level: CheckLevel, id: string): boolean => {
  const needed = levelOf(id);
  return needed !== undefined && includes(level, needed);
};

/** Returns the difference that an earlier check has found for a path. */
function earlierDifference({ operations }: ServiceContract, id: string): ContractOperation | undefined {
  const name = JUDGED.find((name) => id === `path:${name}`);
  const operation = name && operations?.[name];
  return operation && (operation.path ?? operation.method) ? operation : undefined;
}

const requestText = (name: OperationName, change: ContractOperation | undefined): string =>
  `${change?.method ?? operations[name].method} ${change?.path ?? operations[name].path}`;

function pagingText(paging: Paging | undefined): string {
  const { style, param, size, next } = paging ?? { style: 'page', param: 'page', size: 'per_page' };
  return [style, param, size, next].filter(Boolean).join(' ');
}
