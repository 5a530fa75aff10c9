import { AudienceError, ConfigurationError, withDetails } from '../../errors/audience-error.ts';
import type { Created, FieldErrors } from '../../errors/error-details.ts';
import { JobError, WaitTimeoutError } from '../../errors/job-errors.ts';
import { type IdLike, type JobKind, type JobResource, jobState } from '../../spec/job-status.ts';
import { RESOURCE_PAGE_CAP } from '../../spec/limits.ts';
import type { NamespaceWith } from '../../spec/operations.ts';
import { fromCallSite } from '../../util/call-site.ts';
import { safely } from '../../util/callbacks.ts';
import type { CreateOptions, RequestOptions } from '../http/request-options.ts';
import { localValidationError } from '../http/response-errors.ts';
import type { ApiPromise, Transport } from '../http/transport.ts';
import type { JobSource } from '../polling/job.ts';
import { JobTable } from '../polling/job-table.ts';
import { DEFAULT_WAIT_TIMEOUT_MS, Poller } from '../polling/poller.ts';
import type { SharedPolls } from '../polling/shared-polls.ts';
import { checkWaitOptions, type WaitOptions, type WatchOptions } from '../polling/wait-options.ts';
import { decodeNothing, decodeOne } from '../schemas/decode.ts';
import type { LazySchema, ResourceSchema } from '../schemas/shared-schemas.ts';
import { extraBodyErrors, withExtraBody } from './extra-body.ts';
import { warnOfMisspeltFields } from './misspelt-fields.ts';
import { type ListParams, listPages, type PagePromise } from './page.ts';
import { type JobListName, listedJobs, readRow } from './shared-jobs.ts';

/** Milliseconds for which the service may respond with 404 for a new resource (assumed). */
const INVISIBLE_MS = 10_000;

/** Namespaces with a list and a delete operation. */
export type ListedName = ResourceName & NamespaceWith<'list'> & NamespaceWith<'delete'>;

/** Namespaces with a create and a get operation. */
export type ResourceName = NamespaceWith<'create'> & NamespaceWith<'get'>;

/** Description of a namespace. */
export interface ResourcePlan<T, Name extends ResourceName = ResourceName> {
  readonly name: Name;
  readonly schema: ResourceSchema<T>;
  readonly body: LazySchema;
  /** Returns the errors of a body that the service would certainly refuse. */
  readonly check?: (body: unknown) => FieldErrors;
}

/** Description of a namespace whose create requests start worker jobs. */
export interface JobPlan<T extends JobResource, Name extends ResourceName = ResourceName>
  extends ResourcePlan<T, Name> {
  readonly kind: JobKind;
  /** Table of the namespace's jobs. @default a new table that uses no list */
  readonly jobs?: JobTable<T> | undefined;
}

/** Options of `createAndWait`. `deadline` limits the create request and the wait together, in milliseconds. */
export interface CreateAndWaitOptions<T> extends Omit<CreateOptions, 'timeout'> {
  /**
   * Called once with the created resource, before the wait. If `onCreated` throws, the client logs the error, and the
   * wait begins.
   */
  readonly onCreated?: ((resource: T) => void) | undefined;
  /** Options of the wait. If `wait.signal` is not set, the call's signal also ends the wait. */
  readonly wait?: WaitOptions<T> | undefined;
  /** `timeout` limits one attempt of the create request, in milliseconds. */
  readonly request?: Pick<RequestOptions, 'timeout'> | undefined;
  /** Must not be set. Use `wait: { timeout }` or `request: { timeout }` instead. */
  readonly timeout?: undefined;
}

/** Methods to create and read resources. */
export class Namespace<T, Fields, Name extends ResourceName = ResourceName> {
  readonly #transport: Transport;
  readonly #plan: ResourcePlan<T, Name>;

  /** @internal */
  constructor(transport: Transport, plan: ResourcePlan<T, Name>) {
    this.#transport = transport;
    this.#plan = plan;
  }

