/**
 * Remembers which events are being worked on, and which are done. Claims, completions and releases have
 * to be atomic. What is done is remembered for longer than the sender repeats it (8.5 hours, "Delivery").
 */
export interface DedupeStore {
  /**
   * Takes an event for `leaseMs`: afterwards, unless it was completed or released, another may take it,
   * because whoever did has died. `busy`: another has it; `done`: it was completed.
   */
  claim(id: string, leaseMs: number): Promise<{ readonly lease: string } | 'busy' | 'done'>;
  /** The work is done. Does nothing where the lease is no longer the event's. */
  complete(id: string, lease: string): Promise<void>;
  /** The work has failed: the next delivery may try. Does nothing where the lease is no longer the event's. */
  release(id: string, lease: string): Promise<void>;
}

/** Options of {@link memoryDedupe}. */
export interface MemoryDedupeOptions {
  /** How long what is done is remembered. Milliseconds. @default 86400000 (24 hours) */
  readonly window?: number | undefined;
  /** Events remembered at most; the oldest are forgotten first. @default 100000 */
  readonly max?: number | undefined;
}

const DAY = 86_400_000;

interface Entry {
  /** None once it is done. */
  readonly lease?: string;
  readonly until: number;
}

/** A store for one process. Several processes need one that they share. */
export function memoryDedupe({ window = DAY, max = 100_000 }: MemoryDedupeOptions = {}): DedupeStore {
  const entries = new Map<string, Entry>();
  let leases = 0;
  const set = (id: string, entry: Entry): void => {
    // Set anew, an event is the youngest.
    entries.delete(id);
    entries.set(id, entry);
    const now = performance.now();
    for (const [old, { lease, until }] of entries) {
      if (until > now && entries.size <= max) break;
      // What is under way is never forgotten.
      if (until <= now || lease === undefined) entries.delete(old);
    }
  };
  const holds = (id: string, lease: string): boolean => entries.get(id)?.lease === lease;
  return {
    async claim(id, leaseMs) {
      const now = performance.now();
      const known = entries.get(id);
      if (known && known.until > now) return known.lease === undefined ? 'done' : 'busy';
      const lease = String(++leases);
      set(id, { lease, until: now + leaseMs });
      return { lease };
    },
    async complete(id, lease) {
      if (holds(id, lease)) set(id, { until: performance.now() + window });
    },
    async release(id, lease) {
      if (holds(id, lease)) entries.delete(id);
    },
  };
}
