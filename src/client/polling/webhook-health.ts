/** Number of consecutive job ends, found by polls before a webhook, after which webhooks count as stopped. */
const MAX_MISSED_COMPLETIONS = 2;
/** Milliseconds for which webhooks count as healthy after a webhook has reported the end of a job. */
const HEALTHY_FOR_MS = 3_600_000;

/** Tracks whether webhooks report the ends of jobs. */
export class WebhookHealth {
  #receivedAt = Number.NEGATIVE_INFINITY;
  #missed = 0;

  /** True while webhooks report job ends reliably: polling is then only a fallback. */
  get healthy(): boolean {
    return this.#missed < MAX_MISSED_COMPLETIONS && performance.now() - this.#receivedAt < HEALTHY_FOR_MS;
  }

  /** Records that a webhook reported the end of a job. */
  received(): void {
    this.#receivedAt = performance.now();
    this.#missed = 0;
  }

  /** Records that a poll found the end of a job before a webhook did. */
  missedCompletion(): void {
    this.#missed++;
  }
}
