import { RESOURCE_PAGE_CAP } from '../limits.ts';
import { type Audience, type AudienceCreate, audienceSchema } from '../schemas/audience.ts';
import { decodeNothing, decodeOne, type Shape } from '../schemas/decode.ts';
import type { ApiPromise } from '../transport/api-promise.ts';
import { guard } from '../transport/guard.ts';
import type { CreateOptions, RequestOptions } from '../transport/settings.ts';
import type { Transport } from '../transport/transport.ts';
import {
  createWaiter,
  type IdLike,
  type WaitContext,
  type Waiter,
  type WaitOptions,
  type WatchOptions,
} from '../waiting/wait.ts';
import { datasetErrors } from './dataset-window.ts';
import { type ListParams, listPages, type PagePromise } from './page.ts';

/** The wire object; `is_activation_allowed` arrives as `1` or `false` and becomes a boolean. */
const shape: Shape<Audience> = {
  schema: audienceSchema,
  mend: (wire) =>
    wire.is_activation_allowed === 1 || wire.is_activation_allowed === 0
      ? { ...wire, is_activation_allowed: wire.is_activation_allowed === 1 }
      : wire,
};

/** Options of `createAndWait`. */
export interface CreateAndWaitOptions<T> extends CreateOptions {
  /** Called once with the created resource, before the wait begins. One that throws is logged and harms no wait. */
  readonly onCreated?: ((resource: T) => void) | undefined;
  /** Options of the wait; its signal is the call's unless given. */
  readonly wait?: WaitOptions<T> | undefined;
}

/** Audiences: built from datasets by a job that ends at 104, 107 or a 4xx status. */
export class Audiences {
  readonly #transport: Transport;
  readonly #waiter: Waiter<Audience>;

  constructor(transport: Transport, waits: WaitContext) {
    this.#transport = transport;
    this.#waiter = createWaiter(waits, { kind: 'audience', read: (id, options) => this.get(id, options) });
  }

  /**
   * Creates an audience and starts its build. Sent under an idempotency key, so it happens once
   * however often it has to be repeated.
   *
   * @throws {ValidationError} 422, or `local` for a WebDomain start date that is certainly too early.
   * @throws {BuildBudgetError} when the build budget is spent for longer than `maxRetryWait`.
   */
  create(body: AudienceCreate, options: CreateOptions = {}): ApiPromise<Audience> {
    return this.#transport.call('audiences.create', {
      body,
      options,
      invalid: () => datasetErrors(body, Date.now()),
      decode: decodeOne(shape),
    });
  }

  /** One audience. */
  get(id: number, options: RequestOptions = {}): ApiPromise<Audience> {
    return this.#transport.call('audiences.get', { params: { id }, options, decode: decodeOne(shape) });
  }

  /** Audiences of the account: awaited, the first page; iterated, all of them. */
  list(params?: ListParams, options?: RequestOptions): PagePromise<Audience> {
    return listPages(this.#transport, { operation: 'audiences.list', shape, cap: RESOURCE_PAGE_CAP }, params, options);
  }

  /** Deletes an audience. Not repeated after a doubtful failure. */
  delete(id: number, options: RequestOptions = {}): ApiPromise<void> {
    return this.#transport.call('audiences.delete', { params: { id }, options, decode: decodeNothing });
  }

  /**
   * Waits until the build has ended.
   *
   * @returns the audience at 104.
   * @throws {JobNeedsInfoError} at 107.
   * @throws {JobFailedError} at a 4xx status.
   * @throws {WaitTimeoutError} after `timeout`, an hour unless given; the build goes on.
   */
  wait(audience: IdLike, options?: WaitOptions<Audience>): Promise<Audience> {
    return this.#waiter.wait(audience, options);
  }

  /** Each change of status, the last one final. Does not throw at 107 or 4xx. */
  watch(audience: IdLike, options?: WatchOptions<Audience>): AsyncIterable<Audience> {
    return this.#waiter.watch(audience, options);
  }

  /** Creates an audience and waits for its build. Throws what `create` and `wait` throw. */
  async createAndWait(body: AudienceCreate, options: CreateAndWaitOptions<Audience> = {}): Promise<Audience> {
    const { onCreated, wait, ...request } = options;
    const created = await this.create(body, request);
    guard(
      () => onCreated?.(created),
      (message) => this.#transport.settings.logger.error(`\`onCreated\` threw: ${message}`),
    );
    return this.wait(created, { ...(request.signal && { signal: request.signal }), ...wait });
  }
}
