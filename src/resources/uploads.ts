import type { Upload } from '../errors/error-details.ts';
import type { RequestOptions } from '../http/request-options.ts';
import type { ApiPromise, Transport } from '../http/transport.ts';
import type { UploadKind } from '../schemas/common.ts';
import { decodeOne } from '../schemas/decode.ts';
import type { UploadRequest, UploadReservation } from '../schemas/upload-reservation.ts';
import { reservationResource } from '../schemas/upload-reservation.ts';
import type { StorageContext } from '../storage/transfer.ts';
import type { UploadOptions } from '../storage/upload.ts';
import type { UploadData } from '../storage/upload-source.ts';
import { fromCallSite } from '../util/call-site.ts';
import type { RequestBody } from '../util/input-types.ts';
import type { JsonObject } from '../util/json.ts';
import { part } from '../util/part.ts';
import { uploadErrors } from './checks.ts';

/** What {@link Uploads.upload} takes: the file and how to send it. */
export interface UploadInput extends UploadOptions {
  readonly kind: UploadKind;
  readonly data: UploadData;
  /** More fields of the reservation's body. */
  readonly fields?: RequestBody<JsonObject> | undefined;
}

/** What moves files is loaded with the first of them. */
export const files = part('files', () => import('./files.ts'));

/** What a reservation has to be. */
const decodeReservation = decodeOne(reservationResource);

/** Files on their way in: a slot is reserved, the file is sent to storage, its reference is claimed by a create. */
export class Uploads {
  readonly #transport: Transport;
  readonly #storage: StorageContext;

  /** @internal */
  constructor(transport: Transport, storage: StorageContext) {
    this.#transport = transport;
    this.#storage = storage;
  }

  /**
   * Reserves a slot. Its URL takes a file, and its reference can be claimed, for 15 minutes.
   *
   * @throws {ValidationError} `local` for a file larger than the service takes.
   */
  reserve(input: RequestBody<UploadRequest>, options: RequestOptions = {}): ApiPromise<UploadReservation> {
    const { slots } = this.#storage.state;
    const asked = Date.now();
    return this.#transport.call('uploads.reserve', {
      body: input,
      options,
      validate: () => uploadErrors(input),
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
  send(reservation: RequestBody<UploadReservation>, data: UploadData, options: UploadOptions = {}): Promise<Upload> {
    return fromCallSite(async () => {
      const { sendFile } = await this.#storage.state.load(files, options.signal);
      return sendFile(this.#storage, reservation, data, options);
    }, options.signal);
  }

  /** Reserves a slot and sends a file to it. Throws what `reserve` and `send` throw. */
  upload(input: UploadInput): Promise<Upload> {
    return fromCallSite(async () => {
      const { reserveAndSend } = await this.#storage.state.load(files, input.signal);
      return reserveAndSend(this.#storage, input, (request, options) => this.reserve(request, options));
    }, input.signal);
  }
}