  /** @internal Name of the namespace, such as `audiences`. */
  get resourceName(): Name {
    return this.#plan.name;
  }

  /**
   * Creates a resource. The request contains an idempotency key, so that retries create nothing twice. Unless it
   * creates a project or a schedule, the request uses one build of the organization's budget (by default 60 per hour
   * and 300 per day).
   *
   * The service returns 422 if the body violates these rules (specification, "Rules known for creates"):
   *
   * - An audience: `WebDomain` datasets start within the last 45 days, and its filter values and `project_id` exist.
   * - A lookalike: `config.target_size` is an integer from 1 to 4,000,000, and the seed has at least 1,000 devices.
   * - An activation: the audience has at least 500 unique devices, or 1,000 if it is a lookalike. Credentials are in the
   *   body or stored on the connection. The body does not contain `partner_id`, `partner_name` or `pricing_model`.
   * - A cohort: its upload was reserved within the last 15 minutes.
   *
   * @throws {ValidationError} for a 422. If the body itself shows that the service would refuse it, the client sends
   * nothing, and `local` is true.
   * @throws {BuildBudgetError} if the request starts a job and the build budget is used up for longer than the call may
   * wait.
   * @example
   * const dataset = [{ analysis_type: 'AffinityTransactions', start_date: '2026-05-01', end_date: '2026-05-31' }];
   * const audience = await client.audiences.create({ name: 'Visitors', dataset });
   * console.log(audience.id, audience.status.name); // its build is running
   */
  create(body: Fields, options?: CreateOptions): ApiPromise<T> {
    const { name, schema, body: bodySchema, check } = this.#plan;
    const operation = `${name}.create` as const;
    const extraBody = options?.extraBody;
    const completeBody = extraBody === undefined ? body : withExtraBody(body, extraBody);
    return this.#transport.call(operation, {
      body: completeBody,
      options,
      validate: () => {
        warnOfMisspeltFields(operation, body, bodySchema, this.#transport);
        const errors = check?.(completeBody) ?? {};
        return extraBody === undefined ? errors : { ...errors, ...extraBodyErrors(body, extraBody) };
      },
      decode: decodeOne(schema, { name, created: this.#transport.state.created }),
    });
  }

  /**
   * Reads a resource.
   *
   * @throws {NotFoundError} for a 404: the account has no resource with this id.
   * @example
   * const { name, status } = await client.audiences.get(42);
   * if (status.id === 104) console.log(`${name} is completed.`);
   */
  get(id: number, options?: RequestOptions): ApiPromise<T> {
    const { name, schema } = this.#plan;
    return this.#transport.call(`${name}.get`, { params: { id }, options, decode: decodeOne(schema) });
  }
}

/** Methods to create, read, list and delete resources. */
export class ListedNamespace<T, Fields, Name extends ListedName = ListedName> extends Namespace<T, Fields, Name> {
  readonly #lists: Lists<T>;

  /** @internal */
  constructor(transport: Transport, plan: ResourcePlan<T, Name>) {
    super(transport, plan);
    this.#lists = createLists(transport, plan);
  }

  /**
   * Lists the resources of the account. Await the result for the first page, or iterate over it for all resources.
   *
   * @example
   * for await (const project of client.projects.list()) console.log(project.id);
   * const { items } = await client.projects.list({ page: 2, per_page: 50 });
   */
  list(params?: ListParams, options?: RequestOptions): PagePromise<T> {
    return this.#lists.list(params, options);
  }

