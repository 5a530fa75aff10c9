import type { ServiceContract } from '../spec/contract.ts';
import { isOperationName, type OperationName, operations } from '../spec/operations.ts';
import { isObject } from '../util/json.ts';

/** State of an assumption. */
export type FindingState = 'confirmed' | 'differs' | 'likely' | 'not-checked';

/** How much a check may do: read, also create and delete a project, also build an audience. */
export type CheckLevel = 'read' | 'write' | 'build';

/** Result of checking one assumption. */
export interface Finding {
  /** Such as `path:audiences.get`. */
  readonly id: string;
  readonly state: FindingState;
  /** Why, in the words of the check; holds nothing of the account. */
  readonly evidence: string;
  /** The service's own way, as the part of a contract that adapts the package. */
  readonly setting?: ServiceContract;
  /** Code that adapts the package, if data cannot. */
  readonly override?: string;
  /** Lowest level that can check it, if this one cannot. */
  readonly needs?: CheckLevel;
}

/** Operations whose paths are judged: not the credential exchange, and not MCP, which has its own finding. */
export const JUDGED: readonly OperationName[] = Object.keys(operations)
  .filter(isOperationName)
  .filter((name) => operations[name].token === 'general');

const pathIds = (isWrite: boolean): string[] =>
  JUDGED.filter((name) => (operations[name].method !== 'GET') === isWrite).map((name) => `path:${name}`);

/** Assumptions by the lowest level that can confirm them. */
const CHECKED_AT: Readonly<Record<CheckLevel, readonly string[]>> = {
  read: [
    'service',
    ...pathIds(false),
    ...['paging', 'page-size', 'waits.via', 'statuses', 'usage.yearmonth', 'usage.build_budget'],
    ...['errors.401', 'errors.404', 'errors.422', 'request-id-header', 'results.download'],
    ...['oauth.protected-resource', 'oauth.authorization-server', 'mcp'],
  ],
  write: [
    ...pathIds(true),
    ...['body:projects.create', 'body:audiences.create', 'body:lookalikes.create', 'body:activations.create'],
    ...['idempotency:projects.create', 'errors.409', 'time-zone', 'uploads.reservation', 'uploads.put'],
  ],
  build: ['idempotency:audiences.create'],
};

/** Why other assumptions are never checked. */
const NEVER_CHECKED: Readonly<Record<string, string>> = {
  auth: 'The check never logs in, and never issues or revokes tokens.',
  cancel: 'The check starts no lookalike that it could cancel.',
  'upload-sizes': 'The check uploads 4 bytes, never a file of the largest size.',
  'retry-header': 'No response can be provoked that must not be retried.',
  'budget-exhausted': 'The check never uses up the build budget.',
};

const RANK: readonly CheckLevel[] = ['read', 'write', 'build'];

/** Returns whether a level includes another one. */
export const includes = (level: CheckLevel, other: CheckLevel): boolean => RANK.indexOf(level) >= RANK.indexOf(other);

/** Returns the lowest level that can check an assumption. */
export const levelOf = (id: string): CheckLevel => RANK.find((level) => CHECKED_AT[level].includes(id)) ?? 'read';

/** Collects what a check finds out: at first, nothing is checked. */
export class Findings {
  readonly #byId = new Map<string, Finding>();

  constructor(level: CheckLevel) {
    for (const needs of RANK) {
      for (const id of CHECKED_AT[needs]) {
        if (includes(level, needs)) this.set(id, 'not-checked', 'Nothing in the account shows it.');
        else this.#byId.set(id, { id, state: 'not-checked', evidence: `Needs --${needs}.`, needs });
      }
    }
    for (const [id, reason] of Object.entries(NEVER_CHECKED)) this.set(id, 'not-checked', reason);
  }

  get all(): readonly Finding[] {
    return [...this.#byId.values()];
  }

  stateOf(id: string): FindingState {
    return this.#byId.get(id)?.state ?? 'not-checked';
  }

  /** @param adaptation Setting that adapts the package, or code to complete and paste. */
  set(id: string, state: FindingState, evidence: string, adaptation?: ServiceContract | string): void {
    const isCode = typeof adaptation === 'string';
    const adapted = adaptation && (isCode ? { override: adaptation } : { setting: adaptation });
    this.#byId.set(id, { id, state, evidence, ...adapted });
  }

  /** Notes why an assumption could not be checked, unless more is known. */
  unclear(id: string, evidence: string): void {
    if (this.stateOf(id) === 'not-checked') this.set(id, 'not-checked', evidence);
  }

  /** Notes that the check has ended early. A service that blocks it refuses everything: refusals alone prove nothing. */
  stop(reason: string, isBlocked: boolean): void {
    for (const { id, state, setting, needs } of this.all) {
      const isDoubtful = isBlocked && state === 'differs' && !setting;
      const isOpen = state === 'not-checked' && !needs && !NEVER_CHECKED[id];
      if (isDoubtful || isOpen) this.set(id, 'not-checked', `The check ended early: ${reason}`);
    }
  }

  /** Returns the settings as one contract, with what was confirmed and what is likely. */
  contractOf(level: CheckLevel, at: number): ServiceContract {
    const idsOf = (wanted: FindingState): string[] =>
      this.all.filter(({ state }) => state === wanted).map(({ id }) => id);
    const checked = {
      at: new Date(at).toISOString().slice(0, 10),
      level,
      confirmed: idsOf('confirmed'),
      likely: idsOf('likely'),
    };
    return merge(...this.all.map(({ setting = {} }) => setting), { checked });
  }
}

/** Merges objects, and the objects in them. */
function merge(...objects: readonly object[]): object {
  const merged: Record<string, unknown> = {};
  for (const [key, value] of objects.flatMap((object) => Object.entries(object))) {
    const earlier = merged[key];
    merged[key] = isObject(earlier) && isObject(value) ? merge(earlier, value) : value;
  }
  return merged;
}
