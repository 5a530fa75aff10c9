import { AudienceError } from '../errors/audience-error.ts';
import { ASLEEP_AT_MOST } from './wait-options.ts';

/** The longest outage of a token source that waits ride out: a session that has ended does not come back. Time awake. */
const MAX_TOKEN_OUTAGE_MS = 600_000;

/** Failures of a token source in a row. */
export class TokenOutage {
  #failedAt: number | undefined;
  #lasted = 0;

  /** Counts a failed poll; returns whether the outage has lasted too long. */
  isTooLong(error: unknown): boolean {
    if (!AudienceError.isInstance(error) || error.code !== 'token-unavailable') return false;
    const now = performance.now();
    this.#lasted += Math.min(now - (this.#failedAt ?? now), ASLEEP_AT_MOST);
    this.#failedAt = now;
    return this.#lasted >= MAX_TOKEN_OUTAGE_MS;
  }

  /** A poll has been answered. */
  end(): void {
    this.#failedAt = undefined;
    this.#lasted = 0;
  }
}
