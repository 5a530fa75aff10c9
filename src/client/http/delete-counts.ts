/** Delete requests of one operation. */
export interface DeleteCount {
  /** Number of requests sent. */
  sent: number;
  /** Number of requests that have ended. */
  ended: number;
}

/**
 * Counts the delete requests of a client by operation, because each one moves the rows of a list that the client is
 * reading.
 */
export class DeleteCounts {
  readonly #counts = new Map<string, DeleteCount>();

  /** Returns the count of an operation, which is updated with each request. */
  of(operation: string): DeleteCount {
    const count = this.#counts.get(operation) ?? { sent: 0, ended: 0 };
    this.#counts.set(operation, count);
    return count;
  }
}
