import type { FieldErrors } from '../../errors/error-details.ts';
import type { Activation, ActivationCreate } from '../../spec/activation.ts';
import { type IdLike, idOf, jobState, type Statuses } from '../../spec/job-status.ts';
import type { BodyOf } from '../../spec/wire-values.ts';
import { atCallSite, type CallSite, captureCallSite, fromCallSite, isReason } from '../../util/call-site.ts';
import { checkOptionNames } from '../../util/input-checks.ts';
import { isObject } from '../../util/json.ts';
import { REQUEST_OPTIONS, type RequestOptions } from '../http/request-options.ts';
import type { Transport } from '../http/transport.ts';
import type { SharedPolls } from '../polling/shared-polls.ts';
import { activationCreateSchema, activationResource } from '../schemas/activation-schema.ts';
import { checkTransferOptions } from '../storage/transfer.ts';
import {
  type ActivationResult,
  type Download,
  type DownloadOptions,
  downloadsOf,
  resultsOf,
} from './activation-results.ts';
import { ListedJobNamespace } from './resource.ts';

/**
 * Activations deliver audiences to partners. An activation ends at status 104 (after 105 DataStreaming), 107 or 4xx.
 */
export class Activations extends ListedJobNamespace<
  Activation,
  BodyOf<'activations.create', ActivationCreate>,
  'activations'
> {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport, polls: SharedPolls) {
    const plan = {
      name: 'activations',
      kind: 'activation',
      schema: activationResource,
      body: activationCreateSchema,
      check: forbiddenFieldErrors,
    } as const;
    super(transport, plan, polls);
    this.#transport = transport;
  }

  /**
   * Returns the names and URIs of the result files of a completed activation. If you pass an activation with status
   * 104, the client sends no request.
   *
   * @throws {ResultsNotReadyError} before status 104; `JobFailedError` or `JobNeedsInfoError` if the activation ended
   * without completing; `ResponseError` if the datastreams, or the name of a result, cannot be read.
   */
  results(target: Activation | IdLike, options?: RequestOptions): Promise<ActivationResult[]> {
    return fromCallSite(async () => {
      if (options) checkOptionNames(options, 'activations.results', REQUEST_OPTIONS);
      const { settings } = this.#transport;
      const activation = isCompleted(target, settings.statuses) ? target : await this.get(idOf(target), options);
      return resultsOf(activation, settings);
    }, options?.signal);
  }

  /**
   * Yields the result files of a completed activation. Call `open()` of a file to start its download. If storage
   * refuses an expired link, the client reads the activation again and uses the new link. Requests to storage contain
   * no token, unless `contract.results` requires the token. In Node, `downloadTo` of `audience-activation/node` writes
   * the files to a directory.
   *
   * @example
   * for await (const { name, open } of client.activations.download(42)) {
   *   console.log(name, (await new Response(await open()).blob()).size);
   * }
   */
  download(target: Activation | IdLike, options: DownloadOptions = {}): AsyncGenerator<Download, void> {
    return this.#download(target, options, captureCallSite());
  }

  async *#download(
    target: Activation | IdLike,
    options: DownloadOptions,
    site: CallSite,
  ): AsyncGenerator<Download, void> {
    const { signal, maxRetries, maxRetryWait, token } = options ?? {};
    try {
      checkTransferOptions('activations.download', options);
      const request = { maxRetries, maxRetryWait, token };
      const results = await this.results(target, { ...request, signal });
      const read = (whileReading: AbortSignal) => this.results(idOf(target), { ...request, signal: whileReading });
      yield* downloadsOf(results, read, this.#transport, options);
    } catch (error) {
      throw isReason(error, [signal]) ? error : atCallSite(error, site);
    }
  }
}

/** Fields that make the service refuse an activation (specification, "Rules known for creates", rule 2). */
const FORBIDDEN_FIELDS = ['partner_id', 'partner_name', 'pricing_model'] as const;

function forbiddenFieldErrors(body: unknown): FieldErrors {
  const forbidden = FORBIDDEN_FIELDS.filter((field) => isObject(body) && body[field] !== undefined);
  return Object.fromEntries(
    forbidden.map((field) => [field, ['must not be set, because the service refuses an activation with this field.']]),
  );
}

function isCompleted(target: Activation | IdLike, statuses: Statuses | undefined): target is Activation {
  return (
    isObject(target) &&
    'datastreams' in target &&
    'status' in target &&
    isObject(target.status) &&
    jobState('activation', target as Activation, statuses) === 'completed'
  );
}
