/**
 * Stores which events are in progress and which are done. `claim`, `complete` and `release` must be atomic. The store
 * must keep completed events for longer than the sender retries: 8.5 hours (specification, "Delivery").
 */
export interface DedupeStore {
  /**
   * Claims an event for `leaseMs` milliseconds. Resolves with `busy` if there is another claim of the event, and with
   * `done` if the event is done. A claim ends after `leaseMs`, because its process may have died.
   */
  claim(
    id: string,
    leaseMs: number,
  ): Promise<
    | {
        /** Id of this claim, for `complete` and `release`. */
        readonly lease: string;
      }
    | 'busy'
    | 'done'
  >;
  /** Marks an event as done. Does nothing if there is a later claim of the event. */
  complete(id: string, lease: string): Promise<void>;
  /**
   * Ends a claim after a failure, so that the next delivery can claim the event. Does nothing if there is a later claim
   * of the event.
   */
  release(id: string, lease: string): Promise<void>;
}

/** Options of {@link memoryDedupe}. */
export interface MemoryDedupeOptions {
  /** Milliseconds for which the store keeps completed events. @default 86400000 ms (24 hours) */
  readonly window?: number | undefined;
  /**
   * Maximum number of events. Above this number, the store removes the oldest completed events.
   * @default 100000 events
   */
  readonly max?: number | undefined;
}

const DAY_MS = 86_400_000;

interface Entry {
  /** Id of the current claim. Not set if the event is done. */
  readonly lease?: string;
  readonly until: number;
}

/**
 * Creates a dedupe store in memory. For several processes, use a shared store, such as `redisDedupe`.
 *
 * @param options Limits of the stored events.
 */
export function memoryDedupe({ window = DAY_MS, max = 100_000 }: MemoryDedupeOptions = {}): DedupeStore {
  const entries = new Map<string, Entry>();
  let leases = 0;
  const set = (id: string, entry: Entry): void => {
    // Insert an updated entry again: a map iterates in the order of insertion, and the oldest entry must be first.
    entries.delete(id);
    entries.set(id, entry);
    const now = performance.now();
    for (const [oldest, { lease, until }] of entries) {
      if (until > now && entries.size <= max) break;
      // Never remove a current claim: a second delivery could then handle the event again.
      if (until <= now || lease === undefined) entries.delete(oldest);
    }
  };
  const isHeldBy = (id: string, lease: string): boolean => entries.get(id)?.lease === lease;
  return {
    async claim(id, leaseMs) {
      const now = performance.now();
      const existing = entries.get(id);
      if (existing && existing.until > now) return existing.lease === undefined ? 'done' : 'busy';
      const lease = String(++leases);
      set(id, { lease, until: now + leaseMs });
      return { lease };
    },
    async complete(id, lease) {
      if (isHeldBy(id, lease)) set(id, { until: performance.now() + window });
    },
    async release(id, lease) {
      if (isHeldBy(id, lease)) entries.delete(id);
    },
  };
}
