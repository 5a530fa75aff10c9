import type { FieldErrors } from '../errors/api.ts';
import type { Upload } from '../errors/base.ts';
import type { UploadKind } from '../schemas/common.ts';
import { decodeOne, type Shape } from '../schemas/decode.ts';
import { reservationSchema, type UploadRequest, type UploadReservation } from '../schemas/upload.ts';
import type { ApiPromise } from '../transport/api-promise.ts';
import { fieldText, localValidationError } from '../transport/failures.ts';
import { checkStorageHeaders, InvalidInputError } from '../transport/input.ts';
import type { RequestOptions } from '../transport/settings.ts';
import { TOO_LATE } from '../transport/slots.ts';
import { checkTransferOptions, type StorageContext } from '../transport/transfer.ts';
import type { Transport } from '../transport/transport.ts';
import { runUpload, type UploadOptions } from '../transport/upload.ts';
import { isStream, sourceOf, type UploadData, type UploadSource } from '../transport/upload-source.ts';
import { uploadErrors } from './checks.ts';

/** What {@link Uploads.upload} takes: the file and how to send it. */
export interface UploadInput extends UploadOptions {
  readonly kind: UploadKind;
  readonly data: UploadData;
  /** More fields of the reservation's body. */
  readonly fields?: Readonly<Record<string, unknown>> | undefined;
}

const shape: Shape<UploadReservation> = { schema: reservationSchema, essential: ['reference', 'url'] };
const decodeReservation = decodeOne(shape);

/** Files on their way in: a slot is reserved, the file is sent to storage, its reference is claimed by a create. */
export class Uploads {
  readonly #transport: Transport;
  readonly #storage: StorageContext;

  constructor(transport: Transport, storage: StorageContext) {
    this.#transport = transport;
    this.#storage = storage;
  }

  /**
   * Reserves a slot. Its URL takes a file, and its reference can be claimed, for 15 minutes.
   *
   * @throws {ValidationError} `local` for a file larger than the service takes.
   */
  reserve(input: UploadRequest, options: RequestOptions = {}): ApiPromise<UploadReservation> {
    const { slots } = this.#storage.core;
    const asked = Date.now();
    return this.#transport.call('uploads.reserve', {
      body: input,
      options,
      invalid: () => uploadErrors(input),
      decode: async (data, context) => {
        const reservation = await decodeReservation(data, context);
        slots.note(reservation.reference, input.size, asked);
        return reservation;
      },
    });
  }

  /**
   * Sends a file to a reserved slot; repeated while the slot lasts, if the data can be read again.
   *
   * @throws {AudienceError} with `slot`, which tells whether sending again makes sense: `PermissionError` (403) for an
   * expired slot, other `ApiError`s, `ConnectionError`, `TimeoutError`, `FileError` for data that could not be read.
   */
  async send(reservation: UploadReservation, data: UploadData, options: UploadOptions = {}): Promise<Upload> {
    checkReservation(reservation);
    const size =
      options.size ?? (isStream(data) ? this.#storage.core.slots.get(reservation.reference)?.size : undefined);
    const source = sourceOrRefusal('uploads.send', data, size, options);
    try {
      return await this.#send(reservation, source, options);
    } finally {
      await source.close();
    }
  }

  /** Reserves a slot and sends a file to it. Throws what `reserve` and `send` throw. */
  async upload(input: UploadInput): Promise<Upload> {
    const { kind, data, fields, ...options } = input;
    const source = sourceOrRefusal('uploads.upload', data, options.size, options);
    const { signal, maxRetries, maxRetryWait } = options;
    const request = { signal, maxRetries, maxRetryWait };
    try {
      const reservation = await this.reserve({ ...fields, kind, size: source.size }, request);
      return await this.#send(reservation, source, options);
    } finally {
      await source.close();
    }
  }

  async #send(reservation: UploadReservation, source: UploadSource, options: UploadOptions): Promise<Upload> {
    const { slots } = this.#storage.core;
    const { reference, url, expires_at } = reservation;
    const slot = slots.get(reference);
    const slotLeft = (): number => slots.left(reference);
    if (slotLeft() <= 0) throw refusal('uploads.send', { reservation: [TOO_LATE] });
    if (slot && slot.size !== source.size) {
      const text = `is ${source.size} bytes, but the slot was reserved for ${slot.size}: reserve one for this file.`;
      throw refusal('uploads.send', { size: [text] });
    }
    await runUpload({ context: this.#storage, url, source, options, slotLeft });
    return { reference, claimBefore: slot?.claimBefore ?? new Date(expires_at) };
  }
}

/** Reservations may come from elsewhere: from JSON, or from JavaScript. */
function checkReservation(reservation: unknown): void {
  const read = reservationSchema.safeParse(reservation);
  if (read.success && !new URL(read.data.url).username) return;
  throw refusal('uploads.send', { reservation: ['must be what `uploads.reserve` has answered.'] });
}

function sourceOrRefusal(
  name: string,
  data: UploadData,
  size: number | undefined,
  options: UploadOptions,
): UploadSource {
  checkTransferOptions(options);
  try {
    checkStorageHeaders(options.headers ?? {});
    return sourceOf(data, size);
  } catch (error) {
    throw error instanceof InvalidInputError ? refusal(name, error.errors) : error;
  }
}

function refusal(name: string, errors: FieldErrors): Error {
  return localValidationError({ name, method: 'PUT', path: '' }, errors, fieldText(errors));
}
