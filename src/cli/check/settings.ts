import { PAGE_NUMBERS, type ServiceContract } from '../../spec/contract.ts';
import { operations } from '../../spec/operations.ts';
import { isObject, valueAt } from '../../util/json.ts';
import type { CheckLevel, Finding } from './findings.ts';

/** Path of the installed contract schema, for editors, relative to the folder of a program. */
const $schema = './node_modules/audience-activation/dist/contract.schema.json';

/** Ids of the findings about settings, by the last part of a setting's path. */
const FINDINGS: Readonly<Record<string, string>> = {
  ...{ method: 'path', path: 'path', data: 'data', retry: 'idempotency', maxSize: 'page-size' },
  ...{ serverTimeZone: 'time-zone', requestIdHeader: 'request-id-header', via: 'waits.via' },
};

/** Default values of settings that a contract omits. */
const ASSUMED = {
  ...{ operations, paging: { ...PAGE_NUMBERS, maxSize: 'as documented' }, waits: { via: 'list' } },
  ...{ serverTimeZone: 'UTC', requestIdHeader: 'x-request-id' },
};

/**
 * Merges the findings of a check into a contract. Does not change the user's other settings.
 *
 * @param day Day of the check, `YYYY-MM-DD`.
 * @returns The contract, and a sentence for each setting that the check has replaced or could not check.
 */
export function mergeFindings(
  base: ServiceContract,
  findings: readonly Finding[],
  level: CheckLevel,
  day: string,
): { readonly contract: ServiceContract; readonly notes: readonly string[] } {
  const { checked: earlier, ...settings } = structuredClone(base);
  const contract: ServiceContract = { ...(settings.$schema === undefined && { $schema }), ...settings };
  for (const [path, value] of findings.flatMap(({ setting = {} }) => leavesOf(setting))) set(contract, path, value);
  const notes = leavesOf(base).flatMap(([path, was]) => {
    const [first = '', name] = path;
    const kind = FINDINGS[path.at(-1) ?? ''] ?? first;
    const finding = findings.find(({ id }) => id === (first === 'operations' ? `${kind}:${name}` : kind));
    const is = valueAt(contract, path);
    const shown = `\`${path.join('.')}\` ${JSON.stringify(was)}`;
    if (is !== was) return [`${shown} is replaced with ${JSON.stringify(is)}: ${finding?.evidence}`];
    const isKnown = finding?.state === 'confirmed' || finding?.setting !== undefined;
    return isKnown ? [] : [`${shown} is unchanged, because the check did not confirm it.`];
  });
  const idsOf = (state: 'confirmed' | 'likely'): readonly string[] =>
    [
      ...findings.filter((one) => (one.setting ? 'confirmed' : one.state) === state),
      // Keep the earlier results of assumptions that this check could not check.
      ...findings.filter((one) => one.state === 'not-checked' && earlier?.[state].includes(one.id)),
    ].map(({ id }) => id);
  const highest = earlier && earlier.level !== 'read' ? earlier.level : level;
  const checked = { at: day, level: highest, confirmed: idsOf('confirmed'), likely: idsOf('likely') };
  return { contract: { ...contract, checked }, notes };
}

/**
 * Compares a check with the contract that an earlier check has written. Returns the differences, and the earlier
 * findings that this check could not confirm.
 */
export function compare(findings: readonly Finding[], contract: ServiceContract, earlier: ServiceContract) {
  const known = findings.filter(({ id }) => earlier.checked?.confirmed.includes(id));
  const settings = leavesOf(contract).map(([path, is]) => {
    const was = valueAt(earlier, path) ?? valueAt(ASSUMED, path) ?? (path.at(-1) === 'data' ? 'data' : 'not set');
    return { id: path.join('.'), was, is };
  });
  const refused = known.filter(({ state, setting }) => state === 'differs' && !setting);
  const changes = [...settings, ...refused.map(({ id, evidence }) => ({ id, was: 'confirmed', is: evidence }))];
  const unchecked = known.filter(({ state, needs }) => (state === 'not-checked' || state === 'likely') && !needs);
  return { changes: changes.filter(({ was, is }) => was !== is), unchecked: unchecked.map(({ id }) => id) };
}

type Leaf = readonly [path: readonly string[], value: unknown];

/** Returns the settings of a contract with their paths. */
const leavesOf = (value: object, path: readonly string[] = []): readonly Leaf[] =>
  Object.entries(value)
    .filter(([key, inner]) => inner !== undefined && key !== '$schema' && key !== 'checked')
    .flatMap(([key, inner]) =>
      isObject(inner) ? leavesOf(inner, [...path, key]) : [[[...path, key], inner] as const],
    );

function set(target: object, [key = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) return void Reflect.set(target, key, value);
  const inner: unknown = Reflect.get(target, key);
  const next = isObject(inner) ? inner : {};
  Reflect.set(target, key, next);
  set(next, rest, value);
}
