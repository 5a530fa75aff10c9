import type { FieldErrors, Upload } from '../../errors/error-details.ts';
import { CLAIM_WINDOW, UPLOAD_SIZES } from '../../spec/limits.ts';
import type { UploadRequest, UploadReservation } from '../../spec/upload-reservation.ts';
import type { JsonObject, UploadKind } from '../../spec/wire-values.ts';
import { fromCallSite } from '../../util/call-site.ts';
import { checkStorageHeaders, formatValue, InvalidInputError, promiseProblem } from '../../util/input-checks.ts';
import type { CreateOptions, RequestOptions } from '../http/request-options.ts';
import { localValidationError } from '../http/response-errors.ts';
import type { ApiPromise, Transport } from '../http/transport.ts';
import { decodeOne } from '../schemas/decode.ts';
import { reservationSchema, uploadRequestSchema, uploadReservationResource } from '../schemas/upload-schemas.ts';
import { checkTransferOptions, type TransferMethod } from '../storage/transfer.ts';
import { type UploadOptions, uploadFile } from '../storage/upload.ts';
import { isStream, type UploadData, UploadSource } from '../storage/upload-source.ts';
import { extraBodyErrors, withExtraBody } from './extra-body.ts';
import { warnOfMisspeltFields } from './misspelt-fields.ts';

/** Options of {@link Uploads.reserve}. */
export type ReserveOptions = RequestOptions & Pick<CreateOptions, 'extraBody'>;

/** Options of {@link Uploads.upload}. */
export interface UploadFileOptions extends UploadOptions, Pick<RequestOptions, 'token'> {
  /** `timeout` limits one attempt to reserve the slot, in milliseconds. */
  readonly request?: Pick<RequestOptions, 'timeout'> | undefined;
}

/** The file for {@link Uploads.upload}. */
export interface UploadInput {
  /** Purpose of the file, which also decides its maximum size: 1 GiB for `cohort`, 50 MiB for `poi_submission`. */
  readonly kind: UploadKind;
  /** The file: a `Blob`, a `Uint8Array`, or a stream with `size`. In Node, `openFile(path)` returns a `Blob`. */
  readonly data: UploadData;
  /** Size of the file in bytes. Required for a stream. */
  readonly size?: number | undefined;
  /** Additional fields for the body of the request that reserves the slot. */
  readonly fields?: JsonObject | undefined;
  /** See {@link UploadFileOptions}. @deprecated Pass it in the second argument. */
  readonly signal?: UploadFileOptions['signal'];
  /** See {@link UploadFileOptions}. @deprecated Pass it in the second argument. */
  readonly onProgress?: UploadFileOptions['onProgress'];
  /** See {@link UploadFileOptions}. @deprecated Pass it in the second argument. */
  readonly idleTimeout?: UploadFileOptions['idleTimeout'];
  /** See {@link UploadFileOptions}. @deprecated Pass it in the second argument. */
  readonly maxRetries?: UploadFileOptions['maxRetries'];
  /** See {@link UploadFileOptions}. @deprecated Pass it in the second argument. */
  readonly maxRetryWait?: UploadFileOptions['maxRetryWait'];
  /** See {@link UploadFileOptions}. @deprecated Pass it in the second argument. */
  readonly headers?: UploadFileOptions['headers'];
  /** See {@link UploadFileOptions}. @deprecated Pass it in the second argument. */
  readonly token?: UploadFileOptions['token'];
  /** See {@link UploadFileOptions}. @deprecated Pass it in the second argument. */
  readonly request?: UploadFileOptions['request'];
}

const decodeReservation = decodeOne(uploadReservationResource);

/** An upload slot that this client has reserved. */
interface Slot {
  /** Reserved size in bytes. */
  readonly size: number;
  /** Time on the monotonic clock after which the slot has certainly expired. */
  readonly expiresAt: number;
  /** Time until which the service certainly accepts the claim. */
  readonly claimBefore: Date;
}

/** Error message for a slot that has expired. */
const EXPIRED_SLOT = `The slot was reserved more than ${CLAIM_WINDOW / 60_000} minutes ago. Reserve another slot, and upload the file again.`;

/** Maximum number of slots to remember. The client drops the oldest slots first. */
const MAX_SLOTS = 10_000;

/**
 * The slots that a client has reserved. With these, an upload or a claim that is certainly too late fails without a
 * request.
 */
export class Reservations {
  readonly #slots = new Map<string, Slot>();

  /** Adds a slot. `requestedAt` is the time of the request in milliseconds since 1970. */
  add(reference: string, size: number, requestedAt: number): void {
    const expiresAt = performance.now() + CLAIM_WINDOW;
    this.#slots.set(reference, { size, expiresAt, claimBefore: new Date(requestedAt + CLAIM_WINDOW) });
    const [oldest] = this.#slots.keys();
    if (this.#slots.size > MAX_SLOTS && oldest !== undefined) this.#slots.delete(oldest);
  }

  /** Returns a slot, or `undefined` if another client has reserved it or this client has dropped it. */
  get(reference: string): Slot | undefined {
    return this.#slots.get(reference);
  }

  /** Returns an error if the slot of the `upload_reference` in a create request has expired. */
  claimErrors(body: unknown): FieldErrors {
    const { upload_reference: reference } = Object(body);
    const slot = typeof reference === 'string' ? this.#slots.get(reference) : undefined;
    return slot && slot.expiresAt <= performance.now() ? { upload_reference: [EXPIRED_SLOT] } : {};
  }
}

/** Uploads: reserve a slot, send the file to storage, and claim the file with its reference in a create request. */
export class Uploads {
  readonly #transport: Transport;
  readonly #reservations: Reservations;

