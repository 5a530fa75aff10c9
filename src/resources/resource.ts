import { AudienceError, withDetails } from '../errors/audience-error.ts';
import type { Created, FieldErrors } from '../errors/error-details.ts';
import { JobError, WaitTimeoutError } from '../errors/job-errors.ts';
import type { ApiPromise } from '../http/api-promise.ts';
import type { CreateOptions, RequestOptions } from '../http/request-options.ts';
import { localValidationError } from '../http/response-errors.ts';
import type { Transport } from '../http/transport.ts';
import type { Source } from '../polling/job-source.ts';
import type { WaitContext } from '../polling/poller.ts';
import { type SharedJobs, WaitDesk, type WaitRoom } from '../polling/room.ts';
import { checkOptions, type WaitOptions, type WatchOptions } from '../polling/wait-options.ts';
import { decodeNothing, decodeOne, type Shape } from '../schemas/decode.ts';
import type { JobKind, Observed } from '../spec/job-status.ts';
import { RESOURCE_PAGE_CAP } from '../spec/limits.ts';
import type { Query } from '../spec/operations.ts';
import { fromCallSite } from '../util/call-site.ts';
import { safely } from '../util/callbacks.ts';
import type { IdLike } from '../util/id.ts';
import type { QueryOf, RequestBody } from '../util/input-types.ts';
import { type ListFields, type ListParams, listPages, type PagePromise } from './page.ts';
import { type JobListName, readRow, sharedJobs } from './shared-jobs.ts';

/** Namespaces whose resources are listed and deleted. */
export type ListedName = 'audiences' | 'activations' | 'cohorts' | 'projects' | 'schedules';

/** Namespaces whose resources are created and read. */
export type ResourceName = ListedName | 'lookalikes' | 'estimates';

/** What tells one namespace from another. */
export interface ResourcePlan<T, Name extends ResourceName = ResourceName> {
  readonly name: Name;
  readonly shape: Shape<T>;
  /** What is certainly wrong with a create's body; the service decides about the rest. */
  readonly check?: (body: unknown) => FieldErrors;
}

/** As {@link ResourcePlan}, of resources with a worker job behind them. */
export interface JobPlan<T extends Observed, Name extends ResourceName = ResourceName> extends ResourcePlan<T, Name> {
  readonly kind: JobKind;
  /** The jobs it is waited for with; without it, those of its kind, each read by itself. */
  readonly jobs?: SharedJobs<T> | undefined;
}

/** Options of `createAndWait`. */
export interface CreateAndWaitOptions<T> extends CreateOptions {
  /** Called once with the created resource, before the wait begins. One that throws is logged and harms no wait. */
  readonly onCreated?: ((resource: T) => void) | undefined;
  /** Options of the wait; its signal is the call's unless given. */
  readonly wait?: WaitOptions<T> | undefined;
}

/** Resources that are created and read. */
class Resource<T, Fields, Name extends ResourceName = ResourceName> {
  readonly #transport: Transport;
  readonly #plan: ResourcePlan<T, Name>;

  /** @internal */
  constructor(transport: Transport, plan: ResourcePlan<T, Name>) {
    this.#transport = transport;
    this.#plan = plan;
  }

  /**
   * Creates one. Sent under an idempotency key, so it happens once however often it has to be
   * repeated.
   *
   * @throws {ValidationError} 422, or `local` for what the service would certainly refuse.
   * @throws {BuildBudgetError} where it starts a job and the build budget is spent for longer than `maxRetryWait`.
   */
  create(body: RequestBody<Fields>, options: CreateOptions = {}): ApiPromise<T> {
    const { name, shape, check } = this.#plan;
    return this.#transport.call(`${name}.create`, {
      body,
      options,
      ...(check && { invalid: () => check(body) }),
      decode: decodeOne(shape),
    });
  }

  /** Reads one. */
  get(id: number, options: RequestOptions = {}): ApiPromise<T> {
    const { name, shape } = this.#plan;
    return this.#transport.call(`${name}.get`, { params: { id }, options, decode: decodeOne(shape) });
  }
}

/** Resources that are created, read, listed and deleted. */
export class ListedResource<T, Fields, Name extends ListedName = ListedName> extends Resource<T, Fields, Name> {
  readonly #lists: Lists<T>;

  /** @internal */
  constructor(transport: Transport, plan: ResourcePlan<T, Name>) {
    super(transport, plan);
    this.#lists = createLists(transport, plan);
  }

  /** Those of the account: awaited, the first page; iterated, all of them. */
  list<Q extends QueryOf<Q> & ListFields = ListParams>(params?: Q, options?: RequestOptions): PagePromise<T> {
    return this.#lists.list(params, options);
  }

  /** Deletes one. Not repeated after a doubtful failure. */
  delete(id: number, options?: RequestOptions): ApiPromise<void> {
    return this.#lists.delete(id, options);
  }
}

/** Resources whose create starts a worker job. */
export class JobResource<T extends Observed, Fields, Name extends ResourceName = ResourceName> extends Resource<
  T,
  Fields,
  Name
