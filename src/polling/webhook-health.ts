/** Completions in a row without an event that mean that webhooks have stopped. */
const MAX_MISSED_COMPLETIONS = 2;
/** How long webhooks are relied on after the last one. */
const HEALTHY_FOR_MS = 3_600_000;

/** Evidence that webhooks report the ends of jobs. */
export class WebhookHealth {
  #receivedAt = Number.NEGATIVE_INFINITY;
  #missed = 0;

  /** While webhooks are healthy, polling is only a fallback. */
  get healthy(): boolean {
    return this.#missed < MAX_MISSED_COMPLETIONS && performance.now() - this.#receivedAt < HEALTHY_FOR_MS;
  }

  /** An event has ended a job. */
  received(): void {
    this.#receivedAt = performance.now();
    this.#missed = 0;
  }

  /** A poll has found an end that no event reported. */
  missedCompletion(): void {
    this.#missed++;
  }
}
