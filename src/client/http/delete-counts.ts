/** Delete requests of one operation. */
export interface DeleteCount {
  /** Number of requests sent. */
  sent: number;
  /** Number of them that have ended. */
  ended: number;
}

/** Delete requests of a client, by operation: they move the rows of lists that are being read. */
export class DeleteCounts {
  readonly #counts = new Map<string, DeleteCount>();

  /** Returns the count of an operation; it changes with each request. */
  of(operation: string): DeleteCount {
    const count = this.#counts.get(operation) ?? { sent: 0, ended: 0 };
    this.#counts.set(operation, count);
    return count;
  }
}
