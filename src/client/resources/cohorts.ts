import { ConflictError, ValidationError } from '../../errors/api-errors.ts';
import { AudienceError, withDetails } from '../../errors/audience-error.ts';
import type { Upload } from '../../errors/error-details.ts';
import { JobError } from '../../errors/job-errors.ts';
import type { Cohort, CohortCreate } from '../../spec/cohort.ts';
import { AbortScope } from '../../util/abort.ts';
import { fromCallSite } from '../../util/call-site.ts';
import { safely } from '../../util/callbacks.ts';
import { promiseProblem } from '../../util/input-checks.ts';
import type { ClientState } from '../http/client-state.ts';
import { keyProblem } from '../http/request.ts';
import { CONFLICT_ADVICE, type CreateOptions, type RequestOptions } from '../http/request-options.ts';
import type { Transport } from '../http/transport.ts';
import type { SharedPolls } from '../polling/shared-polls.ts';
import { checkWaitOptions, type WaitOptions } from '../polling/wait-options.ts';
import { cohortCreateSchema, cohortResource } from '../schemas/cohort-schema.ts';
import { checkTransferOptions } from '../storage/transfer.ts';
import type { UploadOptions } from '../storage/upload.ts';
import type { UploadData } from '../storage/upload-source.ts';
import { extraBodyErrors } from './extra-body.ts';
import { ListedJobNamespace, refuseWaitOptions } from './resource.ts';
import { inputError, type Reservations, type Uploads } from './uploads.ts';

/** Options of {@link Cohorts.import}. */
export interface ImportOptions
  extends UploadOptions,
    Pick<CreateOptions, 'idempotencyKey' | 'onConflict' | 'extraBody' | 'token'> {
  /**
   * Called once when storage has the file. If you return a promise, for example to save `reference`, the claim waits
   * for the promise. If `onUploaded` throws or rejects, the client logs the error and continues.
   */
  readonly onUploaded?: ((upload: Upload) => void | Promise<void>) | undefined;
  /** Called once with the created cohort, before the wait begins. */
  readonly onCreated?: ((cohort: Cohort) => void) | undefined;
  /** Options of the wait. If `wait.signal` is not set, the import's signal also ends the wait. */
  readonly wait?: WaitOptions<Cohort> | undefined;
  /** `timeout` limits one attempt to reserve the slot or to claim the file, in milliseconds. */
  readonly request?: Pick<RequestOptions, 'timeout'> | undefined;
  /** Must not be set. Use `wait: { timeout }`, `request: { timeout }` or `idleTimeout` instead. */
  readonly timeout?: undefined;
}

/** Cohorts. A job imports a cohort from a file, and ends at status 4 (Completed) or 5 (Not Available). */
export class Cohorts extends ListedJobNamespace<Cohort, CohortCreate, 'cohorts'> {
  readonly #uploads: Uploads;
  readonly #state: ClientState;
  readonly #report: (message: string) => void;

  /** @internal */
  constructor(transport: Transport, polls: SharedPolls, uploads: Uploads, reservations: Reservations) {
    const check = (body: unknown) => reservations.claimErrors(body);
    const plan = { name: 'cohorts', kind: 'cohort', schema: cohortResource, body: cohortCreateSchema, check } as const;
    super(transport, plan, polls);
    this.#uploads = uploads;
    this.#state = transport.state;
    this.#report = (message) => transport.settings.logger.error(`\`onUploaded\` threw: ${message}`);
  }

  /**
   * Imports a file: reserves a slot, uploads the file, claims it by creating a cohort with `fields`, and waits until
   * the cohort has status 4. Throws the errors of `uploads.upload` and `createAndWait`. If the claim fails and the file
   * can still be claimed, the error contains `upload`, with which `create` can claim the file without another upload.
   *
   * With an `idempotencyKey`, you can safely repeat an import. The second import uploads the file again, but creates no
   * second cohort. If the first claim created a cohort, the second claim fails with a `ConflictError`. `onConflict` is
   * 'throw' by default. To continue without another upload, save the reference in `onUploaded`, and call `create` with
   * the same key.
   *
   * @example
   * const file = await openFile('customers.csv'); // from `audience-activation/node`
   * const cohort = await client.cohorts.import(file, { name: 'Customers' }, {
   *   onProgress: ({ loaded, total }) => console.log(`${loaded} of ${total} bytes`),
   * });
   */
  import(data: UploadData, fields?: CohortCreate, options: ImportOptions = {}): Promise<Cohort> {
    return fromCallSite(() => this.#import(data, fields, options), options.signal, options.wait?.signal);
  }

  async #import(data: UploadData, fields: CohortCreate | undefined, options: ImportOptions): Promise<Cohort> {
    refuseWaitOptions(options);
    checkTransferOptions('cohorts.import', options);
    checkWaitOptions(options.wait);
    const problem = promiseProblem(fields);
    if (problem !== undefined) throw inputError('cohorts.import', { fields: [problem] });
    // Check the claim before uploading a file that may be large.
    const unusableKey = options.idempotencyKey === undefined ? undefined : keyProblem(options.idempotencyKey);
    const errors = {
      ...extraBodyErrors(fields ?? {}, options.extraBody),
      ...(unusableKey !== undefined && { idempotencyKey: [unusableKey] }),
    };
    if (Object.keys(errors).length > 0) throw inputError('cohorts.import', errors);
    const { idempotencyKey, onConflict, extraBody, onUploaded, onCreated, wait, timeout: _, ...input } = options;
    const { signal, maxRetries, maxRetryWait, token, request } = input;
    const upload = await this.#uploads.upload({ kind: 'cohort', data }, input);
    if (onUploaded) {
      const scope = new AbortScope({ owner: this.#state, parents: [signal] });
      await scope.race(safely(() => onUploaded(upload), this.#report)).finally(() => scope.dispose());
    }
    const body = { ...fields, upload_reference: upload.reference };
    const claim = { signal, maxRetries, maxRetryWait, token, request, idempotencyKey, onConflict, extraBody };
    // The service never replays the response of an earlier import, because each upload has a different reference.
    const conflict = { onConflict: onConflict ?? 'throw', [CONFLICT_ADVICE]: IMPORTED_BEFORE } as const;
    try {
      return await this.createAndWait(body, {
        ...claim,
        ...(idempotencyKey !== undefined && conflict),
        onCreated,
        wait,
      });
    } catch (error) {
      throw withUpload(error, upload, idempotencyKey !== undefined);
    }
  }
}

/** Advice after a 409 of a claim with the caller's own key. */
const IMPORTED_BEFORE =
  'An earlier import with this idempotency key probably created the cohort: look for it in `cohorts.list()`.';

/**
 * Adds the upload to the error of a failed claim, so that the caller can claim it again. Omits it if the service
 * refused the upload, or if an earlier import with the caller's key has probably created the cohort.
 */
function withUpload(error: unknown, upload: Upload, isCallersKey: boolean): unknown {
  if (!AudienceError.isInstance(error) || error.created || JobError.isInstance(error)) return error;
  if (isCallersKey && ConflictError.isInstance(error)) return error;
  if (ValidationError.isInstance(error) && error.errors.upload_reference) return error;
  const advice = `The file is in storage: \`cohorts.create\` can claim it with \`error.upload.reference\` until ${upload.claimBefore.toISOString()}.`;
  return withDetails(error, { upload }, advice);
}
