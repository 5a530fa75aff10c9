/**
 * Remembers which events are being processed and which are done. `claim`, `complete` and `release` must be atomic.
 * Completed events must be remembered for longer than the sender retries: 8.5 hours (specification, "Delivery").
 */
export interface DedupeStore {
  /**
   * Claims an event for `leaseMs`. Resolves with `busy` if the event is claimed already, and with `done` if it was
   * completed. A claim that is neither completed nor released within `leaseMs` ends, because its process may have died.
   */
  claim(
    id: string,
    leaseMs: number,
  ): Promise<
    | {
        /** Names this claim, for `complete` and `release`. */
        readonly lease: string;
      }
    | 'busy'
    | 'done'
  >;
  /** Marks an event as done. Does nothing if the event has been claimed again since. */
  complete(id: string, lease: string): Promise<void>;
  /** Ends a claim after a failure, so that the next delivery can claim the event. Does nothing for an older claim. */
  release(id: string, lease: string): Promise<void>;
}

/** Options of {@link memoryDedupe}. */
export interface MemoryDedupeOptions {
  /** How long completed events are remembered, in milliseconds. @default 86400000 ms (24 hours) */
  readonly window?: number | undefined;
  /** Maximum number of events. If there are more, the store removes the oldest completed events. @default 100000 events */
  readonly max?: number | undefined;
}

const DAY_MS = 86_400_000;

interface Entry {
  /** The current claim; absent when the event is done. */
  readonly lease?: string;
  readonly until: number;
}

/**
 * Creates a dedupe store in memory. Several processes need a shared store instead.
 *
 * @param options Bounds of what it remembers.
 */
export function memoryDedupe({ window = DAY_MS, max = 100_000 }: MemoryDedupeOptions = {}): DedupeStore {
  const entries = new Map<string, Entry>();
  let leases = 0;
  const set = (id: string, entry: Entry): void => {
    // A map iterates in order of insertion: insert an updated entry again, so that the oldest comes first.
    entries.delete(id);
    entries.set(id, entry);
    const now = performance.now();
    for (const [oldest, { lease, until }] of entries) {
      if (until > now && entries.size <= max) break;
      // Never remove a live claim: its event could be processed twice.
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
