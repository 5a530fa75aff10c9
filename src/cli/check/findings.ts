import type { ServiceContract } from '../../spec/contract.ts';
import { isOperationName, type OperationName, operations } from '../../spec/operations.ts';

/** State of an assumption. */
export type FindingState = 'confirmed' | 'differs' | 'likely' | 'not-checked';

/** How much a check may do: read, also create and delete a project, also build an audience. */
export type CheckLevel = 'read' | 'write' | 'build';

/** Code that adapts the client where data cannot: members of an override of an operation, to complete. */
interface Code {
  readonly operation: OperationName;
  readonly members: string;
}

/** How the package is adapted to a difference. */
interface Adaptation {
  /** The service's own way, as the part of a contract that adapts the package. */
  readonly setting?: ServiceContract;
  /** Code that adapts the package, if data cannot. */
  readonly codes?: readonly Code[];
  /** True if calls of the client fail because of it, and no setting adapts them. */
  readonly breaks?: true;
}

/** Result of checking one assumption. */
export interface Finding extends Adaptation {
  /** Such as `path:audiences.get`. */
  readonly id: string;
  readonly state: FindingState;
  /** Why, in the words of the check; holds nothing of the account. */
  readonly evidence: string;
  /** Lowest level that can check it, if this one cannot. */
  readonly needs?: CheckLevel;
}

/** Operations whose paths are judged: not the credential exchange, and not MCP. */
export const JUDGED: readonly OperationName[] = Object.keys(operations)
  .filter(isOperationName)
  .filter((name) => operations[name].token === 'general');

/** Namespaces whose resources are decoded as the client does. */
export const NAMESPACES = ['audiences', 'activations', 'cohorts', 'projects', 'schedules', 'webhooks'] as const;

const pathIds = (isWrite: boolean): string[] =>
  JUDGED.filter((name) => (operations[name].method !== 'GET') === isWrite).map((name) => `path:${name}`);

/** Assumptions by the lowest level that can confirm them. */
const CHECKED_AT: Readonly<Record<CheckLevel, readonly string[]>> = {
  read: [
    'service',
    ...pathIds(false),
    ...NAMESPACES.map((namespace) => `shape:${namespace.replace(/s$/, '')}`),
    ...['paging', 'page-size', 'waits.via', 'statuses', 'usage.yearmonth', 'usage.build_budget'],
    ...['errors.422', 'request-id-header'],
  ],
  write: [
    ...pathIds(true),
    ...['body:projects.create', 'body:audiences.create', 'body:lookalikes.create', 'body:activations.create'],
    ...['idempotency:projects.create', 'time-zone', 'uploads.reservation', 'uploads.put'],
  ],
  build: ['idempotency:audiences.create'],
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
  }

  get all(): readonly Finding[] {
    return [...this.#byId.values()];
  }

  stateOf(id: string): FindingState {
    return this.#byId.get(id)?.state ?? 'not-checked';
  }

  set(id: string, state: FindingState, evidence: string, adaptation: Adaptation = {}): void {
    this.#byId.set(id, { id, state, evidence, ...adaptation });
  }

  /** Notes why an assumption could not be checked, unless more is known. */
  unclear(id: string, evidence: string): void {
    if (this.stateOf(id) === 'not-checked') this.set(id, 'not-checked', evidence);
  }

  /** Notes that the check has ended early. */
  stop(reason: string): void {
    for (const { id, state, needs } of this.all)
      if (state === 'not-checked' && !needs) this.set(id, state, `The check ended early: ${reason}`);
  }
}
