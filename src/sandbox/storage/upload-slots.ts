import { FilePart, type JsonObject } from '../http/request-body.ts';
import type { FieldErrors } from '../http/responses.ts';
import type { Service } from '../service.ts';
import { MAX_UPLOAD_BYTES, UNCLAIMED_CLEANUP_MS } from '../service-limits.ts';
import type { AccountRecord, FileStats, UploadSlot } from '../state.ts';

/** Reserves an upload slot. The service deletes it after a day, or after the claim window if that is longer. */
export function reserveSlot(
  { state, clock, random, limits }: Service,
  account: AccountRecord,
  kind: string,
  size: number | undefined,
): UploadSlot {
  const reference = `upl_${random.string(24)}`;
  const slot: UploadSlot = {
    reference,
    accountId: account.id,
    kind,
    size,
    signature: random.string(40),
    expiresAt: clock.now() + limits.claimWindow,
    file: undefined,
    claimed: false,
  };
  state.uploads.set(reference, slot);
  const cleanup = clock.now() + Math.max(UNCLAIMED_CLEANUP_MS, limits.claimWindow);
  clock.schedule(cleanup, { type: 'upload-cleanup', reference });
  return slot;
}

export function presignedUrl(storageUrl: string, { reference, expiresAt, signature }: UploadSlot): string {
  return `${storageUrl}/uploads/${reference}?expires=${Math.floor(expiresAt / 1000)}&signature=${signature}`;
}

/** A file that a create request can use. */
interface UsableFile extends FileStats {
  /** Marks the file's slot as claimed. Call this when the service accepts the create request. */
  readonly claim: () => void;
}

/**
 * Returns the file of a create request: the upload of `upload_reference`, or the `file` part of a form. If the file
 * cannot be used, adds the reason to `errors`.
 */
export function readFile(
  service: Service,
  account: AccountRecord,
  body: JsonObject,
  kind: string,
  errors: FieldErrors,
): UsableFile | undefined {
  const { upload_reference, file } = body;
  if (file !== undefined && upload_reference === undefined) {
    const max = MAX_UPLOAD_BYTES[kind] ?? 0;
    if (!(file instanceof FilePart)) errors.file = ['The file field must contain a file.'];
    else if (file.stats.size > max) errors.file = [`The file must have at most ${max} bytes, not ${file.stats.size}.`];
    else return { ...file.stats, claim() {} };
    return undefined;
  }
  const slot = findClaimable(service, account, upload_reference, kind);
  if (typeof slot === 'string') errors.upload_reference = [slot];
  if (typeof slot === 'string' || !slot.file) return undefined;
  return { ...slot.file, claim: () => void Object.assign(slot, { claimed: true }) };
}

/** Returns the slot of a reference, or the reason why it cannot be claimed. */
function findClaimable(
  { state, clock }: Service,
  account: AccountRecord,
  reference: unknown,
  kind: string,
): UploadSlot | string {
  const slot = typeof reference === 'string' ? state.uploads.get(reference) : undefined;
  if (slot?.accountId !== account.id) return `The account has no upload ${JSON.stringify(reference) ?? 'reference'}.`;
  if (slot.kind !== kind) return `The upload was reserved for ${slot.kind}, not for ${kind}.`;
  if (slot.claimed) return 'The upload has already been claimed.';
  if (slot.expiresAt <= clock.now())
    return 'The upload reference has expired. Reserve another slot and upload the file again.';
  return slot.file ? slot : 'No file has been uploaded to this reference.';
}
