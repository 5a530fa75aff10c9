import type { RequestOptions } from '../http/request-options.ts';
import type { Transport } from '../http/transport.ts';
import type { WaitContext } from '../polling/poller.ts';
import type { Activation, ActivationCreate } from '../schemas/activation.ts';
import { COMPLETED } from '../spec/job-status.ts';
import type { StorageContext } from '../storage/transfer.ts';
import { atCallSite, type CallSite, captureCallSite, fromCallSite, isReason } from '../util/call-site.ts';
import { type IdLike, idOf } from '../util/id.ts';
import { isObject } from '../util/json.ts';
import type { ActivationResult, Download, DownloadOptions } from './activation-results.ts';
import { activationErrors } from './checks.ts';
import { ListedJobResource } from './resource.ts';
import { files } from './uploads.ts';

/** Activations: audiences delivered to a partner, through 105 DataStreaming to 104, 107 or a 4xx status. */
export class Activations extends ListedJobResource<Activation, ActivationCreate, 'activations'> {
  readonly #storage: StorageContext;

  /** @internal */
  constructor(transport: Transport, waits: WaitContext, storage: StorageContext) {
    const plan = {
      name: 'activations',
      kind: 'activation',
      shape: { schema: 'activation' },
      check: activationErrors,
    } as const;
    super(transport, plan, waits);
    this.#storage = storage;
  }

  /**
   * Where the files of a completed activation can be read. One that is given as it was at 104 costs no request.
   *
   * @throws {ResultsNotReadyError} before 104; `JobFailedError` or `JobNeedsInfoError` where it ended otherwise;
   * `ResponseError` where the name or the URI of a result is missing.
   */
  results(target: Activation | IdLike, options: RequestOptions = {}): Promise<ActivationResult[]> {
    return fromCallSite(async () => {
      const { resultsOf } = await this.#storage.state.load(files, options.signal);
      return resultsOf(
        isCompleted(target) ? target : await this.get(idOf(target), options),
        this.#storage.settings.redactor,
      );
    }, options.signal);
  }

  /**
   * The files of a completed activation, each to be opened when its turn comes. No token goes to
   * storage. In Node, `downloadTo` of `audience-activation/node` writes them to a directory.
   *
   * @example
   * for await (const { name, open } of client.activations.download(42)) await consume(name, await open());
   */
  download(target: Activation | IdLike, options: DownloadOptions = {}): AsyncGenerator<Download, void> {
    return this.#download(target, options, captureCallSite());
  }

  async *#download(
    target: Activation | IdLike,
    options: DownloadOptions,
    site: CallSite,
  ): AsyncGenerator<Download, void> {
    const { signal, maxRetries, maxRetryWait } = options;
    try {
      const results = await this.results(target, { signal, maxRetries, maxRetryWait });
      const { downloadsOf } = await this.#storage.state.load(files, signal);
      yield* downloadsOf(results, this.#storage, options);
    } catch (error) {
      throw isReason(error, [signal]) ? error : atCallSite(error, site);
    }
  }
}

function isCompleted(target: Activation | IdLike): target is Activation {
  return isObject(target) && 'datastreams' in target && isObject(target.status) && target.status.id === COMPLETED;
}
