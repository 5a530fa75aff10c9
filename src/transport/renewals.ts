/** After a fresh token was refused as well, no other is asked for so long; twice as long each time. Milliseconds. */
const HOLD = { first: 60_000, longest: 3_600_000 } as const;

interface Futile {
  readonly token: string | undefined;
  readonly operation: string;
  readonly until: number;
  /** Whether the service has taken it elsewhere. */
  taken: boolean;
}

/** Which renewals have not helped: an account holds ten tokens, and one more after each 401 would use them up. */
export class Renewals {
  #futile: Futile | undefined;
  #hold: number = HOLD.first;

  /** Whether another token may help where this one was refused. */
  mayHelp(token: string | undefined, operation: string): boolean {
    const futile = this.#futile;
    if (!futile || futile.token !== token || performance.now() >= futile.until) return true;
    return futile.taken && futile.operation !== operation;
  }

  /** A token that was renewed for this very call was refused, too. */
  failed(token: string | undefined, operation: string): void {
    // Calls that were repeated together fail together.
    if (!this.mayHelp(token, operation)) return;
    this.#futile = { token, operation, until: performance.now() + this.#hold, taken: false };
    this.#hold = Math.min(2 * this.#hold, HOLD.longest);
  }

  /** The service has taken a token: one that it was given before, or one that was renewed for this very call. */
  taken(token: string | undefined, renewed: boolean): void {
    if (renewed) {
      this.#futile = undefined;
      this.#hold = HOLD.first;
    } else if (this.#futile && this.#futile.token === token) {
      this.#futile.taken = true;
    }
  }
}
