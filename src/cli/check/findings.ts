import type { ServiceContract } from '../../spec/contract.ts';
import { isOperationName, type OperationName, operations } from '../../spec/operations.ts';

/** State of an assumption. */
export type FindingState = 'confirmed' | 'differs' | 'likely' | 'not-checked';

/** How much a check may do: only read, or also create and delete a project. */
export type CheckLevel = 'read' | 'write';

/** Result of checking one assumption. */
export interface Finding {
  /** Such as `path:audiences.get`. */
  readonly id: string;
  readonly state: FindingState;
  /** Why, in the words of the check; holds nothing of the account. */
  readonly evidence: string;
  /** The service's own way, as the part of a contract that adapts the package. */
  readonly setting?: ServiceContract;
  /** Members of overrides, to complete, that adapt the package where data cannot. */
  readonly codes?: readonly { readonly operation: OperationName; readonly members: string }[];
  /** True if calls of the client fail because of it, and no setting adapts them. */
  readonly breaks?: true;
  /** Level that can check it, if this one cannot. */
  readonly needs?: 'write';
}

/** Namespaces with lists, whose rows are the only ids that the check learns. */
export type Kind = 'audiences' | 'activations' | 'cohorts' | 'projects' | 'schedules';

export const KINDS: readonly Kind[] = ['audiences', 'activations', 'cohorts', 'projects', 'schedules'];

/** Operations that a check with `--write` sends. */
const WRITES = ['projects.create', 'projects.delete', 'uploads.reserve'] as const satisfies OperationName[];
const OF_WRITES: readonly string[] = [
  ...WRITES.map((name) => `path:${name}`),
  ...['idempotency:projects.create', 'time-zone', 'uploads.reservation'],
];

/** Operations of the account's own token, so neither the credential exchange nor MCP. */
export const JUDGED: readonly OperationName[] = Object.keys(operations)
  .filter(isOperationName)
  .filter((name) => operations[name].token === 'general');

const isRead = (name: OperationName): boolean => operations[name].method === 'GET';

const OF_READS: readonly string[] = [
  'service',
  ...JUDGED.filter(isRead).map((name) => `path:${name}`),
  ...[...KINDS, 'webhooks'].map((namespace) => `shape:${namespace.replace(/s$/, '')}`),
  ...['paging', 'page-size', 'waits.via', 'statuses', 'usage.yearmonth', 'usage.build_budget'],
  ...['errors.422', 'request-id-header'],
];

const NEVER_SENT =
  'The check never sends it. Your first call will show it: the error is a 404 that advises `aud check`, or a 422 that names the fields of the body.';

/** Returns whether a check of a level can check an assumption. */
export const isCheckedAt = (level: CheckLevel, id: string): boolean =>
  OF_READS.includes(id) || id.startsWith('data:') || (level === 'write' && OF_WRITES.includes(id));

/** Collects what a check finds out: at first, nothing is checked. */
export class Findings {
  readonly #byId = new Map<string, Finding>();

  constructor(level: CheckLevel) {
    for (const id of OF_READS) this.set(id, 'not-checked', 'No resource of the account shows it.');
    for (const id of OF_WRITES) {
      if (level === 'write') this.set(id, 'not-checked', 'The project was not created.');
      else this.set(id, 'not-checked', 'Needs --write.', { needs: 'write' });
    }
    for (const name of JUDGED) if (!this.#byId.has(`path:${name}`)) this.set(`path:${name}`, 'not-checked', NEVER_SENT);
  }

  get all(): readonly Finding[] {
    return [...this.#byId.values()];
  }

  stateOf(id: string): FindingState {
    return this.#byId.get(id)?.state ?? 'not-checked';
  }

  set(id: string, state: FindingState, evidence: string, more: Omit<Finding, 'id' | 'state' | 'evidence'> = {}): void {
    this.#byId.set(id, { id, state, evidence, ...more });
  }

  /** Notes why an assumption could not be checked, unless more is known. */
  unclear(id: string, evidence: string): void {
    if (this.stateOf(id) === 'not-checked') this.set(id, 'not-checked', evidence);
  }

  /** Notes that the check has ended early. */
  stop(reason: string): void {
    for (const { id, state, needs, evidence } of this.all)
      if (state === 'not-checked' && !needs && evidence !== NEVER_SENT)
        this.set(id, state, `The check ended early: ${reason}`);
  }
}
