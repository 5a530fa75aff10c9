import type { FieldErrors } from '../errors/error-details.ts';
import { CLAIM_WINDOW } from '../spec/limits.ts';
import { isObject } from '../util/json.ts';

/** What is remembered of a reservation. */
interface Slot {
  /** When its answer was read, on the monotonic clock: the service's window cannot end later than this plus its length. */
  readonly reservedAt: number;
  /** Before this moment the service surely takes the claim. */
  readonly claimBefore: Date;
  /** Bytes it was reserved for. */
  readonly size: number;
}

/** What is wrong with a slot whose window is over. */
export const TOO_LATE = `was reserved more than ${CLAIM_WINDOW / 60_000} minutes ago: reserve and upload again, then claim.`;

/** How many reservations are remembered; the oldest is forgotten first. */
const REMEMBERED = 10_000;

/** Reservations made by a client, so that what is certainly too late is refused without a request. */
export class Slots {
  readonly #slots = new Map<string, Slot>();

  /** Remembers a reservation that was asked for at the wall-clock time `asked`. */
  note(reference: string, size: number, asked: number): void {
    const claimBefore = new Date(asked + CLAIM_WINDOW);
    this.#slots.set(reference, { reservedAt: performance.now(), claimBefore, size });
    const [oldest] = this.#slots.keys();
    if (this.#slots.size > REMEMBERED && oldest !== undefined) this.#slots.delete(oldest);
  }

  get(reference: string): Slot | undefined {
    return this.#slots.get(reference);
  }

  /** Milliseconds until a slot is certainly closed; `Infinity` for one reserved elsewhere. */
  left(reference: string): number {
    const slot = this.#slots.get(reference);
    return slot ? slot.reservedAt + CLAIM_WINDOW - performance.now() : Number.POSITIVE_INFINITY;
  }

  /** What is certainly wrong with the `upload_reference` of a create. */
  claimErrors(body: unknown): FieldErrors {
    const reference = isObject(body) ? body.upload_reference : undefined;
    if (typeof reference !== 'string' || this.left(reference) > 0) return {};
    return { upload_reference: [TOO_LATE] };
  }
}