  /** @internal */
  constructor(transport: Transport, reservations: Reservations) {
    this.#transport = transport;
    this.#reservations = reservations;
  }

  /**
   * Reserves an upload slot. Within 15 minutes, send the file to its URL and claim its reference.
   *
   * @throws {ValidationError} if the file is empty or larger than the service accepts. The client sends nothing, and
   * `local` is true.
   */
  reserve(input: UploadRequest, options: ReserveOptions = {}): ApiPromise<UploadReservation> {
    const requestedAt = Date.now();
    const { extraBody } = options;
    return this.#transport.call('uploads.reserve', {
      body: extraBody === undefined ? input : withExtraBody(input, extraBody),
      options,
      validate: () => {
        warnOfMisspeltFields('uploads.reserve', input, uploadRequestSchema, this.#transport);
        return { ...sizeErrors(input), ...(extraBody !== undefined && extraBodyErrors(input, extraBody)) };
      },
      decode: async (data, context) => {
        const reservation = await decodeReservation(data, context);
        this.#reservations.add(reservation.reference, input.size, requestedAt);
        return reservation;
      },
    });
  }

  /**
   * Sends a file to a reserved slot. Retries up to `maxRetries` times until the slot expires. The client usually
   * cannot send a stream again after it has read a part of the stream.
   *
   * @throws {AudienceError} whose `slot` says whether sending again makes sense: `PermissionError` (403) for an expired
   * slot, another `ApiError`, `ResponseError`, `ConnectionError`, `TimeoutError`, or `FileError` for unreadable data.
   */
  send(reservation: UploadReservation, data: UploadData, options: UploadOptions = {}): Promise<Upload> {
    return fromCallSite(async () => {
      if (!isReservation(reservation)) {
        throw inputError('uploads.send', {
          reservation: [promiseProblem(reservation) ?? 'must be the result of `uploads.reserve`.'],
        });
      }
      const reserved = isStream(data) ? this.#reservations.get(reservation.reference)?.size : undefined;
      const sized = { ...options, size: options.size ?? reserved };
      return this.#send('uploads.send', data, sized, async () => reservation);
    }, options.signal);
  }

  /**
   * Reserves a slot and sends a file to it. Throws the errors of `reserve` and `send`.
   *
   * @example
   * const { reference } = await client.uploads.upload(
   *   { kind: 'cohort', data: file }, // a `Blob`, such as the `File` of an input
   *   { onProgress: ({ loaded, total }) => console.log(`${loaded} of ${total} bytes`) },
   * );
   */
  upload(input: UploadInput, options: UploadFileOptions = {}): Promise<Upload> {
    return fromCallSite(async () => {
      checkTransferOptions('uploads.upload', options);
      const { kind, data, fields, ...earlier } = input;
      const { request, ...all } = { ...earlier, ...options };
      const { signal, maxRetries, maxRetryWait, token } = all;
      const reserveOptions = { signal, maxRetries, maxRetryWait, token, extraBody: fields, ...request };
      return this.#send('uploads.upload', data, all, (size) => this.reserve({ kind, size }, reserveOptions));
    }, options.signal ?? input.signal);
  }

  async #send(
    name: TransferMethod,
    data: UploadData,
    options: UploadOptions,
    reserve: (size: number) => PromiseLike<UploadReservation>,
  ): Promise<Upload> {
    const source = openSource(name, data, options, this.#transport);
    try {
      const { reference, url, expires_at } = await reserve(source.size);
      const slot = this.#reservations.get(reference);
      const { expiresAt = Number.POSITIVE_INFINITY } = slot ?? {};
      if (expiresAt <= performance.now()) throw inputError(name, { reservation: [EXPIRED_SLOT] });
      if (slot && slot.size !== source.size) {
        const message = `The file has ${source.size} bytes, but the slot was reserved for ${slot.size} bytes. Reserve a slot for this file.`;
        throw inputError(name, { size: [message] });
      }
      await uploadFile({ transport: this.#transport, url, source, options, expiresAt });
      return { reference, claimBefore: slot?.claimBefore ?? new Date(expires_at) };
    } catch (error) {
      source.close(error);
      throw error;
    }
  }
}

function openSource(
  name: TransferMethod,
  data: UploadData,
  options: UploadOptions,
  { settings }: Transport,
): UploadSource {
  checkTransferOptions(name, options);
  try {
    if (options.headers) checkStorageHeaders(options.headers);
    return new UploadSource(data, options.size, settings.redactor);
  } catch (error) {
    throw error instanceof InvalidInputError ? inputError(name, error.errors) : error;
  }
}

/** Returns whether a value is a reservation with a usable URL. */
function isReservation(value: unknown): boolean {
  reservationSchema.built ??= reservationSchema.build();
  const { success, data } = reservationSchema.built.safeParse(value);
  return success && !new URL(data.url).username;
}

/** Returns the errors of the size of a file (specification, "Other limits"). */
function sizeErrors(input: unknown): FieldErrors {
  const { kind, size }: { readonly kind?: unknown; readonly size?: unknown } = Object(input);
  if (typeof size !== 'number' || !Number.isInteger(size) || size < 1) {
    return { size: [`must be the size of the file in bytes, an integer of at least 1, but is ${formatValue(size)}.`] };
  }
  const max = kind === 'cohort' || kind === 'poi_submission' ? UPLOAD_SIZES[kind] : Number.POSITIVE_INFINITY;
  if (size <= max) return {};
  return {
    size: [
      `${size} bytes exceed the maximum of ${max} bytes for a ${kind} upload. Split the file into several uploads.`,
    ],
  };
}

/** Returns the error for input that the client refuses without sending a request. */
export function inputError(name: string, errors: FieldErrors): Error {
  return localValidationError({ name, method: 'PUT', path: '' }, errors);
}
