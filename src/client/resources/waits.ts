import { ConfigurationError } from '../../errors/audience-error.ts';
import type { JobResources } from '../../errors/error-details.ts';
import type { JobKind } from '../../spec/job-status.ts';
import { isObject } from '../../util/json.ts';
import type { SharedPolls } from '../polling/shared-polls.ts';
import type { WaitOptions } from '../polling/wait-options.ts';

/** A job to wait for, as plain data. `JobError` and `WaitTimeoutError` have these fields. */
export interface WaitTarget<K extends JobKind = JobKind> {
  /** Kind of the job, which determines the type of the resource. */
  readonly kind: K;
  /** Id of the job's resource. */
  readonly id: number;
}

/** A webhook event (specification, "Events"). Waits use its `type` and `data`. */
export interface JobEvent {
  /** Event type, such as `audience.completed`. */
  readonly type: string;
  /** The resource, with the same fields as in the response to a GET request. */
  readonly data: unknown;
  /** Id of the event, `evt_…`, the same in every delivery. */
  readonly id?: string | undefined;
  /** Version of the envelope; currently `1`. */
  readonly schema_version?: number | undefined;
  /** Time at which the event was recorded, RFC 3339 UTC. */
  readonly created_at?: string | undefined;
  /** Id of the organization. */
  readonly company_id?: number | undefined;
}

/** Namespaces by kind of job. */
type Namespaces = {
  readonly [K in JobKind]: { wait(id: number, options?: WaitOptions<JobResources[K]>): Promise<JobResources[K]> };
};

/** Kinds of job by the first part of an event type; `audience` also covers lookalikes (specification, "Events"). */
const KINDS: ReadonlyMap<string, readonly JobKind[]> = new Map([
  ['audience', ['audience', 'lookalike']],
  ['activation', ['activation']],
  ['cohort', ['cohort']],
]);

/** All waits of a client and of the clients that its `withOptions` returns. */
export class Waits {
  readonly #polls: SharedPolls;
  readonly #namespaces: Namespaces;

  /** @internal */
  constructor(polls: SharedPolls, namespaces: Namespaces) {
    this.#polls = polls;
    this.#namespaces = namespaces;
  }

  /** Number of waits and watches in progress. */
  get size(): number {
    return this.#polls.size;
  }

  /**
   * Waits for a job by its kind and id, for example to resume a wait after a restart. Throws the same errors as `wait`
   * of the namespace.
   *
   * @example
   * const audience = await client.waits.wait({ kind: 'audience', id: 42 });
   */
  async wait<K extends JobKind>(
    target: WaitTarget<K>,
    options?: WaitOptions<JobResources[K]>,
  ): Promise<JobResources[K]> {
    this.#checkKind(target);
    return this.#namespaces[target.kind].wait(target.id, options);
  }

  /**
   * Passes a verified webhook event to the waits. An event that shows the end of a job ends its waits without a
   * request. The waits ignore an event that is older than the last known state. If an event lacks fields, the waits
   * read the resource.
   *
   * While webhooks report the ends of jobs of a kind, the client polls jobs of this kind only once a minute. If jobs
   * end without a webhook, polling returns to its normal rate.
   *
   * @returns Whether a wait used the state in the event.
   */
  notify(event: JobEvent): boolean {
    const { type, data }: { type?: unknown; data?: unknown } = isObject(event) ? event : {};
    const kinds = typeof type === 'string' ? KINDS.get(type.split('.')[0] ?? '') : undefined;
    if (!kinds || !isObject(data) || typeof data.id !== 'number') return false;
    return this.#polls.notify(kinds, data.id, data);
  }

  #checkKind(target: unknown): void {
    const kind: unknown = isObject(target) ? target.kind : undefined;
    if (typeof kind === 'string' && Object.hasOwn(this.#namespaces, kind)) return;
    const kinds = Object.keys(this.#namespaces).join(', ');
    throw new ConfigurationError(`\`kind\` must be one of ${kinds}, not ${JSON.stringify(kind)}.`);
  }
}
