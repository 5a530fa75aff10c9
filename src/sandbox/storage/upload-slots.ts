import type { Body, Errors } from '../routes/body-fields.ts';
import type { Service } from '../service.ts';
import { UNCLAIMED_CLEANUP, UPLOAD_SIZES } from '../service-limits.ts';
import type { AccountRecord, UploadSlot } from '../state.ts';
import type { FileMeasure } from './file-measure.ts';

/** Reserves a slot; unclaimed, it is cleaned up after a day. */
export function reserveSlot(
  { state, clock, random, limits }: Service,
  account: AccountRecord,
  kind: string,
  size: number | undefined,
): UploadSlot {
  const reference = `upl_${random.text(24)}`;
  const slot: UploadSlot = {
    reference,
    accountId: account.id,
    kind,
    size,
    signature: random.text(40),
    expiresAt: clock.now() + limits.claimWindow,
    file: undefined,
    claimed: false,
  };
  state.uploads.set(reference, slot);
  clock.at(clock.now() + Math.max(UNCLAIMED_CLEANUP, limits.claimWindow), () => state.uploads.delete(reference));
  return slot;
}

/** The presigned URL of a slot in a storage. */
export function slotUrl(storage: string, { reference, expiresAt, signature }: UploadSlot): string {
  return `${storage}/uploads/${reference}?expires=${Math.floor(expiresAt / 1000)}&signature=${signature}`;
}

/** A file that came as a part of a `multipart/form-data` body. */
export class FilePart {
  readonly measure: FileMeasure;

  constructor(measure: FileMeasure) {
    this.measure = measure;
  }
}

/** A file that a create makes use of. */
interface UsableFile extends FileMeasure {
  /** Marks its upload as claimed; called when the create is accepted. */
  readonly claim: () => void;
}

/**
 * The file of a create's body: the upload behind `upload_reference`, or the part `file`. Puts what is wrong with
 * it into `errors`.
 */
export function readFile(
  service: Service,
  account: AccountRecord,
  body: Body,
  kind: string,
  errors: Errors,
): UsableFile | undefined {
  const { upload_reference, file } = body;
  if (file !== undefined && upload_reference === undefined) {
    if (!(file instanceof FilePart)) errors.file = ['The file must be a file.'];
    else if (file.measure.size > (UPLOAD_SIZES[kind] ?? 0)) errors.file = ['The file is too large.'];
    else return { ...file.measure, claim() {} };
    return undefined;
  }
  const slot = findClaim(service, account, upload_reference, kind);
  if (typeof slot === 'string') errors.upload_reference = [slot];
  if (typeof slot === 'string' || !slot.file) return undefined;
  return { ...slot.file, claim: () => void Object.assign(slot, { claimed: true }) };
}

/** The slot of a reference as a create may claim it, or what is wrong with it. */
function findClaim(
  { state, clock }: Service,
  account: AccountRecord,
  reference: unknown,
  kind: string,
): UploadSlot | string {
  const slot = typeof reference === 'string' ? state.uploads.get(reference) : undefined;
  if (slot?.accountId !== account.id) return 'The selected upload reference is invalid.';
  if (slot.kind !== kind) return `The upload was reserved for ${slot.kind}, not for ${kind}.`;
  if (slot.claimed) return 'The upload has been claimed already.';
  if (slot.expiresAt <= clock.now()) return 'The upload reference has expired. Reserve and upload again.';
  return slot.file ? slot : 'No file has been uploaded to this reference.';
}
