/** The longest delay `setTimeout` can hold; a longer one would fire at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

/**
 * Runs `work` after `ms`; `Infinity` never comes. Returns what stops it. It goes in steps: time that the
 * process sleeps through counts as one of them at most.
 */
export function startTimer(ms: number, work: () => void, longestStep = LONGEST_TIMER): () => void {
  let handle: ReturnType<typeof setTimeout> | undefined;
  const arm = (left: number): void => {
    const step = Math.min(left, longestStep);
    handle = setTimeout(() => (left > step ? arm(left - step) : work()), Math.max(0, step));
  };
  if (ms !== Number.POSITIVE_INFINITY) arm(ms);
  return () => clearTimeout(handle);
}

/** What can be given up: a signal of the platform, or a scope, which costs less to watch. */
export type Abortable = AbortSignal | SignalScope;

const watchers = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls `work` once when the signal aborts; returns what calls it off. However many watch, the signal
 * has one listener: a thousand of them would slow each other down.
 */
export function onAbort(signal: Abortable, work: () => void): () => void {
  if (signal instanceof SignalScope) return signal.watch(work);
  const known = watchers.get(signal);
  const watching = known ?? new Set();
  watching.add(work);
  if (!known) {
    watchers.set(signal, watching);
    signal.addEventListener('abort', notify);
  }
  return () => {
    if (!watching.delete(work) || watching.size > 0) return;
    watchers.delete(signal);
    signal.removeEventListener('abort', notify);
  };
}

function notify(this: AbortSignal): void {
  const watching = watchers.get(this);
  watchers.delete(this);
  this.removeEventListener('abort', notify);
  for (const work of watching ?? []) work();
}

/** Settles as `promise` does, or rejects with the signal's reason as soon as it aborts. */
export function abortable<T>(promise: Promise<T>, signal: Abortable | undefined): Promise<T> {
  if (!signal) return promise;
  if (signal.aborted) {
    promise.catch(() => {});
    return Promise.reject(signal.reason);
  }
  return new Promise<T>((resolve, reject) => {
    const off = onAbort(signal, () => reject(signal.reason));
    promise.then(
      (value) => {
        off();
        resolve(value);
      },
      (error) => {
        off();
        reject(error);
      },
    );
  });
}

/** Resolves after `ms`, or rejects with the signal's reason; leaves no timer behind. */
export async function sleep(ms: number, signal: Abortable | undefined): Promise<void> {
  let stop = (): void => {};
  try {
    await abortable(
      new Promise<void>((resolve) => {
        if (!signal?.aborted) stop = startTimer(ms, resolve);
      }),
      signal,
    );
  } finally {
    stop();
  }
}

/** What a scope follows, and when it ends by itself. */
export interface ScopeOptions {
  readonly parent?: Abortable | undefined;
  /** Aborts by itself after so many milliseconds. @default Infinity */
  readonly ms?: number;
  /** The reason of an end by itself. */
  readonly reason?: () => unknown;
  /** See {@link startTimer}. */
  readonly longestStep?: number | undefined;
}

/** An abort signal with a limited life: `dispose` removes its listeners and timers. */
export class SignalScope {
  readonly #watchers = new Set<() => void>();
  readonly #stopTimer: (() => void) | undefined;
  readonly #leave: (() => void) | undefined;
  #controller: AbortController | undefined;
  #aborted = false;
  #reason: unknown;

  /** A scope that follows its parent and aborts by itself, with `reason()`, after `ms` in steps of the given length. */
  constructor({ parent, ms = Number.POSITIVE_INFINITY, reason, longestStep }: ScopeOptions) {
    if (parent?.aborted) this.abort(parent.reason);
    else if (ms <= 0) this.abort(reason?.());
    else if (parent) this.#leave = onAbort(parent, () => this.abort(parent.reason));
    if (!this.#aborted && ms < Number.POSITIVE_INFINITY) {
      this.#stopTimer = startTimer(ms, () => this.abort(reason?.()), longestStep);
    }
  }

  get aborted(): boolean {
    return this.#aborted;
  }

  get reason(): unknown {
    return this.#reason;
  }

  /** The same for the platform; made when it is asked for, because most of a call does without. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#aborted) this.#controller.abort(this.#reason);
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    if (this.#aborted) return;
    this.#aborted = true;
    // As the platform does where no reason is given.
    this.#reason = reason === undefined ? new DOMException('This operation was aborted', 'AbortError') : reason;
    this.#controller?.abort(this.#reason);
    for (const work of this.#watchers) work();
    this.#watchers.clear();
  }

  /** Calls `work` once when it aborts; returns what calls it off. */
  watch(work: () => void): () => void {
    this.#watchers.add(work);
    return () => this.#watchers.delete(work);
  }

  throwIfAborted(): void {
    if (this.#aborted) throw this.#reason;
  }

  dispose(): void {
    this.#stopTimer?.();
    this.#leave?.();
  }
}
