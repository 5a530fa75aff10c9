import { isDeepStrictEqual } from 'node:util';
import type { ServiceContract } from '../../spec/contract.ts';
import { isOperationName, operations } from '../../spec/operations.ts';

/** How much a check may do: only read, or also create and delete a project and reserve an upload. */
export type CheckLevel = 'read' | 'write';

/** Result of checking one assumption. */
export interface Finding {
  /** Id of the assumption, such as `path:audiences.get`. */
  readonly id: string;
  readonly state: 'confirmed' | 'differs' | 'likely' | 'not-checked';
  /** The reason, without any data of the account. */
  readonly evidence: string;
  /** The setting of a contract that adapts the package to the service. */
  readonly setting?: ServiceContract;
  /** True if the difference makes calls of the client fail, and no setting adapts them. */
  readonly breaks?: true;
  /** Level that this assumption needs, if the current level cannot check it. */
  readonly needs?: 'write';
}

/** Namespaces with lists. The check learns the ids of existing resources only from the rows of these lists. */
export const KINDS = ['audiences', 'activations', 'cohorts', 'projects', 'schedules'] as const;
export type Kind = (typeof KINDS)[number];

/** Evidence for assumptions that no response has shown. */
export const UNSEEN =
  'No response showed whether the assumption holds, for example because the account has no such resource.';
const NEVER_SENT =
  'The check never sends this request. If the assumption is wrong, your first call fails, usually with a 404 that advises `aud check`, or with a 422 that names the fields of the body.';

/** Operations whose path the check examines: all except the credential exchange and MCP. */
const CHECKED = Object.keys(operations)
  .filter(isOperationName)
  .filter((name) => operations[name].token === 'general');

const SHAPES = [...KINDS, 'webhooks'].map((namespace) => `shape:${namespace.slice(0, -1)}`);
const OTHERS = ['paging', 'page-size', 'waits.via', 'statuses', 'usage.yearmonth', 'usage.build_budget'];
const WRITTEN = ['path:projects.create', 'path:projects.delete', 'path:uploads.reserve', 'idempotency:projects.create'];

/** Collects the findings of a check. Initially, every assumption is `not-checked`. */
export class Findings {
  readonly #byId = new Map<string, Finding>();

  constructor(level: CheckLevel) {
    const unchecked = (id: string, evidence: string): void => this.set(id, 'not-checked', evidence);
    unchecked('service', UNSEEN);
    for (const name of CHECKED) unchecked(`path:${name}`, operations[name].method === 'GET' ? UNSEEN : NEVER_SENT);
    for (const id of [...SHAPES, ...OTHERS, 'request-id-header']) unchecked(id, UNSEEN);
    for (const id of [...WRITTEN, 'time-zone'])
      if (level === 'write') unchecked(id, 'The project was not created.');
      else this.set(id, 'not-checked', 'This assumption needs --write.', { needs: 'write' });
  }

  get all(): readonly Finding[] {
    return [...this.#byId.values()];
  }

  stateOf(id: string): Finding['state'] | undefined {
    return this.#byId.get(id)?.state;
  }

  set(id: string, state: Finding['state'], evidence: string, more: Partial<Finding> = {}): void {
    this.#byId.set(id, { id, state, evidence, ...more });
  }

  /**
   * Compares a value from responses with the `known` values. If all are equal, records the assumption as confirmed;
   * otherwise, as different, with `setting` for the contract.
   */
  prove(id: string, value: unknown, known: readonly unknown[], evidence: string, setting: ServiceContract): void {
    if (known.every((one) => isDeepStrictEqual(one, value))) this.set(id, 'confirmed', evidence);
    else this.set(id, 'differs', evidence, { setting });
  }

  /** Records why an assumption could not be checked, unless there already is a result. */
  unclear(id: string, evidence: string): void {
    if (this.stateOf(id) === 'not-checked') this.set(id, 'not-checked', evidence);
  }
}
