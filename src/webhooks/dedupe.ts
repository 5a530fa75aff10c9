/**
 * Stores which events are in progress and which are done. `claim`, `complete` and `release` must be atomic. The store
 * must keep completed events for longer than the sender retries: 8.5 hours (specification, "Delivery").
 */
export interface DedupeStore {
  /**
   * Claims an event for `leaseMs` milliseconds. Resolves with `busy` if another claim has the event, and with `done` if
   * the event was completed. A claim that is neither completed nor released within `leaseMs` ends, because its process
   * may have died.
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
  /** Marks an event as done. Does nothing if a later claim has the event. */
  complete(id: string, lease: string): Promise<void>;
  /**
   * Ends a claim after a failure, so that the next delivery can claim the event. Does nothing if a later claim has the
   * event.
   */
  release(id: string, lease: string): Promise<void>;
}

/** Options of {@link memoryDedupe}. */
export interface MemoryDedupeOptions {
  /** How long the store keeps completed events, in milliseconds. @default 86400000 ms (24 hours) */
  readonly window?: number | undefined;
  /** Maximum number of events. If there are more, the store removes the oldest completed events. @default 100000 events */
  readonly max?: number | undefined;
}

const DAY_MS = 86_400_000;

interface Entry {
  /** The current claim. Absent when the event is done. */
  readonly lease?: string;
  readonly until: number;
}

/**
 * Creates a dedupe store in memory. Several processes need a shared store instead.
 *
 * @param options Limits of the stored events.
 */
export function memoryDedupe({ window = DAY_MS, max = 100_000 }: MemoryDedupeOptions = {}): DedupeStore {
  const entries = new Map<string, Entry>();
  let leases = 0;
  const set = (id: string, entry: Entry): void => {
    // A map iterates in order of insertion: insert an updated entry again, so that the oldest entry stays first.
    entries.delete(id);
    entries.set(id, entry);
    const now = performance.now();
    for (const [oldest, { lease, until }] of entries) {
      if (until > now && entries.size <= max) break;
      // Never remove a claim that has not expired: a second delivery would process its event again.
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
