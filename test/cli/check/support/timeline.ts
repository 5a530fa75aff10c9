import type { Sandbox } from '../../../../src/sandbox/index.ts';

interface Sleeper {
  readonly due: number;
  wake(): void;
}

/** Turns of the event loop in which a caller may react to a response before time passes. */
const TURNS = 8;

/**
 * Virtual time of a service and its caller: it passes only while no request is being handled, and then jumps to the
 * next moment that somebody waits for. A timeout that races with a request is thus won by the request, unless the
 * service itself holds it back.
 */
export class Timeline {
  readonly #sandbox: Sandbox;
  readonly #sleepers = new Set<Sleeper>();
  #busy = 0;
  #isRunning = false;

  constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox;
  }

  /** The clock to pass to whoever is tested. */
  readonly clock = {
    now: (): number => this.#sandbox.now(),
    sleep: (ms: number, signal?: AbortSignal): Promise<void> => this.#sleep(ms, signal),
  };

  /** Handles a request, during which time stands still. */
  async handle<T>(work: () => Promise<T>): Promise<T> {
    this.#busy++;
    try {
      return await work();
    } finally {
      this.#busy--;
      this.#run();
    }
  }

  /** Holds a request that is being handled back; rejects when its caller aborts it. */
  async hold(ms: number, signal: AbortSignal): Promise<void> {
    this.#busy--;
    try {
      await this.#sleep(ms, signal);
    } finally {
      this.#busy++;
    }
  }

  #sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const onAbort = (): void => {
        this.#sleepers.delete(sleeper);
        reject(signal?.reason);
      };
      const sleeper: Sleeper = {
        due: this.#sandbox.now() + ms,
        wake() {
          signal?.removeEventListener('abort', onAbort);
          resolve();
        },
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#sleepers.add(sleeper);
      this.#run();
      return undefined;
    });
  }

  #run(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    void this.#advance().finally(() => {
      this.#isRunning = false;
      if (this.#busy === 0 && this.#sleepers.size > 0) this.#run();
    });
  }

  async #advance(): Promise<void> {
    for (let index = 0; index < TURNS; index++) await new Promise((resolve) => setImmediate(resolve));
    if (this.#busy > 0) return;
    const next = [...this.#sleepers].sort((a, b) => a.due - b.due)[0];
    if (!next) return;
    this.#sleepers.delete(next);
    await this.#sandbox.advance(Math.max(0, next.due - this.#sandbox.now()));
    next.wake();
  }
}
