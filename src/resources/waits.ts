import { ConfigurationError } from '../errors/audience-error.ts';
import type { JobResources } from '../errors/error-details.ts';
import type { Scheduler } from '../polling/scheduler.ts';
import type { WaitOptions } from '../polling/wait-options.ts';
import type { Activation } from '../schemas/activation.ts';
import type { Audience } from '../schemas/audience.ts';
import type { Cohort } from '../schemas/cohort.ts';
import type { Estimate } from '../schemas/open-resources.ts';
import type { IdLike, JobKind } from '../spec/job-status.ts';
import { isObject } from '../util/json.ts';

/** A job to wait for: plain data, as a `JobError` or a `WaitTimeoutError` carries it. */
export interface WaitTarget<K extends JobKind = JobKind> {
  readonly kind: K;
  readonly id: number;
}

/** A webhook event, as far as waits are concerned ("Events"). */
export interface JobEvent {
  /** Such as `audience.completed`. */
  readonly type: string;
  /** The resource as its GET returns it. */
  readonly data: unknown;
  readonly id?: string | undefined;
  readonly schema_version?: number | undefined;
  readonly created_at?: string | undefined;
  readonly company_id?: number | undefined;
}

/** What waits for the jobs of a kind. */
interface Waitable<T> {
  wait(target: IdLike, options?: WaitOptions<T>): Promise<T>;
}

/** The namespaces of a client whose resources have jobs. */
interface Namespaces {
  readonly audiences: Waitable<Audience>;
  readonly lookalikes: Waitable<Audience>;
  readonly estimates: Waitable<Estimate>;
  readonly activations: Waitable<Activation>;
  readonly cohorts: Waitable<Cohort>;
}

/** Kinds of job that the events of a family tell of; those of audiences tell of lookalikes, too ("Events"). */
const KINDS: ReadonlyMap<string, readonly JobKind[]> = new Map([
  ['audience', ['audience', 'lookalike']],
  ['activation', ['activation']],
  ['cohort', ['cohort']],
]);

/** All waits of a client and of those made by `withOptions`, whatever method began them. */
export class Waits {
  readonly #scheduler: Scheduler;
  readonly #waitables: { readonly [K in JobKind]: Waitable<JobResources[K]> };

  /** @internal */
  constructor(scheduler: Scheduler, namespaces: Namespaces) {
    this.#scheduler = scheduler;
    this.#waitables = {
      audience: namespaces.audiences,
      lookalike: namespaces.lookalikes,
      estimate: namespaces.estimates,
      activation: namespaces.activations,
      cohort: namespaces.cohorts,
    };
  }

  /** Waits and watches under way. */
  get size(): number {
    return this.#scheduler.size;
  }

  /**
   * Waits for a job by its kind and id, for instance to resume after a restart. Throws what the
   * `wait` of its namespace throws.
   *
   * @example
   * const audience = await client.waits.wait({ kind: 'audience', id: 42 });
   */
  async wait<K extends JobKind>(
    target: WaitTarget<K>,
    options?: WaitOptions<JobResources[K]>,
  ): Promise<JobResources[K]> {
    const kind: unknown = isObject(target) ? target.kind : undefined;
    if (typeof kind !== 'string' || !Object.hasOwn(this.#waitables, kind)) {
      const kinds = Object.keys(this.#waitables).join(', ');
      throw new ConfigurationError(
        `\`kind\` is ${JSON.stringify(kind)}: give \`{ kind, id }\`, the kind one of ${kinds}.`,
      );
    }
    return this.#waitables[target.kind].wait(target.id, options);
  }

  /**
   * Tells waits of a webhook event that has been verified. One that says how a job ended ends its waits
   * without a request; one that is older than what a wait has seen changes nothing; one whose data is
   * not the whole resource has it read. Once events end waits of a kind, others of that kind look once a
   * minute only; when ends come that no event told of, they look as often as before.
   *
   * @returns whether a wait was under way that it told something new by itself.
   */
  notify(event: JobEvent): boolean {
    const { type, data }: { type?: unknown; data?: unknown } = isObject(event) ? event : {};
    const kinds = typeof type === 'string' ? KINDS.get(type.split('.')[0] ?? '') : undefined;
    if (!kinds || !isObject(data) || typeof data.id !== 'number') return false;
    return this.#scheduler.notify(kinds, data.id, data);
  }
}