> {
  readonly #kind: JobKind;
  readonly #room: WaitRoom;
  readonly #desk: WaitDesk<T>;
  readonly #report: (message: string) => void;

  /** @internal */
  constructor(transport: Transport, plan: JobPlan<T, Name>, waits: WaitContext) {
    super(transport, plan);
    const { kind, shape, jobs = sharedJobs(transport, { shape, name: plan.name }) } = plan;
    this.#kind = kind;
    const source: Source<T> = {
      kind,
      read: (id, options) => this.get(id, options),
      refuse: (problem) =>
        localValidationError(transport.settings.operation(`${plan.name}.get`), { id: [problem] }, problem),
      decode: (data) => readRow(data, shape, transport.settings),
    };
    this.#room = waits.room;
    this.#desk = new WaitDesk(waits.room, (engine) => new engine.Waiter(waits, source, jobs.group(engine)));
    this.#report = (message) => transport.settings.logger.error(`\`onCreated\` threw: ${message}`);
  }

  /**
   * Waits until the job has ended. Waits share their reads: start as many as you like.
   *
   * @returns the resource at 104; a cohort at 4.
   * @throws {JobNeedsInfoError} at 107.
   * @throws {JobFailedError} at a 4xx status; a cohort at 5.
   * @throws {JobCancelledError} for a lookalike at 400.
   * @throws {WaitTimeoutError} after `timeout`, an hour awake unless given; the job goes on.
   */
  wait(target: IdLike, options?: WaitOptions<T>): Promise<T> {
    return fromCallSite(() => this.#desk.wait(target, options), options?.signal);
  }

  /** Each change of status, the last one final. Does not throw at 107 or 4xx. */
  watch(target: IdLike, options?: WatchOptions<T>): AsyncIterable<T> {
    return this.#desk.watch(target, options);
  }

  /** @internal Has what waits need, before there is something to wait for. */
  protected loadWaits(signal: AbortSignal | undefined): Promise<void> {
    return this.#room.ready(signal);
  }

  /**
   * Creates one and waits for its job. Throws what `create` and `wait` throw. An error that ended the wait, and is not
   * of the job, tells in `created` what goes on, and can be waited for by `client.waits.wait(error.created)`.
   */
  createAndWait(body: RequestBody<Fields>, options?: CreateAndWaitOptions<T>): Promise<T> {
    return fromCallSite(() => this.#createAndWait(body, options), options?.signal, options?.wait?.signal);
  }

  async #createAndWait(body: RequestBody<Fields>, options: CreateAndWaitOptions<T> = {}): Promise<T> {
    const { onCreated, wait = {}, ...request } = options;
    // A typo is found before something is created, and so is that there is nothing to wait with.
    checkOptions(wait);
    await this.loadWaits(request.signal);
    const creating = this.create(body, request);
    const created = await creating;
    safely(() => onCreated?.(created), this.#report);
    try {
      return await this.wait(created, { ...(request.signal && { signal: request.signal }), ...wait });
    } catch (error) {
      throw withCreated(error, { kind: this.#kind, id: created.id }, creating.idempotencyKey);
    }
  }
}

/** A wait's error that says what was created; those of jobs do so by themselves. */
function withCreated(error: unknown, created: Created, idempotencyKey: string | undefined): unknown {
  if (!AudienceError.isInstance(error) || JobError.isInstance(error)) return error;
  const told = WaitTimeoutError.isInstance(error);
  const goesOn = `The ${created.kind} ${created.id} was created and goes on: wait for it again by \`error.created\`.`;
  return withDetails(
    error,
    { created, outcome: 'done', ...(idempotencyKey !== undefined && { idempotencyKey }) },
    told ? '' : goesOn,
  );
}

/** Resources with a job behind them that are listed and deleted, too. */
export class ListedJobResource<T extends Observed, Fields, Name extends JobListName = JobListName> extends JobResource<
  T,
  Fields,
  Name
> {
  readonly #lists: Lists<T>;

  /** @internal */
  constructor(transport: Transport, plan: JobPlan<T, Name>, waits: WaitContext) {
    super(
      transport,
      { jobs: sharedJobs(transport, { shape: plan.shape, name: plan.name, listed: plan.name }), ...plan },
      waits,
    );
    this.#lists = createLists(transport, plan);
  }

  /** Those of the account: awaited, the first page; iterated, all of them. */
  list<Q extends QueryOf<Q> & ListFields = ListParams>(params?: Q, options?: RequestOptions): PagePromise<T> {
    return this.#lists.list(params, options);
  }

  /** Deletes one. Not repeated after a doubtful failure. */
  delete(id: number, options?: RequestOptions): ApiPromise<void> {
    return this.#lists.delete(id, options);
  }
}

interface Lists<T> {
  list(params?: Query & ListFields, options?: RequestOptions): PagePromise<T>;
  delete(id: number, options?: RequestOptions): ApiPromise<void>;
}

function createLists<T, Name extends ListedName>(
  transport: Transport,
  { name, shape }: ResourcePlan<T, Name>,
): Lists<T> {
  const plan = { operation: `${name}.list`, shape, cap: RESOURCE_PAGE_CAP } as const;
  return {
    list: (params, options) => listPages(transport, plan, params, options),
    delete: (id, options = {}) => transport.call(`${name}.delete`, { params: { id }, options, decode: decodeNothing }),
  };
}
