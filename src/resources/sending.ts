import type { FieldErrors, Upload } from '../errors/error-details.ts';
import type { RequestOptions } from '../http/request-options.ts';
import { fieldText, localValidationError } from '../http/response-errors.ts';
import { checking, issuesOf } from '../schemas/decode.ts';
import type { UploadRequest, UploadReservation } from '../schemas/upload-reservation.ts';
import { TOO_LATE } from '../storage/reservations.ts';
import { checkTransferOptions, type StorageContext } from '../storage/transfer.ts';
import { runUpload, type UploadOptions } from '../storage/upload.ts';
import { isStream, sourceOf, type UploadData, type UploadSource } from '../storage/upload-source.ts';
import { checkStorageHeaders, InvalidInputError } from '../util/input-checks.ts';
import { isObject } from '../util/json.ts';
import { reservationShape, type UploadInput } from './uploads.ts';

type Reserve = (request: UploadRequest, options: RequestOptions) => PromiseLike<UploadReservation>;

/** Sends a file to a slot that has been reserved. */
export async function sendFile(
  context: StorageContext,
  reservation: UploadReservation,
  data: UploadData,
  options: UploadOptions,
): Promise<Upload> {
  await checkReservation(reservation);
  const size = options.size ?? (isStream(data) ? context.state.slots.get(reservation.reference)?.size : undefined);
  const source = sourceOrRefusal('uploads.send', data, size, options);
  try {
    return await send(context, reservation, source, options);
  } finally {
    await source.close();
  }
}

/** Reserves a slot and sends a file to it. */
export async function reserveAndSend(context: StorageContext, input: UploadInput, reserve: Reserve): Promise<Upload> {
  const { kind, data, fields, ...options } = input;
  const source = sourceOrRefusal('uploads.upload', data, options.size, options);
  const { signal, maxRetries, maxRetryWait } = options;
  try {
    const reservation = await reserve({ ...fields, kind, size: source.size }, { signal, maxRetries, maxRetryWait });
    return await send(context, reservation, source, options);
  } finally {
    await source.close();
  }
}

async function send(
  context: StorageContext,
  { reference, url, expires_at }: UploadReservation,
  source: UploadSource,
  options: UploadOptions,
): Promise<Upload> {
  const { slots } = context.state;
  const slot = slots.get(reference);
  const slotLeft = (): number => slots.left(reference);
  if (slotLeft() <= 0) throw refusal('uploads.send', { reservation: [TOO_LATE] });
  if (slot && slot.size !== source.size) {
    const text = `is ${source.size} bytes, but the slot was reserved for ${slot.size}: reserve one for this file.`;
    throw refusal('uploads.send', { size: [text] });
  }
  await runUpload({ context, url, source, options, slotLeft });
  return { reference, claimBefore: slot?.claimBefore ?? new Date(expires_at) };
}

/** Reservations may come from elsewhere: from JSON, or from JavaScript. */
async function checkReservation(reservation: unknown): Promise<void> {
  await checking.load();
  const { url } = isObject(reservation) ? reservation : {};
  if (issuesOf(reservation, reservationShape).length === 0 && !new URL(String(url)).username) return;
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
