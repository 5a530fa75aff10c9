import type { ContractCheck, ServiceContract } from '../../spec/contract.ts';
import { isObject, valueAt } from '../../util/json.ts';
import type { CheckLevel, Finding, FindingState } from './findings.ts';

/** Address of the schema of a contract, for editors: the installed package's, as seen from the folder of a program. */
const SCHEMA = './node_modules/audience-activation/dist/contract.schema.json';

/** A contract that a check has completed, and what became of the settings that it had before. */
export interface MergedContract {
  readonly contract: ServiceContract;
  /** One sentence for each setting that the check has replaced, or has not checked. */
  readonly notes: readonly string[];
}

/**
 * Writes what a check has found into a contract. All other settings stay as they were: the file is the user's.
 *
 * @param day Day of the check, `YYYY-MM-DD`.
 */
export function mergeFindings(
  base: ServiceContract,
  findings: readonly Finding[],
  level: CheckLevel,
  day: string,
): MergedContract {
  const { checked, ...settings } = structuredClone(base);
  const contract: ServiceContract = { ...(settings.$schema === undefined && { $schema: SCHEMA }), ...settings };
  for (const { setting = {} } of findings)
    for (const [path, value] of leavesOf(setting)) if (!isGuess(path, contract)) set(contract, path, value);
  const notes = leavesOf({ ...base, checked: undefined }).flatMap(([path, was]) => {
    const finding = findings.find(({ id }) => id === findingOf(path));
    const is = valueAt(contract, path);
    const name = `\`${path.join('.')}\``;
    if (is !== was) return [`${name} was ${show(was)}, and is ${show(is)} now: ${finding?.evidence}`];
    const isKnown = finding?.state === 'confirmed' || (finding?.state === 'differs' && finding.setting !== undefined);
    return isKnown || path[0] === '$schema' ? [] : [`${name} ${show(was)} was kept: not checked.`];
  });
  return { contract: { ...contract, checked: mergeChecked(checked, findings, level, day) }, notes };
}

/** Returns whether a setting is the meaning of a status, which a check only guesses, and the file already has one. */
const isGuess = ([first, ...rest]: readonly string[], { statuses }: ServiceContract): boolean =>
  first === 'statuses' && valueAt(statuses, rest) !== undefined;

const show = (value: unknown): string => JSON.stringify(value);

/** Returns what is checked now, and what only an earlier check could check. */
function mergeChecked(
  earlier: ContractCheck | undefined,
  findings: readonly Finding[],
  level: CheckLevel,
  at: string,
): ContractCheck {
  const open = new Set(findings.flatMap(({ id, state }) => (state === 'not-checked' ? [id] : [])));
  const idsOf = (state: FindingState & ('confirmed' | 'likely')): string[] => [
    ...findings.flatMap((finding) => (finding.state === state ? [finding.id] : [])),
    ...(earlier?.[state] ?? []).filter((id) => open.has(id)),
  ];
  const isHigher = earlier !== undefined && earlier.level !== 'read' && level === 'read';
  return { at, level: isHigher ? earlier.level : level, confirmed: idsOf('confirmed'), likely: idsOf('likely') };
}

type Leaf = readonly [path: readonly string[], value: unknown];

/** Returns the settings of a contract, with the path of each. */
const leavesOf = (value: object, path: readonly string[] = []): Leaf[] =>
  Object.entries(value).flatMap(([key, inner]): Leaf[] =>
    isObject(inner) ? leavesOf(inner, [...path, key]) : inner === undefined ? [] : [[[...path, key], inner]],
  );

function set(target: object, [key = '', ...rest]: readonly string[], value: unknown): void {
  const inner: unknown = Reflect.get(target, key);
  if (rest.length === 0) Reflect.set(target, key, value);
  else if (isObject(inner)) set(inner, rest, value);
  else {
    Reflect.set(target, key, {});
    set(target, [key, ...rest], value);
  }
}

/** Ids of findings by the setting they are about. */
const FINDINGS: Readonly<Record<string, string>> = {
  serverTimeZone: 'time-zone',
  requestIdHeader: 'request-id-header',
  waits: 'waits.via',
  statuses: 'statuses',
  paging: 'paging',
};
const OF_OPERATION: Readonly<Record<string, string>> = {
  method: 'path',
  path: 'path',
  data: 'data',
  retry: 'idempotency',
};

/** Returns the id of the finding about a setting. */
function findingOf([first = '', name, field = '']: readonly string[]): string | undefined {
  if (first === 'operations') return OF_OPERATION[field] && `${OF_OPERATION[field]}:${name}`;
  return first === 'paging' && name === 'maxSize' ? 'page-size' : FINDINGS[first];
}
