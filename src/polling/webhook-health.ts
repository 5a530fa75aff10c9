/** So many ends in a row that no event told of mean that events have stopped. */
const MISSED = 2;
/** Events are not counted on for longer than this after the last one. Milliseconds. */
const MEMORY = 3_600_000;

/** Whether webhook events can be counted on to tell of ends. */
export class EventTrust {
  #heardAt = Number.NEGATIVE_INFINITY;
  #missed = 0;

  /** As long as events flow, looks are a fallback only. */
  get flowing(): boolean {
    return this.#missed < MISSED && performance.now() - this.#heardAt < MEMORY;
  }

  /** An event has come. */
  heard(): void {
    this.#heardAt = performance.now();
    this.#missed = 0;
  }

  /** A look has found an end that no event told of. */
  missed(): void {
    this.#missed++;
  }
}
