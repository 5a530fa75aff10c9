import type { FieldErrors } from '../errors/error-details.ts';
import { CLAIM_WINDOW } from '../spec/limits.ts';
import { isObject } from '../util/json.ts';

/** An upload slot that this client has reserved. */
interface Slot {
  /** Bytes. */
  readonly size: number;
  /** Time on the monotonic clock at which the slot has certainly expired. */
  readonly expiresAt: number;
  /** The service certainly accepts a claim before this moment. */
  readonly claimBefore: Date;
}

/** Error message for a slot that has expired. */
export const EXPIRED_SLOT = `was reserved more than ${CLAIM_WINDOW / 60_000} minutes ago: reserve and upload again, then claim.`;

/** Maximum number of slots kept; the oldest is dropped first. */
const MAX_SLOTS = 10_000;

/** The upload slots that a client has reserved: uploads and claims that are certainly too late fail without a request. */
export class Reservations {
  readonly #slots = new Map<string, Slot>();

  /** Adds a slot that was requested at the wall-clock time `requestedAt`. */
  add(reference: string, size: number, requestedAt: number): void {
    const expiresAt = performance.now() + CLAIM_WINDOW;
    this.#slots.set(reference, { size, expiresAt, claimBefore: new Date(requestedAt + CLAIM_WINDOW) });
    const [oldest] = this.#slots.keys();
    if (this.#slots.size > MAX_SLOTS && oldest !== undefined) this.#slots.delete(oldest);
  }

  /** Returns `undefined` for a slot that another client has reserved. */
  get(reference: string): Slot | undefined {
    return this.#slots.get(reference);
  }

  /** Returns an error for a create whose `upload_reference` names an expired slot. */
  claimErrors(body: unknown): FieldErrors {
    const reference = isObject(body) ? body.upload_reference : undefined;
    const slot = typeof reference === 'string' ? this.#slots.get(reference) : undefined;
    return slot && slot.expiresAt <= performance.now() ? { upload_reference: [EXPIRED_SLOT] } : {};
  }
}