  /** Deletes a resource. The client retries the request only if the service certainly did not act. */
  delete(id: number, options?: RequestOptions): ApiPromise<void> {
    return this.#lists.delete(id, options);
  }
}

/** Methods to create and read resources whose create request starts a job, and to wait for the job. */
export class JobNamespace<T extends JobResource, Fields, Name extends ResourceName = ResourceName> extends Namespace<
  T,
  Fields,
  Name
> {
  readonly #kind: JobKind;
  readonly #poller: Poller<T>;
  readonly #logError: (message: string) => void;

  /** @internal */
  constructor(transport: Transport, plan: JobPlan<T, Name>, polls: SharedPolls) {
    super(transport, plan);
    const { state, settings } = transport;
    const { kind, name, schema, jobs = new JobTable<T>({ polls, name }) } = plan;
    this.#kind = kind;
    this.#logError = (message) => settings.logger.error(message);
    const source: JobSource<T> = {
      kind,
      mayBeInvisible: (id) => performance.now() - (state.created.get(`${name} ${id}`) ?? -Infinity) < INVISIBLE_MS,
      read: (id, options) => this.get(id, options),
      decode: (data) => readRow(data, schema, settings),
      stateOf: (resource) => jobState(kind, resource, settings.statuses),
      invalidId: (problem) => localValidationError(settings.operations[`${name}.get`], { id: [problem] }),
      settings,
    };
    this.#poller = new Poller(state, source, jobs);
  }

  /**
   * Waits until the job has ended. Waits share their polls, so you can start many waits at the same time.
   *
   * @returns the completed resource, at status 104; for a cohort, at status 4.
   * @throws {JobNeedsInfoError} at status 107.
   * @throws {JobFailedError} at a 4xx status (for a lookalike, except 400); for a cohort, at status 5.
   * @throws {JobCancelledError} for a lookalike, at status 400.
   * @throws {WaitTimeoutError} after `timeout`, by default an hour. The job keeps running.
   * @example
   * const { results_count } = await client.audiences.wait(42, {
   *   timeout: 30 * 60_000,
   *   onUpdate: ({ status }, { elapsed }) => console.log(`${status.name} after ${elapsed} ms`),
   * });
   */
  wait(target: IdLike, options?: WaitOptions<T>): Promise<T> {
    const work = async (): Promise<T> => {
      checkWaitOptions(options);
      return this.#poller.wait(target, options);
    };
    return fromCallSite(work, options?.signal);
  }

  /**
   * Iterates over the status changes of a job until the job ends. Does not throw for a job that ends without
   * completing.
   */
  watch(target: IdLike, options?: WatchOptions<T>): AsyncIterable<T> {
    return this.#poller.watch(target, options);
  }

  /**
   * Creates a resource and waits for its job. Throws the errors of `create` and `wait`. If the wait fails for another
   * reason than the job or an aborted signal, `error.created` contains the kind and the id of the resource. The job
   * keeps running: `client.waits.wait(error.created)` waits for it again.
   *
   * @example
   * const dataset = [{ analysis_type: 'AffinityTransactions', start_date: '2026-05-01', end_date: '2026-05-31' }];
   * const audience = await client.audiences.createAndWait(
   *   { name: 'Visitors', dataset },
   *   { onCreated: ({ id }) => console.log(`Building audience ${id}`), wait: { timeout: 30 * 60_000 } },
   * );
   */
  createAndWait(body: Fields, options: CreateAndWaitOptions<T> = {}): Promise<T> {
    return fromCallSite(() => this.#createAndWait(body, options), options?.signal, options?.wait?.signal);
  }

  async #createAndWait(body: Fields, options: CreateAndWaitOptions<T>): Promise<T> {
    // Check the options before creating the resource.
    if (typeof options !== 'object' || options === null)
      throw new ConfigurationError('The options of `createAndWait` must be an object.');
    checkWaitOptions(options.wait);
    refuseWaitOptions(options);
    const startedAt = performance.now();
    const { onCreated, wait = {}, request, timeout: _, ...call } = options;
    const creating = this.create(body, { ...call, ...request });
    const created = await creating;
    if (onCreated) {
      safely(
        () => onCreated(created),
        (message) => this.#logError(`\`onCreated\` threw: ${message}`),
      );
    }
    // Another token might not have access to the created resource.
    const { token, deadline = Number.POSITIVE_INFINITY } = call;
    const own = token === undefined ? {} : { request: { token, ...wait.request } };
    const timeout = Math.min(
      wait.timeout ?? DEFAULT_WAIT_TIMEOUT_MS,
      Math.max(0, Math.round(startedAt + deadline - performance.now())),
    );
    try {
      return await this.#poller.wait(created, { ...wait, ...own, timeout, signal: wait.signal ?? call.signal });
    } catch (error) {
      throw withCreated(error, { kind: this.#kind, id: created.id }, creating.idempotencyKey);
    }
  }
}

/** Refuses options of the wait outside `wait`. A `timeout`, for example, would be ambiguous. */
export function refuseWaitOptions({
  timeout,
  onUpdate,
}: {
  readonly timeout?: unknown;
  readonly onUpdate?: unknown;
}): void {
  if (onUpdate !== undefined)
    throw new ConfigurationError('`createAndWait` and `cohorts.import` have no `onUpdate` option.', {
      advice: 'Use `wait: { onUpdate }`.',
    });
  if (timeout === undefined) return;
  throw new ConfigurationError('`createAndWait` and `cohorts.import` have no `timeout` option.', {
    advice: 'Use `wait: { timeout }` to limit the wait, or `request: { timeout }` to limit one attempt of a request.',
  });
}

/** Adds the kind and the id of the created resource to the error of a wait. A `JobError` already contains them. */
function withCreated(error: unknown, created: Created, idempotencyKey: string | undefined): unknown {
  if (!AudienceError.isInstance(error) || JobError.isInstance(error)) return error;
  const advice = `The ${created.kind} ${created.id} was created and its job keeps running: wait for the job again with \`client.waits.wait(error.created)\`.`;
  return withDetails(
    error,
    { created, outcome: 'done', ...(idempotencyKey !== undefined && { idempotencyKey }) },
    WaitTimeoutError.isInstance(error) ? '' : advice,
  );
}

/** Methods to create, read, list and delete resources whose create request starts a job, and to wait for the job. */
export class ListedJobNamespace<
  T extends JobResource,
  Fields,
  Name extends JobListName = JobListName,
> extends JobNamespace<T, Fields, Name> {
  readonly #lists: Lists<T>;

  /** @internal */
  constructor(transport: Transport, plan: JobPlan<T, Name>, polls: SharedPolls) {
    super(transport, { jobs: listedJobs(transport, polls, plan), ...plan }, polls);
    this.#lists = createLists(transport, plan);
  }

  /**
   * Lists the resources of the account. Await the result for the first page, or iterate over it for all resources.
   *
   * @example
   * for await (const audience of client.audiences.list()) console.log(audience.id, audience.name);
   * const { items } = await client.audiences.list({ page: 2, per_page: 50 });
   */
  list(params?: ListParams, options?: RequestOptions): PagePromise<T> {
    return this.#lists.list(params, options);
  }

  /** Deletes a resource. The client retries the request only if the service certainly did not act. */
  delete(id: number, options?: RequestOptions): ApiPromise<void> {
    return this.#lists.delete(id, options);
  }
}

interface Lists<T> {
  list(params?: ListParams, options?: RequestOptions): PagePromise<T>;
  delete(id: number, options?: RequestOptions): ApiPromise<void>;
}

function createLists<T, Name extends ListedName>(
  transport: Transport,
  { name, schema }: ResourcePlan<T, Name>,
): Lists<T> {
  const plan = { operation: `${name}.list`, schema, cap: RESOURCE_PAGE_CAP } as const;
  return {
    list: (params, options) => listPages(transport, plan, params, options),
    delete: (id, options) => transport.call(`${name}.delete`, { params: { id }, options, decode: decodeNothing }),
  };
}
