import { ValidationError } from '../errors/api-errors.ts';
import { AudienceError, withDetails } from '../errors/audience-error.ts';
import type { Upload } from '../errors/error-details.ts';
import type { CreateOptions } from '../http/request-options.ts';
import type { Transport } from '../http/transport.ts';
import type { Scheduler } from '../polling/scheduler.ts';
import { checkWaitOptions, type WaitOptions } from '../polling/wait-options.ts';
import { type Cohort, type CohortCreate, cohortResource } from '../schemas/cohort.ts';
import type { StorageContext } from '../storage/transfer.ts';
import type { UploadOptions } from '../storage/upload.ts';
import type { UploadData } from '../storage/upload-source.ts';
import { fromCallSite } from '../util/call-site.ts';
import { safely } from '../util/callbacks.ts';
import type { RequestBody } from '../util/input-types.ts';
import { ListedJobResource } from './resource.ts';
import type { Uploads } from './uploads.ts';

/** Options of {@link Cohorts.import}. */
export interface ImportOptions extends UploadOptions, Pick<CreateOptions, 'idempotencyKey' | 'onConflict'> {
  /** Called once when the file is in storage, before the claim. */
  readonly onUploaded?: ((upload: Upload) => void) | undefined;
  /** Called once with the cohort as created, before the wait begins. */
  readonly onCreated?: ((cohort: Cohort) => void) | undefined;
  /** Options of the wait; its signal is the import's unless given. */
  readonly wait?: WaitOptions<Cohort> | undefined;
}

/** Cohorts: imported from files, on a scale of their own that ends at 4 Completed or 5 Not Available. */
export class Cohorts extends ListedJobResource<Cohort, CohortCreate, 'cohorts'> {
  readonly #uploads: Uploads;
  readonly #report: (message: string) => void;

  /** @internal */
  constructor(transport: Transport, scheduler: Scheduler, uploads: Uploads, { state }: StorageContext) {
    const check = (body: unknown) => state.slots.claimErrors(body);
    super(transport, { name: 'cohorts', kind: 'cohort', schema: cohortResource, check }, scheduler);
    this.#uploads = uploads;
    this.#report = (message) => transport.settings.logger.error(`\`onUploaded\` threw: ${message}`);
  }

  /**
   * Imports a file: reserves a slot, uploads, claims the upload by a create with `fields`, and waits
   * until the cohort is at 4. Throws what `uploads.upload` and `createAndWait` throw. A claim's error
   * carries `upload`: the file is in storage, and `create` can claim it without another upload.
   *
   * @example
   * const cohort = await client.cohorts.import(file, { name: 'Customers' });
   */
  import(data: UploadData, fields?: RequestBody<CohortCreate>, options?: ImportOptions): Promise<Cohort> {
    return fromCallSite(() => this.#import(data, fields, options), options?.signal, options?.wait?.signal);
  }

  async #import(
    data: UploadData,
    fields: RequestBody<CohortCreate> = {},
    options: ImportOptions = {},
  ): Promise<Cohort> {
    const { idempotencyKey, onConflict, onUploaded, onCreated, wait, ...sending } = options;
    const { signal, maxRetries, maxRetryWait } = sending;
    // A typo is found before the upload.
    checkWaitOptions(wait);
    const upload = await this.#uploads.upload({ ...sending, kind: 'cohort', data });
    safely(() => onUploaded?.(upload), this.#report);
    const body = { ...fields, upload_reference: upload.reference };
    const request = { signal, maxRetries, maxRetryWait, idempotencyKey, onConflict };
    let created: Cohort | undefined;
    try {
      const noted = (cohort: Cohort): void => {
        created = cohort;
        onCreated?.(cohort);
      };
      return await this.createThenWait(body, { ...request, onCreated: noted, wait });
    } catch (error) {
      throw created ? error : unclaimed(error, upload);
    }
  }
}

/** A claim has failed: unless it is the upload that the service refuses, it need not be made again. */
function unclaimed(error: unknown, upload: Upload): unknown {
  if (!AudienceError.isInstance(error)) return error;
  if (ValidationError.isInstance(error) && error.errors.upload_reference) return error;
  const advice = `The file is in storage: until ${upload.claimBefore.toISOString()}, \`cohorts.create\` can claim it as \`upload_reference\` (\`error.upload\`).`;
  return withDetails(error, { upload }, advice);
}
