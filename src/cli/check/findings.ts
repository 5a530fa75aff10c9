import type { ServiceContract } from '../../spec/contract.ts';
import { isOperationName, operations } from '../../spec/operations.ts';

/** How much a check may do: only read, or also create and delete a project. */
export type CheckLevel = 'read' | 'write';

/** Result of checking one assumption. */
export interface Finding {
  /** Such as `path:audiences.get`. */
  readonly id: string;
  readonly state: 'confirmed' | 'differs' | 'likely' | 'not-checked';
  /** The reason, without any data of the account. */
  readonly evidence: string;
  /** The setting of a contract that adapts the package to the service. */
  readonly setting?: ServiceContract;
  /** True if calls of the client fail because of it, and no setting adapts them. */
  readonly breaks?: true;
  /** Level that can check it, if this one cannot. */
  readonly needs?: 'write';
}

/** Namespaces with lists, whose rows are the only ids that the check learns. */
export const KINDS = ['audiences', 'activations', 'cohorts', 'projects', 'schedules'] as const;
export type Kind = (typeof KINDS)[number];

const UNSEEN = 'The account has no resource that shows whether this is true.';
const NEVER_SENT =
  'The check never sends it. Your first call will show it: the error is a 404 that advises `aud check`, or a 422 that names the fields of the body.';

/**
 * All assumptions, each with the reason why the check may be unable to check it. An empty reason means that only
 * `--write` checks the assumption.
 */
const ASSUMPTIONS: Readonly<Record<string, string>> = {
  service: UNSEEN,
  ...Object.fromEntries(
    Object.keys(operations)
      .filter(isOperationName)
      // Leave out the credential exchange and MCP.
      .filter((name) => operations[name].token === 'general')
      .map((name) => [`path:${name}`, operations[name].method === 'GET' ? UNSEEN : NEVER_SENT]),
  ),
  ...Object.fromEntries([...KINDS, 'webhooks'].map((namespace) => [`shape:${namespace.slice(0, -1)}`, UNSEEN])),
  ...{ paging: UNSEEN, 'page-size': 'Needs a list with more than 100 rows.', 'waits.via': UNSEEN, statuses: UNSEEN },
  ...{ 'usage.yearmonth': UNSEEN, 'usage.build_budget': UNSEEN, 'request-id-header': UNSEEN, 'time-zone': '' },
  ...{ 'path:projects.create': '', 'path:projects.delete': '', 'path:uploads.reserve': '' },
  'idempotency:projects.create': '',
};

/** Collects the findings of a check. At first, nothing is checked. */
export class Findings {
  readonly #byId = new Map<string, Finding>();

  constructor(level: CheckLevel) {
    for (const [id, reason] of Object.entries(ASSUMPTIONS))
      if (reason === '' && level === 'read') this.set(id, 'not-checked', 'Needs --write.', { needs: 'write' });
      else this.set(id, 'not-checked', reason || 'The project was not created.');
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

  /** Notes why an assumption could not be checked, unless more is known. */
  unclear(id: string, evidence: string): void {
    if (this.stateOf(id) === 'not-checked') this.set(id, 'not-checked', evidence);
  }

  /** Notes that the check has ended early. */
  stop(reason: string): void {
    for (const { id, needs, evidence } of this.all)
      if (!needs && evidence !== NEVER_SENT) this.unclear(id, `The check ended early: ${reason}`);
  }
}
