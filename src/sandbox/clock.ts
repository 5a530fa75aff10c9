/** How the sandbox's time runs: with the machine's, faster, or only when told. */
export type ClockMode = 'real' | 'manual' | { readonly speed: number };

/** Time of a sandbox, and work that is due at a time. Milliseconds since 1970. */
export interface Clock {
  now(): number;
  /** Runs `work` when the time has come. Returns what calls it off. */
  at(time: number, work: () => void): () => void;
  /** Runs what is due by now; called before each request, so that no timer needs to be exact. */
  settle(): void;
  /** Moves a manual clock forward; everything due on the way runs in order, at its own time. */
  advance(ms: number): void;
  /** Drops all work. */
  stop(): void;
}

interface Due {
  readonly time: number;
  readonly order: number;
  readonly work: () => void;
}

/** A clock that starts at the machine's time, or at `start`. */
export function createClock(mode: ClockMode, start = Date.now()): Clock {
  const due = new Set<Due>();
  const began = performance.now();
  const speed = typeof mode === 'object' ? mode.speed : 1;
  let manual = start;
  let order = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const now = (): number => (mode === 'manual' ? manual : start + (performance.now() - began) * speed);

  function first(): Due | undefined {
    let found: Due | undefined;
    for (const one of due) {
      if (!found || one.time < found.time || (one.time === found.time && one.order < found.order)) found = one;
    }
    return found;
  }

  function runUntil(time: number): void {
    for (let next = first(); next && next.time <= time; next = first()) {
      due.delete(next);
      if (mode === 'manual') manual = Math.max(manual, next.time);
      next.work();
    }
  }

  /** One timer for the earliest work; it does not keep the process alive. */
  function arm(): void {
    clearTimeout(timer);
    const next = mode === 'manual' ? undefined : first();
    if (!next) return;
    timer = setTimeout(settle, Math.min(Math.max(0, (next.time - now()) / speed), 2 ** 31 - 1));
    if (typeof timer === 'object' && 'unref' in timer) timer.unref();
  }

  function settle(): void {
    runUntil(now());
    arm();
  }

  return {
    now,
    settle,
    at(time, work) {
      const entry: Due = { time, order: order++, work };
      due.add(entry);
      arm();
      return () => {
        due.delete(entry);
      };
    },
    advance(ms) {
      if (mode !== 'manual') throw new Error('`advance` needs a sandbox with `clock: "manual"`.');
      const target = manual + ms;
      runUntil(target);
      manual = target;
    },
    stop() {
      due.clear();
      clearTimeout(timer);
    },
  };
}

/** The service's timestamps inside resources: `Y-m-d H:i:s`, UTC. */
export function wireTime(time: number): string {
  return new Date(time).toISOString().slice(0, 19).replace('T', ' ');
}
