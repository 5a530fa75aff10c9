/** Milliseconds between two heartbeats. */
const HEARTBEAT_MS = 500;
/** Milliseconds without a heartbeat after which work counts as abandoned. */
export const SILENCE_MS = 1_500;

/**
 * Heartbeat of work for which other requests wait. When a request of a Worker ends, the runtime drops its work and its
 * timers.
 */
export class Heartbeat {
  #aliveAt = performance.now();
  readonly #timer = setInterval(() => {
    this.#aliveAt = performance.now();
  }, HEARTBEAT_MS);

  get isSilent(): boolean {
    return performance.now() - this.#aliveAt > SILENCE_MS;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
