/** Time between two signs of life. Milliseconds. */
const HEARTBEAT_MS = 500;
/** Work without a sign of life for this long counts as abandoned. Milliseconds. */
export const SILENCE_MS = 1_500;

/** Signs of life of work that others wait for: a Worker drops the work and the timers of a request that has ended. */
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
