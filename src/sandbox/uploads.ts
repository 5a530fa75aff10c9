import { UNCLAIMED_CLEANUP } from './limits.ts';
import type { Service } from './service.ts';
import type { AccountRecord, UploadSlot } from './state.ts';

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
  clock.at(clock.now() + UNCLAIMED_CLEANUP, () => state.uploads.delete(reference));
  return slot;
}

/** The presigned URL of a slot. */
export function slotUrl({ state }: Service, { reference, expiresAt, signature }: UploadSlot): string {
  return `${state.storageUrl}/uploads/${reference}?expires=${Math.floor(expiresAt / 1000)}&signature=${signature}`;
}

/** The slot of a reference as a create may claim it, or what is wrong with it. */
export function findClaim(
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
