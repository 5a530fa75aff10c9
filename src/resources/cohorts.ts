import { ValidationError } from '../errors/api-errors.ts';
import { AudienceError, withDetails } from '../errors/audience-error.ts';
import type { Upload } from '../errors/error-details.ts';
import { JobError } from '../errors/job-errors.ts';
import type { CreateOptions, Transport } from '../http/index.ts';
import type { Scheduler } from '../polling/index.ts';
import { checkWaitOptions, type WaitOptions } from '../polling/index.ts';
import { type Cohort, type CohortCreate, cohortCreateSchema, cohortResource } from '../schemas/cohort.ts';
import type { UploadData, UploadOptions } from '../storage/index.ts';
import { fromCallSite } from '../util/call-site.ts';
import { safely } from '../util/callbacks.ts';
import type { RequestBody } from '../util/input-types.ts';
import type { Spelled } from '../util/spelling.ts';
import { ListedJobNamespace } from './resource.ts';
import type { Reservations, Uploads } from './uploads.ts';

/** Options of {@link Cohorts.import}. */
export interface ImportOptions extends UploadOptions, Pick<CreateOptions, 'idempotencyKey' | 'onConflict' | 'token'> {
  /** Called once, when storage has the file and before the claim. */
  readonly onUploaded?: ((upload: Upload) => void) | undefined;
  /** Called once with the created cohort, before the wait begins. */
  readonly onCreated?: ((cohort: Cohort) => void) | undefined;
  /** Options of the wait. Without its own signal, the wait ends when the import's signal aborts. */
  readonly wait?: WaitOptions<Cohort> | undefined;
}

/** Cohorts: imported from files by a job that ends at 4 (Completed) or 5 (Not Available). */
export class Cohorts extends ListedJobNamespace<Cohort, CohortCreate, 'cohorts'> {
  readonly #uploads: Uploads;
  readonly #report: (message: string) => void;

  /** @internal */
  constructor(transport: Transport, scheduler: Scheduler, uploads: Uploads, reservations: Reservations) {
    const check = (body: unknown) => reservations.claimErrors(body);
    const plan = {
      name: 'cohorts',
      kind: 'cohort',
      schema: cohortResource,
      body: cohortCreateSchema,
      check,
    } as const;
    super(transport, plan, scheduler);
    this.#uploads = uploads;
    this.#report = (message) => transport.settings.logger.error(`\`onUploaded\` threw: ${message}`);
  }

  /**
   * Imports a file: reserves a slot, uploads the file, claims it by creating a cohort with `fields`, and waits until
   * the cohort is at 4. Throws the errors of `uploads.upload` and `createAndWait`. The error of a failed claim has
   * `upload`: the file is in storage, and `create` can claim it without another upload.
   *
   * @example
   * const file = await openFile('customers.csv'); // of `audience-activation/node`; in browsers, the `File` of an input
   * const cohort = await client.cohorts.import(file, { name: 'Customers' }, {
   *   onProgress: ({ loaded, total }) => console.log(`${loaded} of ${total} bytes`),
   * });
   */
  import<Fields extends RequestBody<CohortCreate> & Spelled<Fields, RequestBody<CohortCreate>>>(
    data: UploadData,
    fields?: Fields,
    options?: ImportOptions,
  ): Promise<Cohort> {
    return fromCallSite(
      async () => {
        const { idempotencyKey, onConflict, onUploaded, onCreated, wait, ...uploadOptions } = options ?? {};
        const { signal, maxRetries, maxRetryWait, token } = uploadOptions;
        checkWaitOptions(wait);
        const upload = await this.#uploads.upload({ ...uploadOptions, kind: 'cohort', data });
        if (onUploaded) safely(() => onUploaded(upload), this.#report);
        const body = { ...fields, upload_reference: upload.reference };
        const request = { signal, maxRetries, maxRetryWait, token, idempotencyKey, onConflict, onCreated, wait };
        try {
          return await this.createThenWait(body, request);
        } catch (error) {
          throw withUpload(error, upload);
        }
      },
      options?.signal,
      options?.wait?.signal,
    );
  }
}

/** Adds the upload to the error of a failed claim, so that it can be claimed again, unless the service refused it. */
function withUpload(error: unknown, upload: Upload): unknown {
  if (!AudienceError.isInstance(error) || error.created || JobError.isInstance(error)) return error;
  if (ValidationError.isInstance(error) && error.errors.upload_reference) return error;
  const advice = `The file is in storage: \`cohorts.create\` can claim it with \`error.upload.reference\` until ${upload.claimBefore.toISOString()}.`;
  return withDetails(error, { upload }, advice);
}
